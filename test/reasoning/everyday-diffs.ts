// Everyday edits of one set of policies: a limit, a field, a guard, a group, a currency, a quantifier.

import type { DiffCase } from './diff-cases.ts';

const declared = (changed: Readonly<Record<string, string>> = {}): string =>
  Object.entries(changed).reduce(
    (text, [old, now]) => text.replace(old, now),
    `
approvers finance "Finance"
approvers legal "Legal"
action pay.send { amount: money(currency) 0.01.., currency: "USD" | "EUR", to: string, note?: string }
action doc.share { people: [string], folder: string, public: boolean, links: [{ host: string, tags: [string] }] }
list partners = ["acme", "initech"]
`,
  );

const small = 'policy p on pay.send { allow small when payload.amount <= 1_000 USD }';
const team = (guard: string): string =>
  `${declared()} policy q on doc.share { allow team when payload.folder == "team" ${guard} }`;
const asking = (limit: string, group = 'finance'): string =>
  `${declared()} policy p on pay.send {
    allow small when payload.amount <= ${limit} USD
    allow any after approval by ${group} when payload.amount <= 5_000 USD
  }`;
const shared = (condition: string): string =>
  `${declared()} policy q on doc.share { allow all when ${condition} }`;
const tagged = (quantifier: string): string =>
  shared(`some l in payload.links (l.host == "intra" and ${quantifier} t in l.tags (t == "ok"))`);
const partners = `policy p on pay.send { allow partner when payload.to in partners  allow any after approval by finance }`;

const posted = (condition: string): string =>
  `list own = ["www.our.example", "todo.example"]
  action page.post { url: url, at: path, size: number, width: number }
  policy p on page.post { allow own when ${condition} }`;
const sent = (amount: string, note: string, day: string): string =>
  `action pay.note { amount: ${amount}, note: ${note}, ${day} }
  policy p on pay.note { allow small when payload.amount in 0.01..1_000 }`;

const mailed = (condition: string): string =>
  `action mail.send { to: [email] } list own = ["our.example", "ours.example"]
  policy p on mail.send { allow known when ${condition} }`;
const everyTag = 'some l in payload.links (l.host == "intra" and every t in l.tags (t == "ok"))';
const someTag = 'some l in payload.links (l.host == "intra" and some t in l.tags (t == "ok"))';
const noneOf = (text: string): string => text.replace('some', 'no');

const inTwo = (condition: string): string =>
  `${declared()} policy p on pay.send {
    allow payee when ${condition}
    allow more after approval by finance when payload.amount <= 5_000 USD or payload.amount <= 4_000 EUR
  }`;

const noted = (guard: string): string =>
  `list kinds ignoring case = ["Fire"]
  action note.add { text: string, link: url, born: date 1900-01-01..2100-01-01, till: date, lines: [{ count: integer 0..9 }] ..9 }
  policy p on note.add { allow all  deny noted when ${guard} }`;

const standing = (clause: string, group = 'finance'): string =>
  `${declared()} policy p on pay.send { allow all  escalate new to ${group} ${clause} when payload.amount > 9 USD }`;
const perPayee = 'standing per payload.to, session for 8h up to 10 times';
const standingDiff = (
  name: string,
  before: string,
  after: string,
  findings: readonly string[],
): DiffCase => ({
  name: `a standing approval ${name}`,
  before: standing(before),
  after: standing(after),
  findings: findings.map((tier) => `${tier} ESCALATE ESCALATE: payload.amount > 9 USD, or that is unknown`),
});

