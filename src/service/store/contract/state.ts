// The check of everything that is stored beside the records against the service's seal.

/** Something that is not as the service left it. */
export interface StateDifference {
  /** `records` for the end of the chain. */
  readonly table: string;
  /** The key of the row as JSON, or the number of a record; null where it cannot be told. */
  readonly row: string | null;
  /** One sentence in lower case without a final period. */
  readonly message: string;
}

export interface StateCheck {
  /** Leaves out what takes long: indices, and the rows of tables that may be large. */
  readonly isQuick: boolean;
  /** Hears how many rows have been read. */
  readonly onProgress?: ((rowCount: number) => void) | undefined;
}

export interface StateStore {
  /** What is not as the service left it, in one snapshot; empty where all is. */
  differences(check: StateCheck): Promise<readonly StateDifference[]>;
  /** Takes what is stored now for what it should be, and records who did that and what differed. */
  accept(acceptance: StateAcceptance): Promise<void>;
}

export interface StateAcceptance {
  readonly atMs: number;
  readonly differences: readonly StateDifference[];
}

/** What a person calls the thing that differs. */
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
    case 'documents':
      return `${first} \`${second}\``;
    default:
      return `row ${key.map((part) => `\`${part}\``).join(', ')} of \`${table}\``;
  }
}
