// What a store holds of meters, as a start reads it.

import type { StoredMeterEntry } from '../../../src/service/store/contract/metering.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';

/** The entries of pending requests. */
export async function pendingEntries(
  { meters }: Pick<Store, 'meters'>,
  definition: string,
): Promise<readonly StoredMeterEntry[]> {
  const past = await meters.openPast();
  try {
    return await past.pending(definition);
  } finally {
    await past.close();
  }
}

/** The entries granted since a moment, in the order in which a start reads them. */
export async function grantedEntries(
  { meters }: Pick<Store, 'meters'>,
  definition: string,
  sinceMs = 0,
): Promise<readonly StoredMeterEntry[]> {
  const past = await meters.openPast();
  try {
    const all: StoredMeterEntry[] = [];
    for await (const entries of past.granted(definition, sinceMs)) all.push(...entries);
    return all;
  } finally {
    await past.close();
  }
}
