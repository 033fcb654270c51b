// Amounts of money are in whole units of their currency, in every place that takes one: payloads, results,
// rows, lists, literals, given readings; and what is made by provers is such an amount.

import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { nothingSatisfied } from '../../../src/language/model/request.ts';
import { checkPayload } from '../../../src/language/spec/payload.ts';
import { compile } from '../../../src/pipeline.ts';
import { inUnits } from '../../../src/reasoning/cells/units.ts';
import { smallestChange } from '../../../src/reasoning/counterfactual/change.ts';
import { randomRequest, requestSource } from '../../../src/reasoning/guarantees/request.ts';
import { proveGuarantees } from '../../../src/reasoning/prove/prove.ts';

const shape = `action bill.pay {
  amount: money(currency) -1_000_000..1_000_000_000, currency: "USD" | "JPY" | "KWD" | "CLF" | "XAU"
  lines?: [{ fee: money(currency) | null, own?: { net: money(unit), unit: string } }]
}`;

function compiled(text: string, files: Readonly<Record<string, string>> = {}) {
  return compile({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) =>
      files[path] === undefined
        ? { code: 'list-file-missing', message: path }
        : { text: files[path], digest: path },
  });
}

function setOf(text: string) {
  const { set, engine, diagnostics } = compiled(text);
  if (set === null || engine === null) throw new Error(JSON.stringify(diagnostics));
  return { set, engine };
}

describe('a payload', () => {
  const { set, engine } = setOf(`${shape}\npolicy p on bill.pay { allow all }`);
  const own = (net: number, unit: string) => ({
    amount: 1,
    currency: 'JPY',
    lines: [{ fee: 1, own: { net, unit } }],
  });
  const whole = 'must be whole, since its currency has no smaller unit';
  const places = (digits: number) => `must have at most ${digits} decimal places, as its currency has`;

  it.each<[JsonObject, [string, string] | null]>([
    [{ amount: 1, currency: 'JPY' }, null],
    [{ amount: 0.5, currency: 'JPY' }, ['/amount', whole]],
    [{ amount: -0.5, currency: 'JPY' }, ['/amount', whole]],
    [{ amount: 1e-7, currency: 'JPY' }, ['/amount', whole]],
    [{ amount: 0.29, currency: 'USD' }, null],
    [{ amount: 0.001, currency: 'USD' }, ['/amount', places(2)]],
    [{ amount: 123456.785, currency: 'USD' }, ['/amount', places(2)]],
    [{ amount: 1.005, currency: 'KWD' }, null],
    [{ amount: 1.0005, currency: 'KWD' }, ['/amount', places(3)]],
    [{ amount: 1.0005, currency: 'CLF' }, null],
    [{ amount: 1.00005, currency: 'CLF' }, ['/amount', places(4)]],
    [{ amount: 1.0000001, currency: 'XAU' }, null],
    [{ amount: 1, currency: 'JPY', lines: [{ fee: null }, { fee: 0.5 }] }, ['/lines/1/fee', whole]],
    [own(0.5, 'USD'), null],
    [own(0.005, 'USD'), ['/lines/0/own/net', places(2)]],
    [
      own(5, 'usd'),
      [
        '/lines/0/own/net',
        'must be money(unit): a number, with a currency code of ISO 4217 such as "USD" in `unit`',
      ],
    ],
  ])('%j', (payload, fault) => {
    const expected = fault === null ? [] : [{ pointer: fault[0], message: fault[1] }];
    expect(engine.checkPayload('bill.pay', payload)).toEqual(expected);
    expect(checkPayload(set.actions.get('bill.pay')!.shape, payload)).toEqual(expected);
    const facts = { agent: {}, request: {}, nowMs: 0, meters: {}, satisfied: nothingSatisfied };
    expect(engine.decide({ ...facts, action: 'bill.pay', payload }).outcome).toBe(fault ? 'DENY' : 'ALLOW');
  });
});

test.each([
  [
    'a table file',
    'table caps from "caps.csv" key id: string { cap: money(unit), unit: string }',
    'payload.amount > caps["a"].cap',
    { 'caps.csv': 'id,cap,unit\na,5,USD\nb,0.5,JPY\n' },
  ],
])('%s with a finer amount is refused', (_name, declared, condition, files) => {
  const text = `${shape}\n${declared}\npolicy p on bill.pay { allow all\n deny d when ${condition} }`;
  const [[path, content]] = Object.entries(files) as [[string, string]];
  const good = { [path]: content.replace('0.5', '2') };
  const errors = (given: Record<string, string>) =>
    compiled(text, given).diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors(good)).toEqual([]);
  expect(errors(files)).toHaveLength(1);
});

