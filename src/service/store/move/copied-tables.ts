// The tables beside the records, and how their columns differ between an SQLite file and PostgreSQL.

import { StoreError } from '../contract/store-error.ts';

export interface CopiedTable {
  readonly name: string;
  /** Columns of the file that the database lacks. */
  readonly left: readonly string[];
  /** Columns of the database that the file lacks, each with the SQL of its value. */
  readonly added: Readonly<Record<string, string>>;
  /** Whether the table may be large. Its rows may change while the copy goes on, but most do not. */
  readonly isLarge: boolean;
}

/** The slot of everything that the file has recorded and counted: the past of the first replica. */
const slot = '0::int2';

/** In an order in which every row comes after the rows that it refers to. */
const tables: readonly (Partial<CopiedTable> & Pick<CopiedTable, 'name'>)[] = [
  { name: 'agents' },
  { name: 'keys' },
  { name: 'settings' },
  { name: 'documents' },
  { name: 'document_kinds' },
  { name: 'checkpoints' },
  { name: 'tree_tiles' },
  // The nonces were accepted by another process, so no process may accept them again.
  { name: 'nonces', added: { owner: "'copied'" } },
  { name: 'plants' },
  { name: 'meters' },
  { name: 'meter_entries', added: { written: "'0'::xid8" }, isLarge: true },
  { name: 'statistics', added: { slot } },
  { name: 'rule_hits' },
  { name: 'shadow_changes' },
  { name: 'statistics_mark', left: ['id'], added: { slot } },
];

/**
 * Tables that a database does without: it has no such seal, and makes snapshots of meters again. `nonces` is a view of
 * `nonce_batches`.
 */
const leftTables: readonly string[] = ['request_heads', 'heads_mark', 'meter_snapshots', 'nonce_batches'];

/**
 * Returns the tables to copy. Throws StoreError when the file has a table that is not known here, so that no
 * table is left out unnoticed.
 */
export function copiedTables(names: readonly string[]): readonly CopiedTable[] {
  const tableNames = new Set(tables.map(({ name }) => name));
  const strange = names.find((name) => !tableNames.has(name) && !leftTables.includes(name));
  if (strange !== undefined) throw new StoreError('internal', `cannot copy the unknown table \`${strange}\``);
  return tables.map((table) => ({ left: [], added: {}, isLarge: false, ...table }));
}

/**
 * How many digits of a request id name a bucket of rows. Ids rise with time, so a bucket holds the requests
 * of about a minute.
 */
export const bucketDigits = 8;
