// Uses standing approvals for a request that is being decided, as far as their counts allow. INVARIANT: reading a
// count and entering the use are one synchronous step, and the use is stored with the record of its request, so a
// standing approval is never used more often than it may be.

import { oneUse, standingMeter } from '../../../language/model/lasting-meters.ts';
import type { MeterUse } from '../../../language/model/metering.ts';
import type { RuleRequirement } from '../../../language/model/rule-requirement.ts';
import { compare, fromNumber, toNumber } from '../../../language/value/decimal.ts';
import { type FoundStanding, giversOf } from '../approvals/find-standing.ts';
import { hasStanding } from '../approvals/standing-approval.ts';
import type { Metering } from '../metering/metering.ts';
import type { StandingGiver } from '../record/record.ts';

/** A request that uses standing approvals. */
export interface StandingInUse {
  /** Ids of standing approvals by the rules that they satisfy. */
  readonly standing: Readonly<Record<string, string>>;
  readonly uses: readonly MeterUse[];
  /** Who gave them. */
  readonly givers: readonly StandingGiver[];
}

/** What each of the standing approvals counts in. */
export function standingPlaces(found: readonly FoundStanding[]): readonly MeterUse[] {
  return found.map(useOf);
}

/** One use, whose reading has the id of the standing approval as its name. */
function useOf({ id, rule }: Pick<FoundStanding, 'id' | 'rule'>): MeterUse {
  return oneUse(standingMeter(rule.rule, rule.standing), id, [id]);
}

/** Takes one standing approval for each rule: the first whose count allows another use. */
export function takeStanding(
  found: readonly FoundStanding[],
  metering: Pick<Metering, 'read'>,
  at: { readonly nowMs: number; readonly requestId: string },
): StandingInUse {
  const standing: Record<string, string> = {};
  const uses: MeterUse[] = [];
  const givers: StandingGiver[] = [];
  for (const one of found) {
    const { id, times, rule, sinceMs, untilMs } = one;
    const isOver = at.nowMs < sinceMs || at.nowMs >= untilMs;
    if (Object.hasOwn(standing, rule.rule) || isOver) continue;
    const use = useOf(one);
    const { high = null } = metering.read([use], at).known[id] ?? {};
    // The reading includes this use. A count that is not known allows none.
    if (high === null || (times !== null && compare(high, fromNumber(times)) > 0)) continue;
    standing[rule.rule] = id;
    uses.push({ ...use, names: [] });
    givers.push(...giversOf(one.origin.votes, rule.rule).map((person) => ({ rule: rule.rule, person })));
  }
  return { standing, uses, givers };
}

/** How many requests have used a standing approval for a rule; null when that is not known yet. */
export function usedOf(
  { metering, clock }: { readonly metering: Pick<Metering, 'read'>; readonly clock: () => number },
  id: string,
  rule: RuleRequirement | undefined,
): number | null {
  if (rule === undefined || rule.kind !== 'approval' || !hasStanding(rule)) return null;
  const use = useOf({ id, rule });
  const { high } = metering.read([use], { nowMs: Math.trunc(clock()), requestId: '' }).known[id] ?? {};
  // The reading includes one use more.
  return high === undefined ? null : toNumber(high) - 1;
}
