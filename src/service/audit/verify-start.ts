// Checks what a start rests on: the rows beside the records, every request that may still be granted, and the
// last records of the chain. INVARIANT: the cost does not grow with the records.

import { chainStart } from '../store/contract/chain.ts';
import { type ChainPosition, readLanes } from '../store/contract/lanes.ts';
import { nameOfDifference } from '../store/contract/state.ts';
import type { Store } from '../store/contract/store.ts';
import { type StoreError, tampered, tamperedRecord } from '../store/contract/store-error.ts';
import { verifyChain } from './verify.ts';

/** How many of the last records a start verifies. */
const lastRecords = 5_000;

/**
 * Returns an error that names the first thing that is not as the service left it; null when a start may rely on
 * the store. `shown` is the place of the store as people may see it. Rejects with a StoreError.
 */
export async function findChanged(store: Store, location: string): Promise<StoreError | null> {
  const [difference] = await store.state.differences({ isQuick: true });
  if (difference !== undefined) {
    const finding = `${nameOfDifference(difference)} in \`${location}\`: ${difference.message}`;
    return difference.table === 'requests' ? tamperedRecord(finding) : tampered(finding);
  }
  const after = await placeBeforeLast(store, lastRecords);
  const verification = await verifyChain(store, after === null ? {} : { after });
  if (verification.kind === 'whole') return null;
  const { sequence, name, message } = verification.break;
  return tamperedRecord(
    `record ${sequence}${name === null ? '' : ` (${name})`} in \`${location}\`: ${message}`,
  );
}

/**
 * The end of a record that has about `count` records after it; null when the chain is no longer than that. In
 * a chain of several lanes it is a knot, which names the end of each.
 */
async function placeBeforeLast({ chain, replicas }: Store, count: number): Promise<ChainPosition | null> {
  const { pruning, lastSequence } = await chain.segment(0, 0);
  const begin = (pruning ?? chainStart).sequence;
  for (let sequence = lastSequence - count; sequence > begin; sequence -= count) {
    const { records } = await chain.segment(sequence - 1, replicas === null ? 1 : count);
    const lastRecord = records.find(({ entry }) => replicas === null || entry.kind === 'knot');
    if (lastRecord === undefined) continue;
    const end = { sequence: lastRecord.entry.sequence, hash: lastRecord.hash };
    if (replicas === null) return end;
    const others = readLanes(JSON.parse(String(lastRecord.entry.ends_json))) ?? [];
    return { ...end, lanes: [{ lane: 0, ...end }, ...others] };
  }
  return null;
}
