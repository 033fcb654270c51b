// Keeps meters up while the service runs: notes new meters in the store as soon as a policy set becomes
// active, fills in missing pasts, and forgets entries that no reading counts any more.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import { type Metering, metered } from './metering.ts';

export interface MeterUpkeep {
  /** Call when a policy set has become active. Resolves when its meters are filled as far as they can be. */
  take(): Promise<void>;
  close(): Promise<void>;
}

export interface MeterUpkeepOptions {
  readonly metering: Metering;
  readonly policies: () => ActivePolicies;
  readonly everyMs?: number;
  /** Called with what failed; the next round tries again. */
  readonly onFailure: (error: unknown) => void;
}

const defaultEveryMs = 60_000;

export function startMeterUpkeep({
  metering,
  policies,
  everyMs = defaultEveryMs,
  onFailure,
}: MeterUpkeepOptions): MeterUpkeep {
  const take = async (): Promise<void> => {
    try {
      await metered(metering, policies);
      await metering.settled();
    } catch (error) {
      onFailure(error);
    }
  };
  let underWay: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    underWay = underWay
      .then(take)
      .then(() => metering.tidy(policies()))
      .catch(onFailure);
  }, everyMs);
  timer.unref();
  return {
    take,
    async close() {
      clearInterval(timer);
      await metering.close();
      await underWay;
    },
  };
}
