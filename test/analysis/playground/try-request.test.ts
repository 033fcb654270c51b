// Trying and explaining requests over the shipped policies: the function and the definition agree, digests
// are named, and each fault comes back in words with its place.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { explainRecord } from '../../../src/analysis/explain-record.ts';
import type { GivenRequest, TryResult } from '../../../src/analysis/playground-questions.ts';
import type { RecordedRequest } from '../../../src/analysis/records/recorded-request.ts';
import { tryRequest } from '../../../src/analysis/try-request.ts';
import { createWorkspace, type Workspace } from '../../../src/analysis/workspace.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { nothingSatisfied } from '../../../src/language/model/request.ts';
import { authorize } from '../../../src/language/spec/authorize.ts';
import { textsOf } from './texts.ts';

const names = ['banking', 'payments', 'slack'];
const shipped = Object.fromEntries(
  [...names.map((name) => `${name}/${name}.policy`), 'payments/lists/blocked-vendors.txt'].map((path) => [
    path,
    readFileSync(`policies/${path}`, 'utf8'),
  ]),
);

function workspace(files: Readonly<Record<string, string>> = shipped): Workspace {
  const made = createWorkspace();
  made.take(textsOf(files));
  return made;
}

function tried(given: GivenRequest, files: readonly { path: string; text: string }[] = []): TryResult {
  return tryRequest(workspace().compileWith(files), { given });
}

const payment = {
  action_key: 'payment.create',
  payload: { amount: 1_200, currency: 'USD', vendor: 'Staples', description: 'paper' },
  agent: { risk_tier: 'low' },
  meters: { vendor_24h: 0, agent_24h: 0 },
  at: '2026-03-02T10:00:00-05:00',
} as const;