describe('a claim', () => {
  const verdictOf = (rules: string, claim: string, fields = shape) => {
    const text = `${fields}\nmeter spent = sum(payload.amount) of bill.pay per agent, payload.currency over 24h
policy p on bill.pay { allow all\n ${rules} }\nguarantee g on bill.pay { ${claim} }`;
    const { set } = setOf(text);
    const [verdict] = proveGuarantees(set);
    return { kind: verdict!.kind, set, verdict: verdict!.verdicts[0]! };
  };

  it.each([
    ['deny d when payload.amount >= 5 JPY', 'never allow when payload.amount > 4 JPY', 'proved'],
    ['deny d when payload.amount >= 5 USD', 'never allow when payload.amount > 4.99 USD', 'proved'],
    ['deny d when payload.amount >= 5 USD', 'never allow when payload.amount > 4.98 USD', 'refuted'],
    ['deny d when payload.amount >= 5 KWD', 'never allow when payload.amount > 4.99 KWD', 'refuted'],
    ['deny d when payload.amount >= 5 KWD', 'never allow when payload.amount > 4.999 KWD', 'proved'],
    ['deny d when payload.amount >= 5 CLF', 'never allow when payload.amount > 4.9999 CLF', 'proved'],
    ['deny d when payload.amount >= 5 XAU', 'never allow when payload.amount > 4.9999 XAU', 'refuted'],
    ['', 'never allow when payload.amount * 2 > 5 JPY and payload.amount * 2 < 7 JPY', 'refuted'],
    ['deny d when payload.amount > 100 JPY', 'never allow when payload.amount > 99 JPY', 'refuted'],
    ['deny d when payload.amount >= 0.5 KWD', 'never allow when payload.amount >= 0.4 KWD', 'refuted'],
  ])('%s; %s: %s', (rules, claim, kind) => {
    const { kind: found, verdict, set } = verdictOf(rules, claim);
    expect(found).toBe(kind);
    if (verdict.kind !== 'refuted') return;
    const action = set.actions.get('bill.pay')!;
    expect(checkPayload(action.shape, verdict.facts.payload as JsonObject)).toEqual([]);
  });

  it.each(['JPY', 'USD', 'KWD'])('of a sum is refuted by a payload in whole units of %s', (code) => {
    const rules = `deny d unless payload.currency == "${code}" and spent <= 1_000 ${code}`;
    const { kind, verdict, set } = verdictOf(rules, `never allow when payload.amount * 3 > 1_000 ${code}`);
    expect(kind).toBe('refuted');
    if (verdict.kind !== 'refuted') return;
    expect(checkPayload(set.actions.get('bill.pay')!.shape, verdict.facts.payload as JsonObject)).toEqual([]);
  });
});

test('a payload that is made of other numbers is rounded to units that its type admits', () => {
  const { shape: fields } = setOf(`${shape}\npolicy p on bill.pay { allow all }`).set.actions.get(
    'bill.pay',
  )!;
  const made = (amount: number, currency: string) =>
    inUnits(fields, { amount, currency, lines: [{ fee: 0.5 }] });
  expect(made(2.5, 'JPY')).toEqual({ amount: 2, currency: 'JPY', lines: [{ fee: 0 }] });
  expect(made(-1_000_000.5, 'JPY')).toMatchObject({ amount: -1_000_000 - 1 + 1 });
  expect(made(2.505, 'USD')).toEqual({ amount: 2.5, currency: 'USD', lines: [{ fee: 0.5 }] });
  expect(made(2.50505, 'XAU')).toMatchObject({ amount: 2.50505 });
});

test('random requests have payloads in whole units', () => {
  const { set } = setOf(
    `${shape}\npolicy p on bill.pay { allow all when payload.amount < 0.15 KWD and payload.currency == "JPY" }`,
  );
  const action = set.actions.get('bill.pay')!;
  const source = requestSource(set, 7);
  const payloads = Array.from({ length: 300 }, () => randomRequest(source, action).payload as JsonObject);
  expect(payloads.filter(({ currency }) => currency === 'JPY').length).toBeGreaterThan(20);
  const faults = payloads.flatMap((payload) => checkPayload(action.shape, payload));
  expect(faults.filter(({ message }) => /whole|decimal places/.test(message))).toEqual([]);
});

test.each([
  ['JPY', '500'],
  ['USD', '500.49'],
  ['KWD', '500.499'],
])('the smallest change of an amount in %s is a unit of it', (currency, most) => {
  const { set, engine } = setOf(
    `${shape}\npolicy p on bill.pay { allow all when payload.amount * 2 < 1_001 ${currency} }`,
  );
  const facts = {
    action: 'bill.pay',
    payload: { amount: 700, currency },
    agent: {},
    request: {},
    nowMs: 0,
    meters: {},
    satisfied: nothingSatisfied,
  };
  const texts = smallestChange(set, facts, { decide: engine.decide }).map(({ text }) => text);
  expect(texts).toEqual([`ALLOW if payload.amount <= ${most} ${currency}`]);
});
