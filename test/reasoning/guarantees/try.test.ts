// A guarantee that does not hold is refuted by a request that people can replay; a guarantee that holds is
// never refuted.

import { describe, expect, it } from 'vitest';
import { authorize } from '../../../src/language/spec/authorize.ts';
import { compile } from '../../../src/pipeline.ts';
import { isBarelyTried, tryGuarantees } from '../../../src/reasoning/guarantees/try.ts';

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
  return trialsOf(`${policies}\nguarantee claim on pay.make {\n${claims}\n}`);
}

function trialsOf(text: string) {
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

describe('requests that are tried', () => {
  it('match the patterns of the fields, so that no claim passes untried', () => {
    const [trial] = trialsOf(`
action code.run { id: string matches 'inv-[0-9]{4}(-[a-z]+)?' 10..  }
policy p on code.run { allow all }
guarantee g on code.run { never allow }
`).trials;
    expect(trial?.counterexample?.decision.outcome).toBe('ALLOW');
    expect(trial?.counterexample?.facts.payload.id).toMatch(/^inv-\d{4}-[a-z]+$/);
  });

  it('are as long as the field asks', () => {
    const [trial] = trialsOf(`
action note.write { text: string 40..60 }
policy p on note.write { allow all }
guarantee g on note.write { never allow }
`).trials;
    expect(trial?.counterexample).not.toBeNull();
  });

  it('have readings that include the request itself', () => {
    const [trial] = trialsOf(`
action pay.make { amount: number 0.01.. }
meter paid = sum(payload.amount) of pay.make per agent over 24h
policy p on pay.make { allow small when paid <= 100 }
guarantee ceiling on pay.make { never allow when payload.amount > 100 }
`).trials;
    expect(trial?.counterexample).toBeNull();
    expect(trial?.tried).toBeGreaterThan(0);
  });

  it('are hardly any where no allow grants them, and the trial says so', () => {
    const { trials: found } = trialsOf(`
action pay.make { vendor: string, amount: number }
policy p on pay.make { allow rare when payload.vendor == "a" and payload.amount == 17.5 }
guarantee g on pay.make { never deny when payload.vendor == "a" and payload.amount == 17.5 }
guarantee often on pay.make { never escalate }
guarantee never_met on pay.make { never escalate when payload.vendor == "a" and payload.vendor == "b" }
`);
    expect(found.map(isBarelyTried)).toEqual([true, true, true]);
    expect(found[1]?.tried).toBe(0);
  });
});