describe('a try', () => {
  it('says all of a decision, and what would change it', () => {
    expect(tried(payment)).toMatchObject({
      diagnostics: [],
      issues: [],
      digested: [],
      decision: {
        decision: 'ESCALATE',
        matched_policy: 'vendor_payments',
        rule: 'vendor_payments/large_payment',
        risk_score: 30,
        status: 'pending',
        message: 'It would wait for 2 approvals by finance within 4h.',
        requires: { approvals: [{ group: 'finance', needs: 2, given: 0 }], step_up: false, invalidated: [] },
        trace: expect.arrayContaining([
          expect.objectContaining({ rule: 'vendor_payments/large_payment', truth: 'true' }),
        ]),
        change: 'ALLOW if payload.amount <= 1000 USD',
      },
    });
  });

  it('lays files over the set: policies, lists, and such as are new', () => {
    const path = 'payments/payments.policy';
    const laxer = shipped[path]!.replace('payload.amount > small_limit', 'payload.amount > 1_300 USD');
    expect(tried(payment, [{ path, text: laxer }]).decision?.decision).toBe('ALLOW');
    const list = { path: 'payments/lists/blocked-vendors.txt', text: 'Staples\n' };
    expect(tried(payment, [list]).decision).toMatchObject({
      decision: 'DENY',
      status: 'rejected',
      requires: null,
    });
    const stricter = { path: 'new/one.policy', text: 'policy none on payment.create {\n  deny all\n}\n' };
    expect(tried(payment, [stricter]).decision?.rule).toBe('none/all');
  });

  it('decides as the definition does, on every request that is shipped with the policies', () => {
    const laid = workspace().compileWith([]);
    const outcomes = new Set<string>();
    for (const name of names) {
      for (const line of readFileSync(`policies/${name}/requests.jsonl`, 'utf8').trim().split('\n')) {
        const { action_key, payload, agent = {}, now } = JSON.parse(line);
        const { decision } = tryRequest(laid, { given: { action_key, payload, agent, at: now } });
        const meant = authorize(laid.policies!.set, {
          action: action_key,
          payload,
          agent,
          request: {},
          nowMs: Date.parse(now),
          meters: {},
          satisfied: { escalate: [], reauth: [] },
        });
        expect([decision?.decision, decision?.reason, decision?.risk_score]).toEqual([
          ...[meant.outcome, meant.reason, meant.risk.high],
        ]);
        outcomes.add(meant.outcome);
      }
    }
    expect(outcomes.size).toBeGreaterThan(2);
  });

  it('places what is wrong with a policy, with its fix, and decides nothing', () => {
    const text = 'policy none on payment.create {\n  deny all when payload.amout > 1 USD\n}\n';
    const { diagnostics, decision } = tried(payment, [{ path: 'new/one.policy', text }]);
    expect(decision).toBeNull();
    const place = { line: 2, column: 25, end_line: 2, end_column: 30 };
    expect(diagnostics).toEqual([
      {
        file: 'new/one.policy',
        code: 'unknown-field',
        severity: 'error',
        message: expect.any(String),
        help: 'did you mean `amount`',
        ...place,
        fix: {
          title: 'write `amount`',
          edits: [{ file: 'new/one.policy', text: 'amount', ...place }],
        },
      },
    ]);
  });

  it.each([
    ['an action', { action_key: 'payment.crate' }, '/action_key', 'did you mean `payment.create`'],
    [
      'a field that is misspelt',
      { payload: { ...payment.payload, amout: 1 } },
      '/payload/amout',
      expect.any(String),
    ],
    ['a type', { payload: { ...payment.payload, amount: 'much' } }, '/payload/amount', null],
    ['a field that is missing', { payload: { amount: 1, vendor: 'x' } }, '/payload/currency', 'it is "USD"'],
    ['a payload of nothing', { payload: {} }, '/payload/amount', 'it is money(currency) 0.01..1000000'],
  ])('says what the gate refuses, and why: %s', (_, change, pointer, help) => {
    const { issues, decision } = tried({ ...payment, ...change });
    expect(decision).toMatchObject({ decision: 'DENY', rule: null, change: null, trace: [] });
    expect(issues[0]).toEqual({ pointer, message: expect.stringMatching(/`/), help });
  });

  it.each([
    ['/at', { at: 'yesterday' }, /offset/],
    ['/address', { address: '10.0.0' }, /IP address/],
    ['/meters/spent', { meters: { spent: 1 } }, /no meter `spent`/],
    ['/meters/daily_outflow', { meters: { daily_outflow: '1 EUR' } }, /is read in/],
    ['/meters/daily_outflow', { meters: { daily_outflow: '1.005 USD' } }, /must be a reading/],
    ['/meters/daily_outflow', { meters: { daily_outflow: 'much' } }, /must be a reading/],
    ['/meters/daily_outflow', { meters: { daily_outflow: [1] } }, /must be a reading/],
  ])('says what cannot be understood: %s', (pointer, change, message) => {
    const { issues, decision } = tryRequest(
      workspace({
        ...shipped,
        'm.policy':
          'meter daily_outflow = sum(payload.amount) in USD of payment.create per agent over 24h\npolicy m on payment.create {\n  deny m when daily_outflow > 100 USD\n}\n',
      }).compileWith([]),
      { given: { ...payment, ...change } },
    );
    expect(decision).toBeNull();
    expect(issues).toEqual([
      {
        pointer,
        message: expect.stringMatching(message),
        help: expect.toBeOneOf([null, expect.any(String)]),
      },
    ]);
  });

  it('takes the delegations by which a sub-agent asks, by name', () => {
    const named = workspace({
      'd.policy': `action a.pay { amount: number }
policy d on a.pay {
  allow own unless request.delegated
  allow buyer when request.delegate == "buyer" and "research" not in request.chain
}
`,
    }).compileWith([]);
    const outcomes = [[], ['buyer'], ['team', 'buyer'], ['research', 'buyer'], ['other']].map((chain) => {
      const given = { action_key: 'a.pay', payload: { amount: 1 }, chain };
      return tryRequest(named, { given }).decision?.decision;
    });
    expect(outcomes).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'DENY', 'DENY']);
  });

  it('takes readings of meters', () => {
    const metered = workspace({
      'm.policy': `action a.pay { amount: money(currency), currency: "USD" }
meter spent = sum(payload.amount) in USD of a.pay per agent over 24h
policy m on a.pay {
  allow m when spent <= 100 USD
}
`,
    });
    const outcomes = [{ spent: '100 USD' }, { spent: 100.5 }, {}].map((meters) => {
      const given = { action_key: 'a.pay', payload: { amount: 1, currency: 'USD' }, meters };
      return tryRequest(metered.compileWith([]), { given }).decision?.decision;
    });
    expect(outcomes).toEqual(['ALLOW', 'DENY', 'DENY']);
  });

  it('looks at the policies alone where there is no request', () => {
    const { guarantees, ...rest } = tryRequest(workspace().compileWith([]), null);
    expect(rest).toEqual({ diagnostics: [], issues: [], digested: [], decision: null });
    expect(guarantees).toContainEqual(expect.objectContaining({ guarantee: 'payment_ceiling' }));
    for (const guarantee of guarantees ?? []) {
      expect(guarantee).toMatchObject({ result: 'proved', refuted_by: null });
    }
  });
});

const recorded = {
  actionKey: 'key.use',
  agent: { name: 'a' },
  request: {},
  createdAtMs: 0,
  meters: {},
  satisfied: { escalate: [], reauth: [] },
  payload: { secret_key: { secret: `hmac-sha256:${'0'.repeat(64)}` }, uses: 3 },
} as const;
const keys = `action key.use { secret_key: secret string 1..10, uses: integer }
policy keys on key.use {
  # Few uses.
  allow few
    when payload has secret_key and payload.uses < 3
}
`;

describe('a record', () => {
  it('is tried with digests for secrets, which are named', () => {
    const result = tryRequest(
      workspace({ 'k.policy': keys.replace(' has secret_key', '.uses > 0') }).compileWith([]),
      {
        recorded,
      },
    );
    expect(result).toMatchObject({ issues: [], digested: ['/payload/secret_key'] });
    expect(result.decision).toMatchObject({
      decision: 'DENY',
      change: expect.stringContaining('payload.uses'),
    });
  });

  it('is explained by the rule as it stands in its file', () => {
    const laid = workspace({ 'k.policy': keys.replace(' has secret_key', '.uses > 0') }).compileWith([]);
    const few = { ...recorded, payload: { ...recorded.payload, uses: 2 } };
    const { rule, ...rest } = explainRecord(laid, few);
    expect(rest).toMatchObject({ decision: 'ALLOW', change: expect.stringContaining('payload.uses') });
    expect(rule).toEqual({
      policy: 'keys',
      id: 'keys/few',
      file: 'k.policy',
      line: 4,
      end_line: 5,
      text: 'allow few\n    when payload.uses > 0 and payload.uses < 3',
    });
    expect(explainRecord(laid, recorded).rule).toBeNull();
  });
});

describe('a record of a sub-agent', () => {
  const laid = workspace({
    'a.policy': `action pay.send { amount: number, vendor: string }
action mail.send { to: string }
policy p on pay.send { allow all }
policy m on mail.send { allow all }
`,
  }).compileWith([]);
  const top = { id: 'top00001', name: 'top', actions: ['*'], when: null };
  const buyer = {
    id: 'buyer001',
    name: 'buyer',
    actions: ['pay.*'],
    when: 'payload.amount <= 50 and payload.vendor == "Uline"',
  };
  const recordOf = (
    chain: readonly (typeof top | typeof buyer)[],
    actionKey: string,
    payload: JsonObject,
  ): RecordedRequest => ({
    actionKey,
    payload,
    chain,
    agent: {},
    request: { chain: chain.map(({ name }) => name) },
    createdAtMs: Date.UTC(2026, 2, 2),
    meters: {},
    satisfied: nothingSatisfied,
  });

  it('is explained by the link that denied it, with its condition', () => {
    const record = recordOf([top, buyer], 'pay.send', { amount: 51, vendor: 'Uline' });
    const { decision, rule, change, conditions } = explainRecord(laid, record);
    expect({ decision, rule, change }).toEqual({
      decision: 'DENY',
      change: 'ALLOW if payload.amount <= 50',
      rule: {
        policy: 'outside_delegation',
        id: 'outside_delegation/link_2',
        file: 'link_2 (buyer)',
        line: 1,
        end_line: 1,
        text: 'deny outside_delegation unless action in pay.* and (payload.amount <= 50 and payload.vendor == "Uline")',
      },
    });
    const link = conditions.find((one) => one.rule === 'outside_delegation/link_2');
    expect(link?.lines.map(({ text, value }) => `${text}: ${value}`)).toEqual(
      expect.arrayContaining(['payload.amount <= 50: false', 'payload.amount: 51']),
    );
    expect(conditions.find((one) => one.rule === 'outside_delegation/link_1')?.truth).toBe('false');
    expect(tryRequest(laid, { recorded: record }).decision).toMatchObject({
      decision: 'DENY',
      rule: 'outside_delegation/link_2',
    });
  });

  it('is explained by the actions of the link, and by a link that does not fit the policies', () => {
    const outside = explainRecord(laid, recordOf([buyer], 'mail.send', { to: 'ann' }));
    expect(outside.conditions[1]?.lines.map(({ text, truth }) => [text, truth])).toContainEqual([
      'action in pay.*',
      'false',
    ]);
    const unfit = { ...buyer, when: 'payload.total <= 5' };
    const { rule } = explainRecord(laid, recordOf([unfit], 'pay.send', { amount: 1, vendor: 'Uline' }));
    expect(rule?.text).toMatch(/\(payload\.total <= 5\) # does not fit these policies$/);
  });
});
