// Which tables a seal covers: all except those of the chain, whose records carry hashes, the tree of these
// hashes, and those of the seal itself.

import type { Database } from 'better-sqlite3';

export interface SealedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Positions of the columns of the primary key. */
  readonly keyAt: readonly number[];
  /** Whether the tag of each row is stored beside the sum of the table. */
  readonly hasTags: boolean;
  /** Whether a quick check reads its rows however many they are. */
  readonly isAlwaysChecked: boolean;
}

const ofRecordsAndSeal: readonly string[] = [
  'requests',
  'refusals',
  'changes',
  'request_events',
  'row_seals',
  'state_seal',
];

/** The hashes of records, which `writ audit verify` compares with the records. */
const treeTable = 'tree_tiles';

/**
 * By these tables the service decides who may do what. They have few rows, so the tag of each is stored and a
 * changed row can be named.
 */
const tagged: readonly string[] = ['agents', 'keys', 'settings', 'documents'];

/** What says which events a request has while it may still be granted: as many rows as such requests. */
const heads: readonly string[] = ['request_heads', 'heads_mark'];

/** Returns the sealed tables, those with tags first. */
export function sealedTables(database: Database): readonly SealedTable[] {
  return tablesBesideRecords(database).filter(({ name }) => name !== treeTable);
}

/** Returns the sealed tables and that of the hash tree. */
export function tablesBesideRecords(database: Database): readonly SealedTable[] {
  const names = database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY name`,
    )
    .pluck()
    .all()
    .filter((name) => !ofRecordsAndSeal.includes(name));
  const ordered = [
    ...tagged.filter((name) => names.includes(name)),
    ...names.filter((n) => !tagged.includes(n)),
  ];
  return ordered.map((name) => {
    const columns = database
      .prepare<[string], { name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?)')
      .all(name);
    return {
      name,
      columns: columns.map((column) => column.name),
      keyAt: columns.flatMap(({ pk }, at) => (pk > 0 ? [at] : [])),
      hasTags: tagged.includes(name),
      isAlwaysChecked: tagged.includes(name) || heads.includes(name),
    };
  });
}

/**
 * Returns the key of a row as JSON, by which `row_seals` names the row. Tables with tags have texts for keys.
 */
export function rowKeyOf({ keyAt }: SealedTable, values: readonly unknown[]): string {
  return JSON.stringify(keyAt.map((at) => String(values[at])));
}

/** Returns a name in quotation marks, as SQL writes it. */
export function quotedColumn(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
