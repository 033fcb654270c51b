// Writes for the tests of guards, and the store's answer to each.

import type { GrantPrecondition } from '../../../src/service/store/contract/grant-precondition.ts';
import type { RequestRow } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { requestRow, startMs } from './rows.ts';

/** The meter that the requests spend from. */
export const spentPlace = { definition: 'spent', key: '"agent-1' };

export async function told(
  store: Store,
  row: RequestRow,
  precondition?: GrantPrecondition,
  openMax = 20,
): Promise<string> {
  try {
    return await store.requests.append(row, { openMax, precondition });
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** The store's answer to a change that has a record. */
export async function toldOfChange({ documents }: Store): Promise<string> {
  const change = { atMs: startMs, who: 'p', what: 'tried', subject: '', before: null, after: null };
  return await documents.write([], change).then(
    () => 'stored',
    (error) => String(error.code),
  );
}

/** Spends from the meter; returns how often the request was decided. */
export async function spend(store: Store, row = requestRow()): Promise<number> {
  let decided = 0;
  const entries = [{ ...spentPlace, isCertain: true, value: '1' }];
  await store.meters.spend([spentPlace], () => {
    decided += 1;
    return { row, limits: { openMax: 20 }, entries, revertMeters: () => undefined };
  });
  return decided;
}
