// Unknown facts, case by case: a condition, a request, and the reason for each unknown part.

import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../../src/language/model/request.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { compile } from '../../../src/pipeline.ts';
import { unknownFacts } from '../../../src/reasoning/counterfactual/unknown-facts.ts';

const declared = `action a.b {
  line:     string
  to:       [email] ..5
  link:     url
  amount:   money(currency) 0..
  currency: "USD" | "EUR"
  n:        number 0..
  note?:    string
  parent:   string | null
  token:    signed string
  mark:     signed by "gateway" string
}
table orders from "orders.csv" key id: string { owner: string, limit?: number }
table tickets pushed by "desk" key id: string { assignee: string, size?: number }
meter spent = sum(payload.n) of a.b per agent over 24h
meter paid = sum(payload.amount) of a.b per agent, payload.currency over 24h
let cheap = payload.amount < 5 USD
`;

function unknownIn(condition: string, payload: JsonObject, given: Partial<Facts>): readonly string[] {
  const { set, diagnostics } = compile({
    files: [{ path: 'a.policy', text: `${declared}policy p on a.b { deny d when ${condition} }` }],
    readListFile: (path) =>
      path === 'owners.yaml'
        ? { code: 'list-file-missing', message: 'there is none' }
        : { text: 'id,owner,limit\no-1,ann,\n' },
  });
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  const sent = {
    line: 'ls',
    to: [],
    link: 'https://example.com/',
    amount: 5,
    currency: 'EUR',
    n: 0,
    parent: null,
    token: 't',
    mark: 'm',
    ...payload,
  };
  const facts: Facts = {
    action: 'a.b',
    payload: sent,
    agent: {},
    request: {},
    nowMs: Date.UTC(2026, 2, 2),
    meters: {},
    satisfied: nothingSatisfied,
    ...given,
  };
  return unknownFacts(set, facts).map(
    ({ name, why, help }) => `${name}: ${why}${help === null ? '' : `; ${help}`}`,
  );
}

const noAnswer = 'has no exact answer: it divides by zero, overflows or brings two currencies together';
const rows = { given: { tickets: { 't-1': { assignee: 'ann' } } }, areAll: true };

interface Case {
  readonly condition: string;
  readonly payload?: JsonObject;
  readonly given?: Partial<Facts>;
  readonly lines: readonly string[];
}

const cases: readonly Case[] = [
  {
    condition: 'some c in commands(payload.line) (c.program == "rm")',
    payload: { line: 'npm x y' },
    lines: ['commands(payload.line): `npm x y` may start a command that the line does not name'],
  },
  { condition: 'some c in commands(payload.line) (c.program == "rm")', lines: [] },
  { condition: 'agent.risk_tier == "high"', lines: ['agent.risk_tier: the registry has no such attribute'] },
  {
    condition: 'request.user.email == "ann@example.com" or request.session == "s"',
    lines: [
      'request.user.email: no verified token names the person behind the agent',
      'request.session: the host does not say',
    ],
  },
  {
    condition: 'request.ip in "10.0.0.0/8"',
    given: { request: { ip: 'x' } },
    lines: ['request.ip: it is no IP address'],
  },
  { condition: 'spent > 5', lines: ['spent: there is no reading of this meter'] },
  {
    condition: 'spent > 5',
    given: { meters: { spent: { low: fromNumber(0), high: fromNumber(9) } } },
    lines: ['spent: requests are pending: between 0 and 9'],
  },
  {
    condition: 'payload.token == "t" or payload.mark == "m"',
    lines: [
      'payload.token: the request carries no signature',
      'payload.mark: the request does not come by the enforcement point `gateway`',
    ],
  },
  {
    condition: 'orders[payload.line].owner == "ann" or orders["o-1"].limit > 5',
    lines: [
      'orders[payload.line].owner: `orders` has no row `ls`',
      'orders["o-1"].limit: the row `o-1` has no `limit`',
    ],
  },
  {
    condition: 'tickets[payload.line].assignee == "ann" or tickets["t-1"].size > 5',
    given: { rows },
    lines: [
      'tickets[payload.line].assignee: `tickets` has no row `ls`',
      'tickets["t-1"].size: the row `t-1` has no `size`',
    ],
  },
  {
    condition: 'tickets[payload.line].assignee == "ann" or payload.line in tickets',
    lines: [
      'tickets[payload.line].assignee: the row is not given',
      'payload.line in tickets: the row is not given',
    ],
  },
  {
    condition: 'cheap',
    lines: [
      'payload.amount < 5 USD: amounts in EUR and USD are never compared; test the currency first: `payload.currency == "USD" and ...`, or compare with a table by currency, `limits[payload.currency]`',
    ],
  },
  {
    condition: 'paid > 5 USD',
    given: { meters: { paid: { low: fromNumber(1), high: fromNumber(1) } } },
    lines: [
      'paid > 5 USD: amounts in EUR and USD are never compared; test the currency first: `payload.currency == "USD" and ...`, or compare with a table by currency, `limits[payload.currency]`',
    ],
  },
  { condition: '1 / payload.n > 5', lines: [`1 / payload.n: ${noAnswer}`] },
  {
    condition: 'some link in links(payload.line) (ip(host(link)) in "10.0.0.0/8")',
    payload: { line: 'see https://example.com/ and more' },
    lines: ['ip(host(link)): the host is a name, not an address'],
  },
  {
    condition: 'port(payload.link) == 22 or quantity(payload.line) > 5',
    payload: { link: 'ssh2://example.com/' },
    lines: [
      'port(payload.link): there is no port, and the scheme has no usual one',
      'quantity(payload.line): the text is not a number with a unit',
    ],
  },
  { condition: 'payload has note and payload.note == "x"', lines: [] },
  { condition: 'payload.parent != null and payload.parent == "x"', lines: [] },
  {
    condition: '(if payload.n == 0 then agent.id else agent.name) == "a"',
    lines: ['agent.id: the registry has no such attribute'],
  },
];

it.each(cases)('$condition', ({ condition, payload = {}, given = {}, lines }) => {
  expect(unknownIn(condition, payload, given)).toEqual(lines);
});
