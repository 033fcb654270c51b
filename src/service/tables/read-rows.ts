// Looks up the pushed rows that a decision reads, before the decision is made. The decision is tried until it
// reads no row that has not been looked up. INVARIANT: every row that was read is among `seen`, so a grant is
// stored only while all these rows are unchanged.

import type { PolicyEngine } from '../../language/model/active-policies.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { Facts, PushedRows } from '../../language/model/request.ts';
import type { DocumentStore } from '../store/contract/documents.ts';
import type { DocumentVersion } from '../store/contract/grant-precondition.ts';
import { rowId, rowNow, type VersionedRow } from './table-rows.ts';

export interface RowsRead {
  readonly rows: PushedRows;
  readonly seen: readonly DocumentVersion[];
}

/** How many rows one decision may read; what further rows hold is unknown to the decision. */
const rowsReadMax = 256;

type Engine = Pick<PolicyEngine, 'readsPushed' | 'decideTraced' | 'decideRecorded'>;

/**
 * Reads the rows for a decision. Returns null at once when no rule of the action reads a pushed row. `by`
 * names the function that the later decision uses.
 */
export function readPushedRows(
  documents: DocumentStore,
  engine: Engine,
  { facts, by }: { readonly facts: Facts; readonly by: 'decideTraced' | 'decideRecorded' },
): Promise<RowsRead> | null {
  return engine.readsPushed(facts.action) ? readAll(documents, engine[by], facts) : null;
}

/** The facts with the rows that were read; null leaves them as they are. */
export function withRows(facts: Facts, rows: RowsRead | null): Facts {
  return rows === null ? facts : { ...facts, rows: rows.rows };
}

async function readAll(
  documents: DocumentStore,
  decide: Engine['decideTraced'],
  facts: Facts,
): Promise<RowsRead> {
  const readRows: { readonly table: string; readonly key: string; readonly now: VersionedRow }[] = [];
  for (;;) {
    const wanted = new Map<string, readonly [table: string, key: string]>();
    const rows = rowsOf(readRows.map(({ table, key, now }) => [table, key, now.row]));
    const onRowUnknown = (table: string, key: string) => wanted.set(rowId(table, key), [table, key]);
    decide({ ...facts, rows, onRowUnknown });
    const next = [...wanted.values()].slice(0, rowsReadMax - readRows.length);
    if (next.length === 0) return { rows, seen: readRows.map(({ now }) => now.version) };
    const looked = next.map(async ([table, key]) => ({
      table,
      key,
      now: await rowNow(documents, table, key),
    }));
    readRows.push(...(await Promise.all(looked)));
  }
}

/** Built from entries, so that a key such as `__proto__` is an ordinary key. */
function rowsOf(
  readRows: readonly (readonly [table: string, key: string, row: JsonObject | null])[],
): PushedRows {
  const byTable = [...Map.groupBy(readRows, ([table]) => table)].map(([table, rows]) => [
    table,
    Object.fromEntries(rows.map(([, key, row]) => [key, row])),
  ]);
  return { given: Object.fromEntries(byTable), areAll: false };
}
