// A guarantee that does not hold is refuted by a request that people can replay; one that holds is never refuted.

import { describe, expect, it } from 'vitest';
import { authorize } from '../../src/language/spec/authorize.ts';
import { compile } from '../../src/pipeline.ts';
import { tryGuarantees } from '../../src/reasoning/guarantees/try.ts';

const policies = `
action pay.make {
  amount: money(currency) 0.01..
  currency: "USD" | "EUR"
  vendor: string 1..50
}
approvers finance "Finance"
list banned ignoring case = ["Evil Ltd"]
meter paid = count() of pay.make per agent over 24h
policy pays on pay.make {
  allow small
    when payload.amount <= 100 USD
  allow large after approval by finance
    when payload.amount <= 10_000 USD
  deny banned_vendor
    when payload.vendor in banned
  deny often
    when paid > 10
}
`;

function trials(claims: string) {
  const text = `${policies}\nguarantee claim on pay.make {\n${claims}\n}`;
  const { set, engine, diagnostics } = compile({
    files: [{ path: 'pays.policy', text }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  if (set === null || engine === null) throw new Error(JSON.stringify(diagnostics));
  return { set, trials: tryGuarantees(set, { decide: engine.decide, requests: 3_000 }) };
}

describe('tryGuarantees', () => {
  it.each([
    'never allow when payload.amount > 10_000 USD',
    'never allow unapproved when payload.amount > 100 USD',
    'always deny when payload.vendor in banned',
    'never allow when paid > 10',
    'never reauth',
  ])('does not refute `%s`', (claim) => {
    const [trial] = trials(claim).trials;
    expect(trial?.counterexample).toBeNull();
    expect(trial?.tried).toBeGreaterThan(0);
  });

  it.each([
    ['never allow when payload.amount > 100 USD', 'ALLOW'],
    ['never allow when payload.amount >= 100 USD', 'ALLOW'],
    ['never allow unapproved when payload.amount >= 100 USD', 'ALLOW'],
    ['always deny when payload.amount > 9_999 USD', /^(ALLOW|ESCALATE)$/],
    ['never escalate', 'ESCALATE'],
    ['always allow', /^(DENY|ESCALATE)$/],
  ])('refutes `%s` with a request that the definition confirms', (claim, outcome) => {
    const { set, trials: found } = trials(claim);
    const counterexample = found[0]?.counterexample;
    expect(counterexample?.decision.outcome).toMatch(outcome);
    if (counterexample) expect(authorize(set, counterexample.facts)).toEqual(counterexample.decision);
  });
});
