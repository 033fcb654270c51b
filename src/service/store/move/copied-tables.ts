// The tables beside the records, as they lie in a file and in PostgreSQL: what the one has and the other has not.

import { StoreError } from '../contract/store-error.ts';

export interface CopiedTable {
  readonly name: string;
  /** Columns of the file that the database does not have. */
  readonly left: readonly string[];
  /** Columns of the database that the file does not have, as SQL. */
  readonly added: Readonly<Record<string, string>>;
  /** It may be large: its rows change while the copy goes on, and most of them do not. */
  readonly isLarge: boolean;
}

/** All that a file has recorded and counted is the past of the first replica. */
const slot = '0::int2';

/** In an order in which each row has what it refers to. */
const tables: readonly (Partial<CopiedTable> & Pick<CopiedTable, 'name'>)[] = [
  { name: 'agents' },
  { name: 'keys' },
  { name: 'settings' },
  { name: 'documents' },
  { name: 'document_kinds' },
  { name: 'checkpoints' },
  // They were accepted elsewhere, and are good nowhere.
  { name: 'nonces', added: { owner: "'copied'" } },
  { name: 'plants' },
  { name: 'meters' },
  { name: 'meter_entries', added: { written: "'0'::xid8" }, isLarge: true },
  { name: 'statistics', added: { slot } },
  { name: 'rule_hits' },
  { name: 'shadow_changes' },
  { name: 'statistics_mark', left: ['id'], added: { slot } },
];

/** Throws StoreError where the file has a table that is not known here: nothing is left behind unseen. */
export function copiedTables(names: readonly string[]): readonly CopiedTable[] {
  const known = new Set(tables.map(({ name }) => name));
  const strange = names.find((name) => !known.has(name));
  if (strange !== undefined)
    throw new StoreError('internal', `no way is known to copy the table \`${strange}\``);
  return tables.map((table) => ({ left: [], added: {}, isLarge: false, ...table }));
}

/** The rows of requests that were made within about a minute; ids rise with time. */
export const bucketDigits = 8;
