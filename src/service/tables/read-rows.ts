// The pushed rows that a decision reads, looked up in the store before it is made: it is tried until it asks for no row that
// has not been looked up. INVARIANT: each row that was read is among `seen`, so a grant is stored only while all are as they were.

import type { PolicyEngine } from '../../language/model/active-policies.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { Facts, PushedRows } from '../../language/model/request.ts';
import type { DocumentStore } from '../store/contract/documents.ts';
import type { SeenDocument } from '../store/contract/grant-basis.ts';
import { rowId, rowNow, type SeenRow } from './table-rows.ts';

export interface RowsRead {
  readonly rows: PushedRows;
  readonly seen: readonly SeenDocument[];
}

/** Of more rows than this one decision knows nothing. */
const rowsReadMax = 256;

type Engine = Pick<PolicyEngine, 'readsPushed' | 'decideTraced' | 'decideRecorded'>;

/** Null, at once, where no rule of the action reads a row that is pushed. `by` decides as the decision to come will. */
export function readPushedRows(
  documents: DocumentStore,
  engine: Engine,
  { facts, by }: { readonly facts: Facts; readonly by: 'decideTraced' | 'decideRecorded' },
): Promise<RowsRead> | null {
  return engine.readsPushed(facts.action) ? readAll(documents, engine[by], facts) : null;
}

async function readAll(
  documents: DocumentStore,
  decide: Engine['decideTraced'],
  facts: Facts,
): Promise<RowsRead> {
  const found: { readonly table: string; readonly key: string; readonly now: SeenRow }[] = [];
  for (;;) {
    const wanted = new Map<string, readonly [table: string, key: string]>();
    const rows = rowsOf(found.map(({ table, key, now }) => [table, key, now.row]));
    const onRowUnknown = (table: string, key: string) => wanted.set(rowId(table, key), [table, key]);
    decide({ ...facts, rows, onRowUnknown });
    const next = [...wanted.values()].slice(0, rowsReadMax - found.length);
    if (next.length === 0) return { rows, seen: found.map(({ now }) => now.seen) };
    const looked = next.map(async ([table, key]) => ({
      table,
      key,
      now: await rowNow(documents, table, key),
    }));
    found.push(...(await Promise.all(looked)));
  }
}

/** Made from entries, so that a key such as `__proto__` is a key. */
function rowsOf(
  found: readonly (readonly [table: string, key: string, row: JsonObject | null])[],
): PushedRows {
  const given = [...Map.groupBy(found, ([table]) => table)].map(([table, rows]) => [
    table,
    Object.fromEntries(rows.map(([, key, row]) => [key, row])),
  ]);
  return { given: Object.fromEntries(given), areAll: false };
}
