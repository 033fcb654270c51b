// Compares the statistics of all replicas with the chain. Each slot is taken up once more, so that whatever
// its last process counted and did not store is counted again. No record may be in two minutes or in none.

import { overviewRange, readOverview } from '../../../src/service/statistics/overview.ts';
import type { StoreLocation } from '../../../src/service/store/open.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { beginStatistics } from '../../service/statistics/world.ts';
import type { Verdict } from './judge.ts';

/** All minutes are over by this time. */
const laterMs = 5 * 60_000;

const names = [
  ['allow', 'ALLOW'],
  ['deny', 'DENY'],
  ['escalate', 'ESCALATE'],
  ['reauth', 'REAUTH_REQUIRED'],
] as const;

export interface Counted {
  readonly faults: readonly string[];
  /** Counts of all requests, by their decision and by what became of those that waited. */
  readonly counts: readonly number[];
}

/** Runs after all processes have stopped serving; `slotCount` of them served at the same time. */
export async function countStatistics(
  place: StoreLocation,
  slotCount: number,
  { outcomes, ended, fromMs, untilMs }: Verdict,
): Promise<Counted> {
  let counts: readonly number[] = [];
  const clock = () => Date.now() + laterMs;
  const faults: string[] = [];
  const stores = [];
  try {
    for (let slot = 0; slot < slotCount; slot += 1) {
      const store = await openStore(place);
      stores.push(store);
      await store.serve();
      const { statistics, failures } = await beginStatistics({ store }, clock);
      await statistics.caughtUp();
      await statistics.store();
      faults.push(...failures.map(String));
      if (slot + 1 === slotCount) {
        const range = overviewRange({ fromMs, untilMs }, { bucketsMax: 100, nowMs: clock() });
        const { buckets, escalations } = await readOverview(statistics, range);
        counts = [
          ...names.map(([name]) => buckets.reduce((sum, bucket) => sum + bucket[name], 0)),
          ...[escalations.approved, escalations.rejected, escalations.expired],
        ];
        const right = [
          ...names.map(([, outcome]) => outcomes.get(outcome) ?? 0),
          ...[ended.approved, ended.rejected, ended.expired],
        ];
        if (counts.join() !== right.join()) faults.push(`statistics say ${counts}, the records ${right}`);
      }
      await statistics.close();
    }
  } finally {
    for (const store of stores) await store.close();
  }
  return { faults, counts };
}