export const everydayDiffs: readonly DiffCase[] = [
  standingDiff('becomes possible', '', perPayee, ['3']),
  standingDiff('is no longer possible', perPayee, '', ['5']),
  standingDiff('lasts longer', perPayee, perPayee.replace('8h', '9h'), ['3']),
  standingDiff('serves more requests', perPayee, perPayee.replace('10', '11'), ['3']),
  standingDiff('serves any number of requests', perPayee, perPayee.replace(' up to 10 times', ''), ['3']),
  standingDiff('has wider keys', perPayee, perPayee.replace(', session', ''), ['3']),
  standingDiff('has narrower keys', perPayee.replace(', session', ''), perPayee, ['5']),
  standingDiff('is shorter and serves fewer', perPayee, perPayee.replace('8h up to 10', '7h up to 9'), ['5']),
  standingDiff('is shorter and serves more', perPayee, perPayee.replace('8h up to 10', '7h up to 11'), ['3']),
  standingDiff('stays', perPayee, 'standing per session, payload.to for 480m up to 10 times', []),
  {
    name: 'a limit is lowered',
    before: asking('1_000'),
    after: asking('800'),
    findings: ['5 ALLOW ESCALATE: payload.amount > 800 USD and <= 1000 USD'],
  },
  {
    name: 'an optional field has another name',
    before: `${declared()} ${small}`,
    after: `${declared({ 'note?': 'memo?' })} ${small}`,
    findings: [
      '4 DENY ALLOW: payload.memo is there and payload.amount <= 1000 USD',
      '5 ALLOW DENY: payload.note is there and payload.amount <= 1000 USD',
    ],
  },
  {
    name: 'a policy stands before its action',
    before: `${declared()} ${small}`,
    after: `${small} ${declared()}`,
    findings: [],
  },
  {
    name: 'a guard is gone',
    before: team('deny outside when payload.public'),
    after: team(''),
    findings: ['1 DENY ALLOW: payload.public'],
  },
  {
    name: 'a list has one entry more',
    before: `${declared()} ${partners}`,
    after: `${declared({ '"initech"': '"initech", "globex"' })} ${partners}`,
    findings: ['1 ESCALATE ALLOW: payload.to in partners (new: "globex")'],
  },
  {
    name: 'another group is asked',
    before: asking('100'),
    after: asking('100', 'legal'),
    findings: ['3 ESCALATE ESCALATE: payload.amount > 100 USD and <= 5000 USD'],
  },
  {
    name: 'a guarantee is dropped',
    before: `${declared()} ${small} guarantee cap on pay.send { never allow when payload.amount > 1_000 USD }`,
    after: `${declared()} ${small}`,
    findings: [],
  },
  {
    name: 'a limit is in another currency',
    before: `${declared()} ${small}`,
    after: `${declared()} ${small.replace('USD', 'EUR')}`,
    findings: [
      '1 DENY ALLOW: payload.amount <= 1000 EUR',
      '5 ALLOW DENY: payload.amount <= 1000 USD and payload.amount <= 1000 EUR is unknown',
    ],
  },
  {
    name: 'a guard says unless for when',
    before: team('deny odd when payload.public'),
    after: team('deny odd unless payload.public'),
    findings: ['1 DENY ALLOW: payload.public', '5 ALLOW DENY: not payload.public'],
  },
  {
    name: 'every becomes some',
    before: shared('every p in payload.people (p in partners)'),
    after: shared('some p in payload.people (p in partners)'),
    findings: [
      '1 DENY ALLOW: not (every p in payload.people (p in partners)) and some p in payload.people (p in partners)',
      '5 ALLOW DENY: every p in payload.people (p in partners) and no p in payload.people (p in partners)',
    ],
  },
  {
    name: 'every becomes some inside of an element',
    before: tagged('every'),
    after: tagged('some'),
    findings: [
      `1 DENY ALLOW: ${noneOf(everyTag)} and ${someTag}`,
      `5 ALLOW DENY: ${everyTag} and ${noneOf(someTag)}`,
    ],
  },
  {
    name: 'elements in domains, of a list and written out',
    before: mailed('every t in payload.to (domain(t) within own and t != "x@our.example")'),
    after: mailed('every t in payload.to (domain(t) within "our.example")'),
    findings: [
      '1 DENY ALLOW: not (every t in payload.to (domain(t) within own and t != "x@our.example")) and every t in payload.to (domain(t) within "our.example")',
      '5 ALLOW DENY: every t in payload.to (domain(t) within own and t != "x@our.example") and not (every t in payload.to (domain(t) within "our.example"))',
    ],
  },
  {
    name: 'a list of hosts gives way to a domain',
    before: posted('host(payload.url) in own'),
    after: posted('host(payload.url) within "our.example"'),
    findings: [
      '1 DENY ALLOW: host(payload.url) not in own and host(payload.url) ends with ".our.example"',
      '1 DENY ALLOW: host(payload.url) == "our.example"',
      '5 ALLOW DENY: host(payload.url) in own and not (host(payload.url) ends with ".our.example")',
    ],
  },
  {
    name: 'a folder is tested by how a path begins',
    before: posted('payload.at inside "/work"'),
    after: posted('payload.at starts with "/work"'),
    findings: ['1 DENY ALLOW: payload.at starts with "/work" and not (payload.at inside "/work")'],
  },
  {
    name: 'a limit is written as a product and a quotient',
    before: posted('payload.size <= 100 and payload.width > 30'),
    after: posted('payload.size * 0.5 <= 50 and payload.width / 8 > 3.75'),
    findings: [],
  },
  {
    name: 'an instant is an hour later',
    before: posted('now < 2027-01-01T00:00:00Z'),
    after: posted('now < 2027-01-01T01:00:00Z'),
    findings: ['1 DENY ALLOW: now >= 2027-01-01T00:00:00Z and < 2027-01-01T01:00:00Z'],
  },
  {
    name: 'a text may be longer, and a field may be left out',
    before: sent('number 0.01..', 'string ..200', 'day: date'),
    after: sent('number 0..', 'string ..400', 'day?: date'),
    findings: [
      '4 DENY ALLOW: payload.note was not admitted as string ..200 and payload.amount >= 0.01 and <= 1000',
      '4 DENY ALLOW: payload.day is left out and payload.amount >= 0.01 and <= 1000',
    ],
  },
  {
    name: 'another payee, with limits in two currencies',
    before: inTwo('payload.to == "a"'),
    after: inTwo('payload.to in ["a", "b"]'),
    findings: [
      '1 DENY ALLOW: payload.amount > 5000 USD or > 4000 EUR and payload.to != "a" and payload.to in ["a", "b"]',
      '1 ESCALATE ALLOW: payload.amount <= 5000 USD or <= 4000 EUR and payload.to != "a" and payload.to in ["a", "b"]',
    ],
  },
  {
    name: 'a cell of a table is raised',
    before: `${declared()} table caps = { USD: 100 USD, EUR: 90 EUR } policy p on pay.send { allow small when payload.amount <= caps[payload.currency] }`,
    after: `${declared()} table caps = { USD: 100 USD, EUR: 95 EUR } policy p on pay.send { allow small when payload.amount <= caps[payload.currency] }`,
    findings: [
      '1 DENY ALLOW: payload.amount > 90 EUR and <= 95 EUR and payload.amount > caps (before)[payload.currency] and payload.amount <= caps (now)[payload.currency]',
    ],
  },
  {
    name: 'a limit by currency becomes a table',
    before: `${declared()} policy p on pay.send { allow small when payload.amount <= 100 USD or payload.amount <= 90 EUR }`,
    after: `${declared()} table caps = { USD: 100 USD, EUR: 90 EUR } policy p on pay.send { allow small when payload.amount <= caps[payload.currency] }`,
    findings: [],
  },
  ...(
    [
      ['sum l in payload.lines (l.count) > 20', 'sum l in payload.lines (l.count) >= 21'],
      ['fold(payload.text) == "fire"', 'payload.text in kinds'],
      ['payload.text mentions any of ["urgent"]', 'payload.text mentions any of ["Urgent"]'],
      ['payload.born + 18 years > 2026-01-01', 'payload.born > 2008-01-01'],
      ['payload.born + 18 years > today in "UTC"', 'today in "UTC" < payload.born + 216 months'],
      ['payload.till - payload.born > 5d', 'payload.till - payload.born >= 6d'],
    ] as const
  ).map(
    ([before, after]): DiffCase => ({
      name: `the same in other words: ${after}`,
      before: noted(before),
      after: noted(after),
      findings: [],
    }),
  ),
  {
    name: 'an address may be one character longer',
    before: noted('length(payload.link) > 200'),
    after: noted('length(payload.link) > 201'),
    findings: ['1 DENY ALLOW: length(payload.link) > 200 and <= 201'],
  },
];
