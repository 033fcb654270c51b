// Conditions as the grammar takes them, most of which make no sense: any operator between any operands, calls
// with any arguments, lists of anything.

import fc from 'fast-check';
import { builtins } from '../../src/language/model/builtins.ts';

/** A file with the condition, as that of a rule, as a let and in a claim, and with the approver of a rule. */
export function conditionText([condition, approver]: readonly [string, string]): string {
  return `${declarations}
let own = ${condition}
policy p on a.b {
  deny q when ${condition}
  allow r when own
  escalate s to ${approver}
}
guarantee g on a.b {
  always ask ${approver.replace(/ (?:except|within) .*/, '').replaceAll(' and ', ' or ')} when ${condition}
}
`;
}

const declarations = `type tier = "low" | "high"
list words = ["a", "b"]
list sizes = [1, 2]
list nets = ["10.0.0.0/8"]
table limits = { USD: 5 USD, EUR: 7 USD }
hours office = mon-fri 09:00-17:00 in "Europe/Berlin"
let strange = payload.n > 3 or payload.s == "a"
let names = ["x", "y"]
let cap = limits[payload.currency]
let close(n: number) = n > 3 and some x in payload.xs (x == payload.s)
let known(k: string) = k in limits or (limits[k] else 1 USD) > 3 USD
let big = 7
table staff pushed by "crm" key id: string { boss?: email, desk: "finance" | "owner", sizes: [number], ok?: boolean }
approvers finance "Finance"
let row = staff[payload.s]
let who = payload.who
let named(one: { name: string, nick?: string }, all: [string]) = one.name in all or one has nick
meter used = sum(payload.n) of a.b per agent over 24h
action a.b {
  n: number, i?: integer 0..9, s: string, e: "a" | "b", tier?: tier | null, m: money(currency), currency: "USD" | "EUR"
  d: date, at: timestamp, wall: datetime, b: boolean, ip: ip, url: url, host: host, path: path, mail: email
  xs: [string] 1.., ns?: [number], rows: [{ k: string, v?: number }], any: any, pin: secret string, ok: signed boolean
  who: { name: string, nick?: string }, zone: "UTC" | "Asia/Tokyo", lead: signed by "crm" email
}`;

const fields =
  'n i s e tier m currency d at wall b ip url host path mail xs ns rows any pin ok who zone lead nothing'.split(
    ' ',
  );
const operand = fc.constantFrom(
  ...fields.map((field) => `payload.${field}`),
  ...['payload', 'payload.rows.k', 'x', 'x.k', 'x.v', 'agent.id', 'agent.tags', 'agent.risk_tier', 'agent'],
  ...['request.ip', 'request.user.roles', 'action.key', 'now', 'risk', 'today in "Europe/Berlin"'],
  ...['words', 'sizes', 'nets', 'office', 'limits', 'strange', 'names', 'big', 'used', 'unknown'],
  ...['row', 'row.boss', 'row.desk', 'row.ok', 'row.sizes', 'row.nothing', 'who', 'who.name', 'who.nick'],
  ...[
    'staff[payload.s]',
    'staff[payload.s].boss',
    'staff["a"].sizes',
    'staff[row.boss].ok',
    'payload.who.nick',
  ],
  ...['limits[payload.currency]', 'limits["USD"]', 'limits[x.k]', 'office["a"]'],
  ...['5', '-1', '0.5', '5 USD', '1 XXX', '15m', '2026-12-25', '2026-12-25T09:00Z', '09:00', '18 years'],
  ...['"a"', "'a+'", '"10.0.0.0/8"', '"*.example.com"', '""', 'true', 'false', 'null', '[]'],
);
const sensible = fc.constantFrom(
  ...['payload.n > 3', 'payload.s in ["a", "b"]', 'payload.s in words', 'payload.e == "a"', 'payload.b'],
  ...['payload.m <= 5 USD', 'payload.d > today in "UTC"', 'now in office', 'payload.ip in "10.0.0.0/8"'],
  ...['payload has i', '"a" in payload.xs', 'some x in payload.rows (x.k == "a")'],
  ...['every x in payload.xs (x like "a*")', 'sum x in payload.rows (x.v else 0) > 3', 'strange', 'used > 5'],
  ...[
    'row has boss',
    'row.ok else true',
    'who has nick',
    'payload.xs starts with ["a"]',
    'named(who, payload.xs)',
  ],
  ...[
    'date(payload.at, payload.zone) > payload.d',
    'quantity(payload.s) > 3',
    'join(payload.s, "/") == "a/"',
  ],
  ...['some c in commands(payload.s) (c.words starts with ["run", "test"])', 'payload.lead == row.boss'],
  ...['payload.host within "example.com"', 'payload.url like "https://*"', 'payload.path inside "/srv"'],
  ...['payload.s mentions any of words', 'payload.s is single_script', 'limits[payload.currency] > 3 USD'],
  ...[
    'agent.risk_tier in ["low", "medium"]',
    'length(payload.s) > 3',
    'payload.at > now - 15m',
    'payload.ok',
  ],
);
const operator = fc.constantFrom(
  ...['and', 'or', '==', '!=', '<', '<=', '>', '>=', 'in', 'not in', '+', '-', '*', '/'],
  ...['like', 'matches', 'starts with', 'ends with', 'contains', 'inside', 'within', 'mentions any of'],
  ...['like any of', 'matches any of', 'starts with any of', 'contains any of', 'inside any of'],
);

