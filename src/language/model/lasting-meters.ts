// The uses of standing approvals and of delegations as meters. Each rule with a `standing` clause has one, and each
// place in a chain of delegations has one; a use is an entry of 1. INVARIANT: a use stays counted whatever becomes
// of its grant.

import { fromNumber } from '../value/decimal.ts';
import { lastingMeterPrefix } from '../value/lasting-meter.ts';
import type { PolicyEngine } from './active-policies.ts';
import { delegationDaysMax, linksMax } from './delegation.ts';
import type { MeterDefinition, MeterUse } from './metering.ts';
import type { StandingScope } from './policy.ts';
import type { MetRequirements } from './request.ts';
import type { RuleRequirement } from './rule-requirement.ts';

/** No standing approval lasts longer than the rule says, so its uses are all within that time. */
export function standingMeter(rule: string, { seconds }: StandingScope): MeterDefinition {
  const id = `${lastingMeterPrefix}${seconds}:${rule}`;
  return { id, aggregate: 'amounts', over: { kind: 'last', seconds } };
}

/**
 * The meters of delegations by their place in a chain: a request enters a meter once, and each link of its chain.
 * Sorted by id; every set has them, since delegations outlast sets. The day more allows for clocks that differ.
 */
export const delegationMeters: readonly MeterDefinition[] = Array.from({ length: linksMax }, (_, place) => ({
  id: `${lastingMeterPrefix}delegation:${place + 1}`,
  aggregate: 'amounts',
  over: { kind: 'last', seconds: (delegationDaysMax + 1) * 24 * 3_600 },
}));

export function isDelegationMeter({ id }: MeterDefinition): boolean {
  return delegationMeters.some((one) => one.id === id);
}

const once = { isCertain: true, value: fromNumber(1) } as const;

/** One use of what the key names; `names` are those under which the reading is wanted. */
export function oneUse(definition: MeterDefinition, key: string, names: readonly string[] = []): MeterUse {
  return { definition, key, contribution: once, names };
}

type RequirementByRule = ReadonlyMap<string, RuleRequirement>;
type Metered = Pick<PolicyEngine, 'meters' | 'entriesRecorded'>;

/**
 * Adds the meters of delegations and of rules with a `standing` clause to those of a set; `asks` is read when first
 * needed.
 */
export function withLastingMeters(engine: Metered, asks: () => RequirementByRule): Metered {
  let own: ReadonlyMap<string, MeterDefinition> | null = null;
  let all: Metered['meters'] | null = null;
  const standing = () => {
    own ??= standingMeters(asks());
    return own;
  };
  return {
    get meters() {
      all ??= [...engine.meters, ...standing().values(), ...delegationMeters];
      return all;
    },
    entriesRecorded: (facts) => {
      const uses = engine.entriesRecorded(facts);
      if (uses === null || facts.satisfied.standing === undefined) return uses;
      return [...uses, ...standingUses(facts.satisfied, standing())];
    },
  };
}

/** Returns the meters by rule, sorted by id; they come after all ids that are digests. */
function standingMeters(asks: RequirementByRule): ReadonlyMap<string, MeterDefinition> {
  const meters = [...asks.values()].flatMap((one) =>
    one.kind === 'approval' && one.standing !== undefined
      ? [[one.rule, standingMeter(one.rule, one.standing)] as const]
      : [],
  );
  return new Map(meters.sort(([, a], [, b]) => (a.id < b.id ? -1 : 1)));
}

function standingUses(
  { standing = {} }: MetRequirements,
  meters: ReadonlyMap<string, MeterDefinition>,
): readonly MeterUse[] {
  return Object.entries(standing).flatMap(([rule, id]) => {
    const definition = meters.get(rule);
    return definition === undefined ? [] : [oneUse(definition, id)];
  });
}
