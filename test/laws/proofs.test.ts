// The formula of an action admits what the definition gives for random requests, and decides the same. The
// tests would notice a maker of cells that forgets something.

import { beforeAll, describe, expect, it } from 'vitest';
import type { GuaranteeClause, PolicySet } from '../../src/language/model/policy.ts';
import { refutation } from '../../src/language/spec/guarantee-clause.ts';
import { checkPayload } from '../../src/language/spec/payload.ts';
import { faultNames } from '../../src/reasoning/cells/faults.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { decideWithFew, proveAction } from '../../src/reasoning/prove/prove.ts';
import { third, tries } from '../support/tries.ts';
import { holdLaw, lawSets, type Named } from './proofs.ts';

let sets: readonly Named[] = [];

beforeAll(async () => {
  sets = await lawSets(tries(10));
});

describe('the law of proofs', () => {
  it('holds for random requests of packs, conformance sets and random sets', () => {
    const tallies = sets.map((named) => holdLaw(named, 30));
    expect(tallies.flatMap(({ disagreements }) => disagreements)).toEqual([]);
    expect(tallies.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(1_000);
  });

  it.each(third(faultNames))('fails where %s', (fault) => {
    const faults = new Set([fault]);
    expect(sets.some((named) => holdLaw(named, 120, { faults }).disagreements.length > 0)).toBe(true);
  });
});

/** Claims made of the conditions of the action's own rules, so that many claims hold. */
function claimsOf(set: PolicySet, action: string): readonly GuaranteeClause[] {
  const rules = set.policies
    .filter(({ actions }) => actions.includes(action))
    .flatMap((policy) => policy.rules);
  const asked = rules.flatMap(({ requirement }) => (requirement?.kind === 'approval' ? [requirement] : []));
  return rules.slice(0, 4).flatMap(({ condition: when, span }) => [
    ...(['allow', 'deny', 'escalate', 'reauth'] as const).flatMap((effect): readonly GuaranteeClause[] => [
      { mode: 'never', effect, when, isUnapproved: effect === 'allow', span },
      { mode: 'always', effect, when, isUnapproved: false, span },
    ]),
    ...asked.flatMap(({ groups, needs }) =>
      groups.flatMap((group) =>
        (['never', 'always'] as const).map(
          (mode): GuaranteeClause => ({ mode, effect: 'ask', isUnapproved: true, group, needs, when, span }),
        ),
      ),
    ),
  ]);
}

describe('claims about the conditions of rules', () => {
  it('are never proved where a random request breaks them, and are as few rules settle them', () => {
    const counts = { proved: 0, refuted: 0, undecided: 0 };
    const withFew = { proved: 0, refuted: 0, undecided: 0 };
    const asking = { proved: 0, refuted: 0, undecided: 0 };
    for (const { set } of [...sets.slice(-tries(10) - 3, -tries(10) + 1), ...sets.slice(-tries(5))]) {
      const source = requestSource(set, 3);
      for (const action of [...set.actions.values()].slice(0, 1)) {
        const claims = claimsOf(set, action.key);
        const verdicts = proveAction(set, action.key, claims);
        const byFew = decideWithFew(set, action.key, claims);
        for (const [claim, few] of byFew) {
          // Leaving a rule out may hide something that the proof does not understand, so the proof over all
          // rules may be undecided.
          expect([few.kind, 'undecided']).toContain(verdicts.get(claim)!.kind);
          if (few.kind === 'refuted') expect(refutation(set, claim, few.facts)).not.toBeNull();
          withFew[few.kind] += 1;
        }
        for (const [{ effect }, { kind }] of verdicts) (effect === 'ask' ? asking : counts)[kind] += 1;
        const proved = [...verdicts, ...byFew].flatMap(([claim, { kind }]) =>
          kind === 'proved' ? [claim] : [],
        );
        for (let drawn = 0; drawn < 40; drawn += 1) {
          const facts = randomRequest(source, action);
          if (checkPayload(action.shape, facts.payload).length > 0) continue;
          for (const claim of proved) expect(refutation(set, claim, facts)).toBeNull();
        }
      }
    }
    expect(Math.min(counts.proved, counts.refuted)).toBeGreaterThan(10);
    expect(Math.min(withFew.proved, withFew.refuted)).toBeGreaterThan(2);
    expect(Math.min(asking.proved, asking.refuted)).toBeGreaterThan(2);
  });
});
