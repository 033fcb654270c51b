// The summary of a set as JSON, joined from the kept summaries of its policies.

import { expect, test } from 'vitest';
import { compileToProgram, createCompileCache, findErrors } from '../../../src/pipeline.ts';
import { type SetSummary, summaryJson } from '../../../src/service/policies/set-summary.ts';

const declarations = `
  action a.b { n: number }
  approvers finance "Finance" by chat up to risk 40
  meter spent = sum(payload.n) of a.b per agent over 1h`;
const asks = `policy asks on a.b {
  owner "ann@example.com"
  escalate e to finance when payload.n > 1
  shadow escalate s to finance when payload.n > 2
}`;

/** The summary of a set in which only `last` varies. */
function summaryOf(last: string, cache = createCompileCache()): SetSummary {
  const files = [declarations, asks, last].map((text, at) => ({ path: `${at}.policy`, text }));
  const readListFile = () => ({ code: 'list-file-missing', message: 'there is none' }) as const;
  const { set, diagnostics } = compileToProgram({ files, readListFile }, cache, findErrors);
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  return JSON.parse(summaryJson(set)) as SetSummary;
}

test('it names what the set declares, also where a policy asks nothing', () => {
  const { asks: asked, ...named } = summaryOf('policy last on a.b { deny d when payload.n > 3 }');
  expect(named).toEqual({
    actions: ['a.b'],
    rules: 3,
    policies: [
      { name: 'asks', owner: 'ann@example.com', doc: null, rules: 2, file: '1.policy' },
      { name: 'last', owner: null, doc: null, rules: 1, file: '2.policy' },
    ],
    approvers: [{ name: 'finance', title: 'Finance', chat: { maxRisk: 40 } }],
    needs: { user: [], points: [], people: [], columns: [] },
    meters: [{ name: 'spent', definition: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    ruleNames: [
      { policy: 'asks', name: 'e', effect: 'escalate', isShadow: false, file: '1.policy' },
      { policy: 'asks', name: 's', effect: 'escalate', isShadow: true, file: '1.policy' },
      { policy: 'last', name: 'd', effect: 'deny', isShadow: false, file: '2.policy' },
    ],
  });
  expect(asked.map(({ rule }) => rule)).toEqual(['asks/e']);
});

test('after a change it is the one that the set has alone', () => {
  const cache = createCompileCache();
  const states = ['policy last on a.b { deny d when payload.n > 3 }', 'policy other on a.b { allow all }'];
  for (const last of states) expect(summaryOf(last, cache)).toEqual(summaryOf(last));
});
