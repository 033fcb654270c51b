// Every refutation of the packs, the conformance sets and random sets is a request that is decided as stated:
// as JSON that `writ decide` reads, by the compiled function and by the definition; and as a case of a test
// file, which fails.

import { describe, expect, it } from 'vitest';
import { readFacts } from '../../src/cli/support/read-facts.ts';
import { createFunctionCache } from '../../src/language/emit/cache.ts';
import { link } from '../../src/language/emit/link.ts';
import { readJson } from '../../src/language/json/read-json.ts';
import type { JsonObject } from '../../src/language/model/json.ts';
import type { GuaranteeClause, PolicySet } from '../../src/language/model/policy.ts';
import { unpack } from '../../src/language/program/packed/unpack.ts';
import { createPlanCache, planPacked } from '../../src/language/program/plan/incremental.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { refutation } from '../../src/language/spec/guarantee-clause.ts';
import { sha256 } from '../../src/pipeline.ts';
import { proveAction, type Verdict } from '../../src/reasoning/prove/prove.ts';
import { requestJson } from '../../src/reasoning/prove/report/request-json.ts';
import { addCases } from '../../src/testing/adding/add-cases.ts';
import { caseOfClause } from '../../src/testing/adding/case-of-clause.ts';
import { differences } from '../../src/testing/expectation.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import { toFacts } from '../../src/testing/situation.ts';
import { lawSets } from '../laws/proofs.ts';
import { tries } from '../support/tries.ts';

const span = { file: 'asked', start: 0, end: 0 };

/** Claims of every kind, about every request. */
function claimsOf({ approvers }: PolicySet): readonly GuaranteeClause[] {
  const groups = ['owner', ...approvers.keys()];
  return (['never', 'always'] as const).flatMap((mode) => [
    ...(['allow', 'deny', 'escalate', 'reauth'] as const).map(
      (effect): GuaranteeClause => ({ mode, effect, isUnapproved: false, when: null, span }),
    ),
    ...groups.map(
      (group): GuaranteeClause => ({
        mode,
        effect: 'ask',
        isUnapproved: true,
        group,
        needs: 1,
        when: null,
        span,
      }),
    ),
  ]);
}

type Refutation = Extract<Verdict, { readonly kind: 'refuted' }>;

function decideWith(set: PolicySet): ReturnType<typeof link>['decide'] {
  return link(unpack(planPacked(set, createPlanCache(sha256))), createFunctionCache()).decide;
}

function asRead(set: PolicySet, { facts }: Refutation) {
  const json = readJson(Buffer.from(JSON.stringify(requestJson(facts))));
  if (!json.ok) throw new Error(JSON.stringify(json.issue));
  return readFacts({ given: json.value as JsonObject, isRecorded: false }, set);
}

/** The findings of the test case made from the refutation, in a file with other defaults. */
function foundByCase(
  set: PolicySet,
  claim: GuaranteeClause,
  { facts, decision }: Refutation,
): readonly object[] {
  const text =
    'defaults:\n  agent: { name: other, tags: [a] }\n  request: { signed: true }\n  payload: { zz_other: 1 }\ntests:\n  - { name: first, action: a.b, expect: DENY }\n';
  const one = caseOfClause({ guarantee: 'asked', claim, claimText: 'a claim', facts, decision });
  const made = addCases({ path: 'a.test.yaml', text }, [one]);
  const last = readTestFile({ path: 'a.test.yaml', text: made!.text }).cases.at(-1)!;
  const read = toFacts(last.situation, set, (_, message) => {
    throw new Error(message);
  });
  return differences(last.expectation, authorize(set, read!));
}

describe('a refutation', () => {
  it('decides as it says wherever it is read', { timeout: 240_000 }, async () => {
    let refuted = 0;
    const sets = await lawSets(tries(4));
    for (const { set, name } of sets) {
      const decide = decideWith(set);
      for (const action of set.actions.keys()) {
        for (const [claim, verdict] of proveAction(set, action, claimsOf(set))) {
          if (verdict.kind !== 'refuted') continue;
          refuted += 1;
          const what = `${name} ${action} ${claim.mode} ${claim.effect} ${JSON.stringify(requestJson(verdict.facts))}`;
          const facts = asRead(set, verdict);
          expect(authorize(set, facts), what).toEqual(verdict.decision);
          expect(decide(facts), what).toEqual(verdict.decision);
          expect(refutation(set, claim, facts), what).toEqual(verdict.decision);
          expect(foundByCase(set, claim, verdict), what).not.toEqual([]);
        }
      }
    }
    expect(refuted).toBeGreaterThan(200);
  });
});
