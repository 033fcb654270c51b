// Counterfactuals case by case: the policy, the request, and the lines that people read.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../../src/language/model/request.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { compile } from '../../../src/pipeline.ts';
import { type SmallestChange, smallestChange } from '../../../src/reasoning/counterfactual/change.ts';

/** Monday, 10:00 in Berlin. */
const monday = Date.UTC(2026, 2, 2, 9);

interface Asked {
  readonly payload?: JsonObject;
  readonly agent?: Facts['agent'];
  readonly request?: Facts['request'];
  readonly meters?: Facts['meters'];
  readonly nowMs?: number;
}

function reading(amount: number): Facts['meters'][string] {
  return { low: fromNumber(amount), high: fromNumber(amount) };
}

function changesOf(text: string, asked: Asked): readonly SmallestChange[] {
  const { set, engine, diagnostics } = compile({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  if (set === null || engine === null) throw new Error(JSON.stringify(diagnostics));
  const { payload = {}, agent = {}, request = {}, meters = {}, nowMs = monday } = asked;
  const facts: Facts = { action: 'a.b', payload, agent, request, meters, nowMs, satisfied: nothingSatisfied };
  return smallestChange(set, facts, { decide: engine.decide });
}

function linesOf(text: string, asked: Asked): readonly string[] {
  return changesOf(text, asked).map((change) => change.text);
}

interface Case extends Asked {
  readonly name: string;
  readonly fields?: string;
  readonly declared?: string;
  readonly rules: string;
  readonly lines: readonly string[];
}

const payments = {
  fields: 'amount: money(currency) 0.01.. \n currency: "USD" \n vendor: string',
  declared:
    'approvers finance "Finance"\nlist known = ["Staples", "Uline", "Grainger", "Acme"]\nlist blocked ignoring case = ["Shady  Traders"]',
  rules: `allow known_vendor when payload.vendor in known and payload.amount <= 10_000 USD
    allow new_vendor after approval by finance when payload.vendor not in known and payload.amount <= 2_000 USD
    escalate large to finance needs 2 when payload.amount > 1_000 USD
    deny blocked_vendor when payload.vendor in blocked`,
};

const cases: readonly Case[] = [
  {
    name: 'a limit, on the side that is milder',
    ...payments,
    payload: { amount: 15_000, currency: 'USD', vendor: 'Uline' },
    lines: ['ALLOW if payload.amount <= 1000 USD', 'ESCALATE if payload.amount <= 10000 USD'],
  },
  {
    name: 'what people can do',
    ...payments,
    payload: { amount: 1_500, currency: 'USD', vendor: 'Uline' },
    lines: ['ALLOW if payload.amount <= 1000 USD', 'ALLOW once finance (2 people) approve'],
  },
  {
    name: 'a list, with the first of its entries',
    ...payments,
    payload: { amount: 5, currency: 'USD', vendor: 'Other' },
    lines: [
      'ALLOW if payload.vendor in known ("Staples", "Uline", "Grainger", ...)',
      'ALLOW once finance (1 person) approves',
    ],
  },
  {
    name: 'two places where one does not do',
    ...payments,
    payload: { amount: 5_000, currency: 'USD', vendor: 'Other' },
    lines: [
      'ESCALATE if payload.amount <= 2000 USD',
      'ESCALATE if payload.vendor in known ("Staples", "Uline", "Grainger", ...)',
      'ALLOW if payload.amount <= 1000 USD and payload.vendor in known ("Staples", "Uline", "Grainger", ...)',
    ],
  },
  {
    name: 'the boundaries of a grant, the nearest first',
    ...payments,
    payload: { amount: 900, currency: 'USD', vendor: 'Uline' },
    lines: [
      'ESCALATE if payload.amount > 1000 USD',
      'DENY if payload.amount > 10000 USD',
      'ESCALATE if payload.vendor not in known',
      'DENY if payload.vendor in blocked ("Shady  Traders")',
    ],
  },
  {
    name: 'both ends of a range',
    fields: 'n: integer',
    rules: 'allow some_n when payload.n in 10..20',
    payload: { n: 30 },
    lines: ['ALLOW if payload.n >= 10 and payload.n <= 20'],
  },
  {
    name: 'a limit that stands in no condition',
    fields: 'price: number 0.. \n count: integer 1..',
    rules: 'allow cheap when payload.price * payload.count <= 100',
    payload: { price: 30, count: 7 },
    lines: ['ALLOW if payload.price <= 14.28', 'ALLOW if payload.count <= 3'],
  },
  {
    name: 'values of an enumeration, and a truth value',
    fields: 'kind: "a" | "b" | "c" \n urgent: boolean',
    rules: 'allow calm when payload.kind != "a" and not payload.urgent',
    payload: { kind: 'a', urgent: false },
    lines: ['ALLOW if payload.kind in ["b", "c"]'],
  },
  {
    name: 'an optional field that has to come, or to go',
    fields: 'note?: string \n code?: integer',
    rules: 'allow plain_one when payload has note and not (payload has code)',
    payload: { code: 1 },
    lines: ['ALLOW if payload has note and not (payload has code)'],
  },
  {
    name: 'null',
    fields: 'end: date | null',
    rules: 'allow open when payload.end == null',
    payload: { end: '2026-01-01' },
    lines: ['ALLOW if payload.end == null'],
  },
  {
    name: 'text by the condition that it has to meet',
    fields: 'file: path \n note: string',
    rules: `allow inside_one when payload.file inside "/workspace" and length(payload.note) <= 3
      deny hidden when payload.note contains "key"`,
    payload: { file: '/etc/passwd', note: 'x' },
    lines: ['ALLOW if payload.file inside "/workspace"'],
  },
  {
    name: 'text that holds too much',
    fields: 'note: string',
    rules: 'allow short when length(payload.note) <= 3',
    payload: { note: 'far too long' },
    lines: ['ALLOW if length(payload.note) <= 3'],
  },
  {
    name: 'addresses by their domain and host',
    fields: 'to: email \n link: url',
    rules: 'allow own when domain(payload.to) == "example.com" and host(payload.link) == "docs.example.com"',
    payload: { to: 'a@example.org', link: 'https://docs.example.com/x' },
    lines: ['ALLOW if domain(payload.to) == "example.com"'],
  },
  {
    name: 'the elements of a list',
    fields: 'to: [string] 1..',
    declared: 'list friends = ["ann", "bob"]',
    rules: 'allow to_friends when every x in payload.to (x in friends)',
    payload: { to: ['ann', 'eve'] },
    lines: ['ALLOW if every x in payload.to (x in friends)'],
  },
  {
    name: 'the fields of records in a list',
    fields: 'lines: [{ sku: string, quantity: integer 1.. }] 1..',
    rules: 'allow few when every line in payload.lines (line.quantity <= 10)',
    payload: {
      lines: [
        { sku: 'a', quantity: 2 },
        { sku: 'b', quantity: 12 },
      ],
    },
    lines: ['ALLOW if every line in payload.lines (line.quantity <= 10)'],
  },
  {
    name: 'dates and times',
    fields: 'due: date 2026-01-01.. \n at: timestamp',
    rules: 'allow soon when payload.due < 2026-06-01 and payload.at >= 2026-03-01T00:00:00Z',
    payload: { due: '2026-07-15', at: '2026-03-02T00:00:00Z' },
    lines: ['ALLOW if payload.due < 2026-06-01'],
  },
  {
    name: 'the registry, apart from the payload',
    fields: 'n: integer',
    rules: 'allow low_risk when agent.risk_tier in ["low", "medium"] and "eu" in agent.tags',
    payload: { n: 1 },
    agent: { risk_tier: 'high', tags: ['eu'] },
    lines: ['ALLOW if agent.risk_tier in ["low", "medium"]'],
  },
  {
    name: 'the time to come, to the minute',
    declared: 'hours office = mon-fri 09:00-17:00 in "Europe/Berlin"',
    rules: 'allow at_work when now in office',
    nowMs: Date.UTC(2026, 2, 7, 12),
    lines: ['ALLOW if now in office (from 2026-03-09T08:00:00Z)'],
  },
  {
    name: 'a signature',
    fields: 'paid: signed boolean',
    rules: 'allow vouched when payload.paid',
    payload: { paid: true },
    request: { signed: false },
    lines: ['ALLOW if request.signed == true'],
  },
  {
    name: 'a group of the person behind the agent',
    rules: 'allow deployers when "deployers" in request.user.groups',
    request: { user: { id: 'ann', groups: ['others'] } },
    lines: ['ALLOW if "deployers" in request.user.groups'],
  },
  {
    name: 'a reading, and what the request adds to it',
    fields: 'amount: money(currency) 1.. \n currency: "USD"',
    declared: 'meter spent = sum(payload.amount) in USD of a.b per agent over 24h',
    rules: 'allow any_amount \n deny budget when spent > 1_000 USD',
    payload: { amount: 300, currency: 'USD' },
    meters: { spent: reading(1_120) },
    lines: ['ALLOW if payload.amount <= 180 USD', 'ALLOW if spent <= 1000 USD'],
  },
  {
    name: 'a reading that is not known',
    fields: 'n: integer',
    declared: 'meter runs = count() of a.b per agent over 24h',
    rules: 'allow any_run \n deny often when runs > 5',
    payload: { n: 1 },
    lines: ['ALLOW if runs <= 5'],
  },
  {
    name: 'both that people are asked for',
    fields: 'n: integer',
    declared: 'approvers finance "Finance"',
    rules: 'allow asked \n escalate ask to finance \n reauth step within 15m',
    payload: { n: 1 },
    lines: [
      "ALLOW once finance (1 person) approves and the agent's control owner steps up",
      "ESCALATE once the agent's control owner steps up",
    ],
  },
  {
    name: 'risk by the conditions that add to it',
    fields: 'n: integer \n note?: string',
    declared: 'approvers finance "Finance"',
    rules: 'allow any_n \n risk silent +40 unless payload has note \n risk many +40 when payload.n > 5',
    payload: { n: 9 },
    lines: [],
  },
];

const risky = 'policy q on a.b {\n escalate risky to finance when risk >= 60\n}';

describe('smallestChange', () => {
  it.each(cases)('names $name', ({ fields = '', declared = '', rules, lines, ...asked }) => {
    const policy = `action a.b {\n ${fields}\n}\n${declared}\npolicy p on a.b {\n${rules}\n}`;
    expect(linesOf(policy, asked)).toEqual(lines);
  });

  it('sees through risk to what it is made of', () => {
    const { fields, declared, rules } = cases.at(-1) as Required<Case>;
    const policy = `action a.b {\n ${fields}\n}\n${declared}\npolicy p on a.b {\n${rules}\n}\n${risky}`;
    expect(linesOf(policy, { payload: { n: 9 } })).toEqual([
      'ALLOW if payload.n <= 5',
      'ALLOW if payload has note',
      'ALLOW once finance (1 person) approves',
    ]);
  });

  it('says whose word each part is', () => {
    const policy =
      'action a.b { n: integer }\npolicy p on a.b { allow x when payload.n < 5 and request.signed }';
    const [change] = changesOf(policy, { payload: { n: 7 }, request: { signed: false } });
    expect(change?.parts).toEqual([
      { of: 'payload', text: 'payload.n < 5' },
      { of: 'request', text: 'request.signed == true' },
    ]);
  });

  it('shows no value of a secret', () => {
    const policy = `action a.b { pin?: secret string, n: integer }
      policy p on a.b { allow x when payload has pin and payload.n < 5 }`;
    const shown = [
      ...changesOf(policy, { payload: { pin: 'hunter2', n: 7 } }),
      ...changesOf(policy, { payload: { pin: 'hunter2', n: 1 } }),
      ...changesOf(policy, { payload: { n: 1 } }),
    ].map(({ text, parts }) => ({ text, parts }));
    expect(shown.map(({ text }) => text)).toEqual([
      'ALLOW if payload.n < 5',
      'DENY if payload.n >= 5',
      'DENY if not (payload has pin)',
      'ALLOW if payload has pin',
    ]);
    expect(JSON.stringify(shown)).not.toContain('hunter2');
  });

  it('has nothing to say about what the gate refuses', () => {
    const policy = 'action a.b { n: integer }\npolicy p on a.b { allow x when payload.n < 5 }';
    expect(linesOf(policy, { payload: { n: 'x' } })).toEqual([]);
  });

  it('keeps control characters of list entries out of the terminal', () => {
    const policy = `action a.b { v: string }
      list odd = ["a\\u001b[31m"]
      policy p on a.b { allow x when payload.v in odd }`;
    expect(linesOf(policy, { payload: { v: 'b' } })).toEqual(['ALLOW if payload.v in odd ("a\\u001b[31m")']);
  });
});
