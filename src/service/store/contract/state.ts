// The check of all rows that are stored beside the records, against the service's seal.

/** Something in the store that is not as the service left it. */
export interface StateDifference {
  /** The table; `records` for the end of the chain. */
  readonly table: string;
  /** The key of the row as JSON, or the number of a record; null when not known. */
  readonly row: string | null;
  /** One sentence in lower case without a final period. */
  readonly message: string;
}

export interface StateCheck {
  /** Leaves out what takes long: indexes, and the rows of tables that may be large. */
  readonly isQuick: boolean;
  /** Called with the number of rows read so far. */
  readonly onProgress?: ((rowCount: number) => void) | undefined;
}

export interface StateStore {
  /** Returns what is not as the service left it, read in one snapshot; empty when nothing differs. */
  differences(check: StateCheck): Promise<readonly StateDifference[]>;
  /** Accepts what is stored now as right, and records who did so and what differed. */
  accept(acceptance: StateAcceptance): Promise<void>;
}

export interface StateAcceptance {
  readonly atMs: number;
  readonly differences: readonly StateDifference[];
}

/** Returns the name by which people know the thing that differs. */
export function nameOfDifference({ table, row }: StateDifference): string {
  if (row === null) return `table \`${table}\``;
  if (table === 'records') return `record ${row}`;
  const key = row.startsWith('[') ? (JSON.parse(row) as readonly string[]) : [row];
  const [first = '', second = ''] = key;
  switch (table) {
    case 'agents':
    case 'keys':
    case 'settings':
      return `${table.slice(0, -1)} \`${first}\``;
    case 'requests':
      return `request \`${first}\``;
    case 'documents':
      return `${first} \`${second}\``;
    default:
      return `row ${key.map((part) => `\`${part}\``).join(', ')} of \`${table}\``;
  }
}
