// What requests add to meters: the generated functions compared with the definition, over random policy sets
// and requests.

import { isMeterRestart, type MeterUse } from '../../src/language/model/metering.ts';
import type { Meter, PolicySet } from '../../src/language/model/policy.ts';
import type { Facts } from '../../src/language/model/request.ts';
import { createPlanning } from '../../src/language/program/plan/meters.ts';
import { type MeterShare, meterShare } from '../../src/language/spec/meters.ts';
import { checkPayload } from '../../src/language/spec/payload.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { sha256 } from '../../src/pipeline.ts';
import { compileSet, ruleIdsOf } from './differential.ts';
import { randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';

export interface EntriesRun {
  readonly compared: number;
  /** Counts of what was seen, by kind: `certain amounts`, `unknown key` and the like. */
  readonly seen: ReadonlyMap<string, number>;
  readonly differences: readonly string[];
}

const requestsPerSet = 20;

/** Compares the entries of this number of sets, from `seed` on. */
export function compareEntries(sets: number, seed: number): EntriesRun {
  const seen = new Map<string, number>();
  const differences: string[] = [];
  let compared = 0;
  for (let setSeed = seed; setSeed < seed + sets; setSeed++) {
    const random = createRandom(setSeed);
    const generated = randomSet(random);
    const { set, engine } = compileSet(generated);
    if (set === null || engine === null) continue;
    const ruleIds = ruleIdsOf(set);
    for (let i = 0; i < requestsPerSet; i++) {
      const facts = randomFacts(random, generated, ruleIds);
      const uses = engine.entries(facts);
      for (const meter of set.meters.values()) {
        const expected = shareOf(set, meter, facts);
        const found = useOf(set, meter, uses);
        compared += 1;
        if (expected !== null) count(seen, expected, meter);
        const difference = differenceBetween(expected, found);
        if (difference !== null) differences.push(`seed ${setSeed}, ${meter.name}: ${difference}`);
      }
    }
  }
  return { compared, seen, differences };
}

/**
 * What the definition adds to the meter; null when the gate refuses the request, or when the meter does not
 * count the action.
 */
function shareOf(set: PolicySet, meter: Meter, facts: Facts): MeterShare | null {
  const action = set.actions.get(facts.action);
  if (action === undefined || checkPayload(action.shape, facts.payload).length > 0) return null;
  const takesPart = [...meter.actions, ...meter.since].includes(facts.action);
  return takesPart ? meterShare(set, meter, facts) : null;
}

function useOf(set: PolicySet, meter: Meter, uses: readonly MeterUse[]): MeterUse | null {
  const { id } = createPlanning(set, sha256).meters.definition(meter);
  return uses.find(({ definition }) => definition.id === id) ?? null;
}

/**
 * How an entry differs from the definition. An action that a meter does not count may still have an entry,
 * because it may read the meter; that entry must add nothing.
 */
function differenceBetween(expected: MeterShare | null, found: MeterUse | null): string | null {
  if (expected === null)
    return found?.contribution == null ? null : `adds ${text(found)}, by definition nothing`;
  if (found === null) return `has no entry, by definition ${text(expected)}`;
  const [a, b] = [text(found), text(expected)];
  return a === b ? null : `${a}, by definition ${b}`;
}

function text({ key, contribution }: MeterShare): string {
  return JSON.stringify([key, contribution?.isCertain, contribution?.value], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

function count(seen: Map<string, number>, { key, contribution }: MeterShare, meter: Meter): void {
  if (contribution !== null && isMeterRestart(contribution)) seen.set('anew', (seen.get('anew') ?? 0) + 1);
  if (meter.readsResult) {
    const isKnown = contribution === null || (contribution.isCertain && contribution.value !== null);
    const kind = isKnown ? 'result counted' : 'result unknown';
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
  }
  const certainty = contribution === null ? 'left out' : contribution.isCertain ? 'certain' : 'uncertain';
  const value = contribution?.value === null ? ' unknown' : '';
  const kinds = [`${certainty}${value} ${meter.aggregate}`, key === null ? 'unknown key' : 'known key'];
  for (const kind of kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1);
}
