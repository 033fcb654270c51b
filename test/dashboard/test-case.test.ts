// A request as a test: the case that the page writes gives `writ test` exactly the facts of the request.

import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { GivenRequest } from '../../src/analysis/playground-questions.ts';
import { readGiven } from '../../src/analysis/request-input.ts';
import { tryRequest } from '../../src/analysis/try-request.ts';
import { vocabularyOf } from '../../src/analysis/vocabulary.ts';
import { createWorkspace } from '../../src/analysis/workspace.ts';
import { exampleText } from '../../src/dashboard/pages/playground/example-request.ts';
import {
  type CaseRequest,
  type CaseToAdd,
  caseText,
  clauseExpects,
  testPath,
} from '../../src/dashboard/parts/diff/test-case.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import { toFacts } from '../../src/testing/situation.ts';
import { textsOf } from '../analysis/playground/texts.ts';

const at = '2026-03-02T10:00:00.000Z';

function laidOf(files: Readonly<Record<string, string>>) {
  const workspace = createWorkspace();
  workspace.take(textsOf(files));
  const laid = workspace.compileWith([]);
  if (laid.policies === null) throw new Error(JSON.stringify(laid.diagnostics));
  return { ...laid, policies: laid.policies };
}

/** The case as `writ test` reads it, placed after an existing test. */
function read(one: CaseToAdd, set: PolicySet) {
  const text = `tests:\n  - name: first\n    action: x\n    expect: DENY\n${caseText(one, at)}`;
  const { diagnostics, cases } = readTestFile({ path: 'a.test.yaml', text });
  expect(diagnostics).toEqual([]);
  const [, added] = cases;
  if (added === undefined) throw new Error('the case was not read');
  const faults: string[] = [];
  const facts = toFacts(added.situation, set, (_span, message) => faults.push(message));
  expect(faults).toEqual([]);
  return { ...added, facts };
}

it('has the facts of the request, for every action of the packs, whatever else is known', () => {
  const files = globSync(['**/*.policy', '**/lists/*.txt'], { cwd: 'policies' });
  const { policies, trees } = laidOf(
    Object.fromEntries(files.map((path) => [path, readFileSync(`policies/${path}`, 'utf8')])),
  );
  const vocabulary = vocabularyOf(policies.set, trees);
  expect(vocabulary.actions.length).toBeGreaterThan(20);
  for (const action of vocabulary.actions) {
    const example = JSON.parse(exampleText(action, vocabulary, at)) as CaseRequest;
    const more = {
      ...example,
      session: 's: "1"',
      address: '203.0.113.7',
      signed: false,
      at: '2026-05-01T08:00:00+02:00',
    };
    const { at: _at, ...less } = example;
    for (const request of [example, more, less] as readonly CaseRequest[]) {
      const name = `- odd: "name" #${action.key}`;
      const added = read({ name, request, expect: { decision: 'DENY', by: 'p/r' } }, policies.set);
      expect(added.name).toBe(name);
      expect(added.expectation).toMatchObject({ decision: 'DENY', by: 'p/r' });
      expect(added.facts, action.key).toEqual(
        readGiven(request as GivenRequest, policies.set, Date.parse(at)).facts,
      );
    }
  }
});

it('of a refuted clause expects what the clause says, once people have answered as they had', () => {
  const laid = laidOf({
    'a.policy': `approvers finance "Finance"
action pay.make { amount: number 0.. }
policy p on pay.make {
  allow any after approval by finance
  deny small when payload.amount < 5
}
guarantee never_much on pay.make { never allow when payload.amount > 100 }
guarantee all_denied on pay.make { always deny when payload.amount < 10 }
`,
  });
  const { guarantees } = tryRequest(laid, null);
  const expected = (guarantees ?? []).map(({ clause, refuted_by: refuted }) => {
    if (refuted?.request == null) throw new Error(`${clause} is not refuted by a request`);
    const expect = clauseExpects(clause, refuted.decision);
    if (expect === null) throw new Error(`${clause} expects nothing`);
    const { satisfied, request } = refuted;
    const added = read(
      { name: clause, request: request as CaseRequest, satisfied, expect },
      laid.policies.set,
    );
    const facts = added.facts ?? { satisfied: null };
    return [expect, facts.satisfied];
  });
  const satisfied = { escalate: ['p/any'], reauth: [] };
  expect(expected).toEqual([
    [{ decision: 'DENY' }, satisfied],
    [{ not: 'ALLOW' }, satisfied],
  ]);
  expect(clauseExpects('always ask finance needs 2 when payload.amount > 5', 'ESCALATE')).toBe(null);
  expect(testPath('payments/limits.policy')).toBe('payments/limits.test.yaml');
});
