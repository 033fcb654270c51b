// Each person counts for one requirement. The assignment is compared with every assignment that there is.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovalRule } from '../../../src/language/model/rule-requirement.ts';
import {
  type AssignablePerson,
  assignPeople,
  type NeededPeople,
} from '../../../src/service/requests/record/assign-people.ts';
import {
  type ApprovalScope,
  approvedRule,
  type ScopedVote,
  satisfiedRules,
} from '../../../src/service/requests/record/vote-scope.ts';

const groups = ['a', 'b', 'c', 'a or b', 'b or c', 'x[y].z'];
const anyGroups = fc.subarray(groups, { minLength: 1 });
const anyNeeded: fc.Arbitrary<readonly NeededPeople[]> = anyGroups.chain((asked) =>
  fc.tuple(
    ...asked.map((group) => fc.integer({ min: 1, max: 3 }).map((needs): NeededPeople => ({ group, needs }))),
  ),
);
const anyPeople: fc.Arbitrary<readonly AssignablePerson[]> = fc
  .array(fc.shuffledSubarray(groups), { maxLength: 5 })
  .map((all) => all.map((own, at) => ({ person: `p${at}`, groups: own })));

/** Every way to give each person one of their groups, or none. */
function* assignments(
  people: readonly AssignablePerson[],
): Generator<readonly (readonly [string, string])[]> {
  const [first, ...rest] = people;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const others of assignments(rest)) {
    yield others;
    for (const group of first.groups) yield [[first.person, group], ...others];
  }
}

function met(needed: readonly NeededPeople[], assigned: readonly (readonly [string, string])[]): number {
  const count = (group: string): number => assigned.filter(([, own]) => own === group).length;
  return needed.reduce((sum, { group, needs }) => sum + Math.min(needs, count(group)), 0);
}

describe('an assignment of people', () => {
  it('meets as much as any assignment can, and gives nobody a group that is not theirs', () => {
    fc.assert(
      fc.property(anyNeeded, anyPeople, (needed, people) => {
        const assigned = [...assignPeople(needed, people)];
        for (const [person, group] of assigned)
          expect(people.find((one) => one.person === person)?.groups).toContain(group);
        const best = Math.max(...[...assignments(people)].map((one) => met(needed, one)));
        expect(assigned).toHaveLength(best);
        expect(met(needed, assigned)).toBe(best);
      }),
      { numRuns: 800 },
    );
  });

  it('moves people who can answer elsewhere', () => {
    const needed = [
      { group: 'a or b', needs: 1 },
      { group: 'b or c', needs: 1 },
    ];
    const ben = { person: 'ben', groups: ['a or b', 'b or c'] };
    expect([...assignPeople(needed, [ben])]).toEqual([['ben', 'a or b']]);
    const both = assignPeople(needed, [ben, { person: 'ann', groups: ['a or b'] }]);
    expect(Object.fromEntries(both)).toEqual({ ann: 'a or b', ben: 'b or c' });
  });
});

describe('rules that several approvers may answer', () => {
  const anyRules = fc.array(fc.tuple(anyGroups, fc.integer({ min: 1, max: 2 })), {
    minLength: 1,
    maxLength: 3,
  });

  it('are satisfied together exactly when some assignment gives each of them its people', () => {
    let satisfied = 0;
    fc.assert(
      fc.property(anyRules, anyPeople, (asking, people) => {
        const rules = asking.map(
          ([asked, needs], at): ApprovalRule => ({
            rule: `p/r${at}`,
            kind: 'approval',
            groups: asked,
            needs,
            except: [],
            withinSeconds: 60,
            conditionDigest: 'c',
          }),
        );
        const votes = people.map(
          ({ person, groups: own }): ScopedVote => ({
            isApproved: true,
            person,
            email: `${person}@example.com`,
            digest: 'd',
            invalidReason: null,
            rules: rules.flatMap((rule) =>
              rule.groups.filter((one) => own.includes(one)).map((one) => approvedRule(rule, one)),
            ),
          }),
        );
        const scope: ApprovalScope = {
          votes,
          digest: 'd',
          isOwner: () => false,
          names: { payload: {}, request: {} },
        };
        const needed = [...new Set(rules.flatMap((rule) => rule.groups))].map((group) => ({
          group,
          needs: Math.max(...rules.filter((rule) => rule.groups.includes(group)).map(({ needs }) => needs)),
        }));
        const all = needed.reduce((sum, { needs }) => sum + needs, 0);
        const isPossible = [...assignments(people)].some((one) => met(needed, one) === all);
        expect(satisfiedRules(rules, scope).length === rules.length).toBe(isPossible);
        if (isPossible) satisfied += 1;
      }),
      { numRuns: 800 },
    );
    expect(satisfied).toBeGreaterThan(40);
  });
});