const soundApprover = fc.constantFrom(
  'owner',
  'finance within 1h',
  'row.boss',
  'row.desk or owner',
  'finance',
  'finance within 1h then to row.desk or owner',
  'row.boss within 1h then to finance within 2h then to owner',
);
/** Approvers of any kind, joined, most of whom nobody can be. */
const oddApprover = fc
  .tuple(
    fc.array(fc.oneof(fc.constantFrom('staff[payload.s].boss', 'payload.lead'), soundApprover, operand), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.constantFrom(' and ', ' or '),
    fc.constantFrom('', ' needs 2', ' except payload.s', ' needs 2 within 1h'),
  )
  .map(([approvers, joint, rest]) => approvers.join(joint) + rest);

/** The text of any approvers: groups, rows, fields and values of any kind, joined. */
export const anyApprover: fc.Arbitrary<string> = fc.oneof(soundApprover, oddApprover);

/** The text of any condition. */
export const anyCondition: fc.Arbitrary<string> = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 3, arbitrary: operand },
    { weight: 6, arbitrary: sensible },
    {
      weight: 4,
      arbitrary: fc
        .tuple(tie('condition'), fc.constantFrom('and', 'or'), sensible)
        .map(([a, by, b]) => `(${a} ${by} ${b})`),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(tie('condition'), operator, tie('condition'))
        .map(([a, by, b]) => `(${a} ${by} ${b})`),
    },
    fc.tuple(fc.constantFrom('not ', '-'), tie('condition')).map((parts) => parts.join('')),
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((entries) => `[${entries.join(', ')}]`),
    fc
      .tuple(fc.constantFrom('some', 'every', 'no', 'count', 'sum'), tie('condition'), tie('condition'))
      .map(([quantifier, list, body]) => `(${quantifier} x in ${list} (${body}))`),
    fc
      .tuple(
        fc.constantFrom(...Object.keys(builtins), 'unknown'),
        fc.array(tie('condition'), { maxLength: 3 }),
      )
      .map(([name, args]) => `${name}(${args.join(', ')})`),
    fc.tuple(operand, tie('condition')).map(([subject, fallback]) => `(${subject} else (${fallback}))`),
    fc.tuple(operand, fc.constantFrom(...fields)).map(([subject, field]) => `(${subject} has ${field})`),
    operand.map((subject) => `(${subject} is single_script)`),
    fc
      .tuple(sensible, tie('condition'), tie('condition'))
      .map(([test, a, b]) => `(if ${test} then (${a}) else ${b})`),
    fc.tuple(sensible, tie('condition')).map(([test, a]) => `(if ${test} then (${a}))`),
    fc
      .tuple(fc.constantFrom('close', 'known', 'strange', 'named'), tie('condition'), operand)
      .map(([name, arg, other]) => `${name}(${arg}${name === 'named' ? `, ${other}` : ''})`),
    fc.tuple(operand, tie('condition')).map(([subject, text]) => `(${subject} starts with [${text}])`),
    fc.tuple(operand, operand, operand).map(([value, low, high]) => `(${value} in ${low}..${high})`),
  ),
})).condition;
