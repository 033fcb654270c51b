// What replay makes of people's votes, of meters and of findings: logs written by hand, with known answers.

import { describe, expect, test } from 'vitest';
import type { LogEntry, LoggedEvent, LoggedRequest } from '../../../src/analysis/replay/engine/log.ts';
import {
  createReplay,
  type ReplayOptions,
  readingFor,
} from '../../../src/analysis/replay/engine/replay-log.ts';
import type { DecisionMatrix, ReplayFinding } from '../../../src/analysis/replay/engine/tally.ts';
import type { GroupWorkload } from '../../../src/analysis/replay/engine/workload.ts';
import { replayFindings } from '../../../src/analysis/replay/finding-counts.ts';
import { serviceRules } from '../../../src/analysis/replay/service-rules.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { diffPolicies } from '../../../src/reasoning/diff/diff.ts';
import { createMeterTotals } from '../../../src/service/meters/meter-totals.ts';
import { compiledOf } from './tried.ts';

const startMs = Date.UTC(2026, 2, 2);
const minuteMs = 60_000;

const digest = { secret: `hmac-sha256:${'0'.repeat(64)}` };

const approvers = `
  action pay.send { amount: number }
  approvers finance "Finance"
  approvers legal "Legal"`;
const policies = (rules: string): string =>
  `${approvers} policy p on pay.send { allow all for 10m ${rules} }`;
const before = policies('escalate large to finance needs 2 within 1h when payload.amount > 10');

/** A request as the policies decide it at a minute, with meters that read zero. */
function asked(
  text: string,
  id: string,
  minute: number,
  amount: number,
  request: LoggedRequest['facts']['request'] = {},
): LoggedRequest {
  const facts = {
    action: 'pay.send',
    payload: { amount },
    agent: { id: 'a1', control_owner: 'owner@example.com' },
    request,
    nowMs: startMs + minute * minuteMs,
    meters: {},
    satisfied: { escalate: [], reauth: [] },
  };
  const decision = compiledOf(text).candidate.decide(facts);
  const expiresAtMs = facts.nowMs + serviceRules.validSeconds(decision) * 1000;
  return { kind: 'request', id, facts, holdsDigests: false, decision, expiresAtMs, policies: null };
}

function became(requestId: string, minute: number, ...events: readonly LoggedEvent[]): LogEntry {
  return { kind: 'events', requestId, atMs: startMs + minute * minuteMs, events };
}

const vote = (id: string, ...groups: readonly string[]): LoggedEvent => ({
  kind: 'approved',
  person: { id, email: `${id}@example.com` },
  groups,
});

function granted(minute: number): LoggedEvent {
  const decision = asked(before, 'any', minute, 1).decision;
  return { kind: 'decided', decision, meters: {}, expiresAtMs: startMs + (minute + 10) * minuteMs };
}

/** Two people of finance approve a request for 50; the second approval decides. */
const approved: readonly LogEntry[] = [
  asked(before, 'r1', 0, 50),
  became('r1', 5, vote('ann', 'finance')),
  became('r1', 20, vote('ben', 'finance'), granted(20)),
];

type Try = Partial<
  Pick<ReplayOptions, 'reading' | 'findings' | 'onDecision' | 'onChanged'> & {
    readonly sinceMs: number | undefined;
  }
>;

function tryOn(log: readonly LogEntry[], text: string, { reading, sinceMs = startMs, ...options }: Try = {}) {
  const { candidate } = compiledOf(text);
  const replay = createReplay({
    ...options,
    candidate,
    sinceMs,
    meters: createMeterTotals(),
    rules: serviceRules,
    reading: reading ?? readingFor(candidate),
  });
  for (const entry of log) replay.take(entry);
  return replay.result();
}

const ends = { granted: 0, refused: 0, expired: 0, open: 0, unknown: 0 };

test.each([
  ['the same people', before, { granted: 1 }],
  ['fewer people', before.replace('needs 2', ''), { granted: 1 }],
  ['more people', before.replace('needs 2', 'needs 3'), { unknown: 1 }],
  ['another group', before.replace('to finance', 'to legal'), { unknown: 1 }],
  [
    'one more group',
    before.replace(
      'policy p',
      'policy q on pay.send { escalate also to legal within 1h when payload.amount > 10 } policy p',
    ),
    { unknown: 1 },
  ],
  ['nobody', policies(''), {}],
  [
    'the same people but one, whom nothing names',
    before.replace('to finance', 'to finance except request.user.email'),
    { unknown: 1 },
  ],
  ['less time than it took', before.replace('1h', '10m'), { expired: 1 }],
  ['the same people, and later others', before.replace('1h', '10m then to legal within 50m'), { granted: 1 }],
  ['less time with a fallback', before.replace('1h', '5m then to legal within 5m'), { expired: 1 }],
])('votes are kept where the candidate asks %s', (_, text, expected) => {
  const later = asked(before, 'r2', 300, 1);
  const { waits, reading } = tryOn([...approved, later], text);
  expect(waits ?? ends).toEqual({ ...ends, ...expected });
  expect(reading).toBe(text === policies('') ? 'as recorded' : 'in order');
});

test('work for those whom a rule asks first is counted for them, with and without fallbacks', () => {
  const log = [...approved, asked(before, 'r2', 300, 1)];
  const { people } = tryOn(log, before.replace('1h', '10m then to legal within 50m'));
  expect(people.map(({ group, votes }) => [group, votes])).toEqual([['finance', { before: 2, now: 2 }]]);
  const rejected = [asked(before, 'r1', 0, 50), became('r1', 5, { kind: 'rejected', group: 'finance' })];
  const now = before.replace('1h', '10m then to legal within 50m');
  expect(tryOn(rejected, now).waits).toEqual({ ...ends, refused: 1 });
});

describe('votes for several approvers of one rule', () => {
  const rule = (approvers: string): string =>
    policies(`escalate large to ${approvers} within 1h when payload.amount > 10`);
  const table = 'table people = { a1: "ann@example.com" }';
  const both = `${table} ${rule('people[agent.id] and boss')} let boss = people["a1"]`;
  const log = (text: string, ...votes: readonly (readonly LoggedEvent[])[]): readonly LogEntry[] => [
    asked(text, 'r1', 0, 50),
    ...votes.map((events, at) => became('r1', 5 + at, ...events)),
    asked(text, 'r2', 300, 1),
  ];
  const [row, boss] = ['people[agent.id]', 'boss'];

  test.each([
    [
      'one vote for either',
      both,
      [[vote('ann', row, boss)], [vote('ben', boss), granted(6)]],
      { granted: 1 },
    ],
    [
      'a vote for the second alone',
      both,
      [[vote('ann', boss)], [vote('ben', row), granted(6)]],
      { granted: 1 },
    ],
    ['one person for both', both, [[vote('ann', row, boss)]], { open: 1 }],
    [
      'a person who is needed for the second only',
      both,
      [[vote('ann', row)], [vote('ben', row, boss), granted(6)]],
      { granted: 1 },
    ],
  ] as const)('%s', (_, text, votes, expected) => {
    const { waits } = tryOn(log(text, ...votes), text);
    expect(waits).toEqual({ ...ends, ...expected });
  });

  test('a candidate that asks one of them is answered by the vote for it', () => {
    const candidate = `${table} ${rule('boss')} let boss = people["a1"]`;
    const first = log(both, [vote('ann', boss)], [vote('ben', row), granted(6)]);
    expect(tryOn(first, candidate).waits).toEqual({ ...ends, granted: 1 });
    const second = log(both, [vote('ann', row)], [vote('ben', row, boss), granted(6)]);
    expect(tryOn(second, candidate).waits).toEqual({ ...ends, granted: 1 });
  });
});

test('the control owner is none of several who approve', () => {
  const log = [
    asked(before.replace('needs 2', ''), 'r1', 0, 50),
    became('r1', 5, vote('owner', 'finance'), granted(5)),
    asked(before, 'r2', 300, 1),
  ];
  expect(tryOn(log, before.replace('needs 2', '')).waits).toEqual({ ...ends, granted: 1 });
  expect(tryOn(log, before).waits).toEqual({ ...ends, unknown: 1 });
});

test('who is left out is none of those who approve', () => {
  const text = before.replace('finance needs 2', 'finance except request.user.email');
  const approvedFor = (email: string) => [
    asked(before.replace('needs 2', ''), 'r1', 0, 50, { user: { email } }),
    became('r1', 5, vote('ann', 'finance'), granted(5)),
    asked(before, 'r2', 300, 1),
  ];
  expect(tryOn(approvedFor('ben@example.com'), text).waits).toEqual({ ...ends, granted: 1 });
  expect(tryOn(approvedFor('ann@example.com'), text).waits).toEqual({ ...ends, unknown: 1 });
});

test('a rejection by a group that is not asked any more says nothing', () => {
  const log = [asked(before, 'r1', 0, 50), became('r1', 5, { kind: 'rejected', group: 'finance' })];
  expect(tryOn(log, before).waits).toEqual({ ...ends, refused: 1 });
  expect(tryOn(log, before.replace('to finance', 'to legal')).waits).toEqual({ ...ends, unknown: 1 });
});

test('meters hold what the candidate grants, not what was granted', () => {
  const metered = (limit: number): string =>
    `${approvers} meter spent = sum(payload.amount) of pay.send per agent over 24h
     policy p on pay.send { allow all for 10m  deny beyond when spent > ${limit}  deny huge when payload.amount > 60 }`;
  const open = policies('');
  const log = [
    asked(open, 'r1', 0, 50),
    asked(open, 'r2', 1, 70),
    asked(open, 'r3', 2, 40),
    asked(open, 'r4', 3, 20),
  ];
  // r2 is refused for its size and leaves room for r3; nothing is left for r4.
  const { matrix, examples } = tryOn(log, metered(100));
  expect(matrix.ALLOW).toEqual({ ALLOW: 2, ESCALATE: 0, REAUTH_REQUIRED: 0, DENY: 2 });
  expect(examples.map(({ id }) => id).sort()).toEqual(['r2', 'r4']);
  // The record holds no reading, so the guard is unknown and nothing is granted.
  const asRecorded = tryOn(log, metered(100), { reading: 'as recorded' });
  expect(asRecorded.matrix.ALLOW.ALLOW).toBe(0);
  expect(Object.fromEntries(asRecorded.unknownFacts)).toEqual({ 'meters.spent': 4 });
});

type Pair = readonly [before: number, now: number];

/** A row of figures, before and now. */
function asksFinance(
  of: Readonly<Record<'votes' | 'median' | 'worst' | 'busiest' | 'hours', Pair>>,
): GroupWorkload {
  const pair = ([before, now]: Pair) => ({ before, now });
  const day = (side: 0 | 1) => ({ median: of.median[side], worst: of.worst[side] });
  return {
    group: 'finance',
    votes: pair(of.votes),
    day: { before: day(0), now: day(1) },
    busiest: pair(of.busiest),
    hours: pair(of.hours),
  };
}

test('each change is filed under the first finding that it meets, and both leftovers are counted', () => {
  const log = [1, 20, 30, 40].map((amount, at) => asked(before, `r${at}`, at, amount));
  const from = (low: number, isOfTime = false): ReplayFinding => ({
    id: `from ${low}`,
    isOfTime,
    matches: ({ after }) => Number(after.payload.amount) >= low,
  });
  const findings = [from(35), from(25), from(90)];
  const result = tryOn(log, policies(''), { findings });
  expect(result.changes).toEqual({ outcome: 3, asked: 0, rule: 0 });
  const fewer = [
    asksFinance({ votes: [2, 0], median: [2, 0], worst: [2, 0], busiest: [2, 0], hours: [0.1, 0] }),
  ];
  expect(result.findings).toEqual([
    { id: 'from 35', requests: 1, agents: 1, people: fewer },
    { id: 'from 25', requests: 1, agents: 1, people: fewer },
    { id: 'from 90', requests: 0, agents: 0, people: [] },
  ]);
  expect(result.otherPeople).toEqual(fewer);
  expect(result.withoutFinding).toBe(1);
  // A finding about how long decisions hold also covers requests with an unchanged decision.
  const ofTime = tryOn(log, before, { findings: [from(25), from(35, true)] });
  expect(ofTime.changes).toEqual({ outcome: 0, asked: 0, rule: 0 });
  expect(ofTime.findings.map(({ requests }) => requests)).toEqual([0, 1]);
  expect(ofTime.withoutFinding).toBe(0);
  expect(result.examples.map(({ id, finding }) => [id, finding])).toEqual([
    ['r1', null],
    ['r2', 'from 25'],
    ['r3', 'from 35'],
  ]);
});

const dayMinutes = 24 * 60;

test('votes are counted by group, by hour, and by day with the days on which nobody was asked', () => {
  // Three on the first day, two of them within the hour, and none on the two days after.
  const minutes = [0, 59, 60, 3 * dayMinutes, 4 * dayMinutes];
  const log = minutes.map((minute, at) => asked(before, `r${at}`, minute, 50));
  const { people, changes } = tryOn(log, before.replace('needs 2', ''));
  expect(changes).toEqual({ outcome: 0, asked: 5, rule: 0 });
  const figures = { median: [2, 1], worst: [6, 3], busiest: [4, 2], hours: [0.5, 0.3] } as const;
  expect(people).toEqual([asksFinance({ votes: [10, 5], ...figures })]);
});

test('each finding says what its requests ask of people, and together with the others they are the whole', () => {
  const now = before
    .replace('amount > 10', 'amount > 30 and payload.amount < 60')
    .replace('escalate large', 'reauth owner_there when payload.amount >= 60 escalate large');
  const sides = { before: compiledOf(before), after: compiledOf(now) };
  const diff = diffPolicies(sides.before.set, sides.after.set);
  const findings = replayFindings({ diff, sides });
  const log = [20, 20, 70, 40].map((amount, at) => asked(before, `r${at}`, at * 40, amount));
  const result = tryOn(log, now, { findings });
  const asks = new Map(
    result.findings.map(({ people, requests }, at) => [
      `${diff.findings[at]?.from} ${diff.findings[at]?.to} ${requests}`,
      people.map(({ group, votes }) => [group, votes.before, votes.now]),
    ]),
  );
  expect(asks.get('ESCALATE ALLOW 2')).toEqual([['finance', 4, 0]]);
  expect(asks.get('ESCALATE REAUTH_REQUIRED 1')).toEqual([
    ['control owner, step-up', 0, 1],
    ['finance', 2, 0],
  ]);
  expect(result.otherPeople.map(({ group, votes }) => [group, votes])).toEqual([
    ['finance', { before: 2, now: 2 }],
  ]);
  for (const { group, votes } of result.people)
    for (const side of ['before', 'now'] as const) {
      const parts = [...result.findings.map(({ people }) => people), result.otherPeople];
      const all = parts.flat().filter((one) => one.group === group);
      expect(all.reduce((sum, one) => sum + one.votes[side], 0)).toBe(votes[side]);
    }
});

test('requests of another shape, or of no action, are refused and named; secrets that are missing are in no cell', () => {
  const log = [asked(before, 'r1', 0, 5), asked(before, 'r2', 1, 6)];
  const other = before.replace('{ amount: number }', '{ amount: integer 6.., note?: string }');
  expect(Object.fromEntries(tryOn(log, other).otherShape)).toEqual({ 'pay.send': 1 });
  const renamed = before.replaceAll('pay.send', 'pay.out');
  expect(Object.fromEntries(tryOn(log, renamed).undeclared)).toEqual({ 'pay.send': 2 });
  const hidden: LoggedRequest = {
    ...log[0]!,
    facts: { ...log[0]!.facts, payload: { amount: digest } },
    holdsDigests: true,
  };
  const { withheld, requests, matrix } = tryOn([hidden, log[1]!], before);
  expect([withheld, requests, matrix.ALLOW.ALLOW]).toEqual([1, 2, 1]);
});

/** Requests with a card number, of which records hold the digest. */
function withCards(text: string, shape: string, amounts: readonly number[]): readonly LoggedRequest[] {
  const plain = text.replace(`, ${shape}`, '');
  return amounts.map((amount, at) => {
    const one = asked(plain, `r${at}`, at, amount);
    return { ...one, facts: { ...one.facts, payload: { amount, card: digest } }, holdsDigests: true };
  });
}

test('digests stand for secrets, and findings count requests that hold them', () => {
  const old = before.replace('amount: number', 'amount: number, card: secret string 1..20');
  const now = old.replace('payload.amount > 10', 'payload.amount > 30');
  const log = withCards(old, 'card: secret string 1..20', [5, 20, 40, 25]);
  const sides = { before: compiledOf(old), after: compiledOf(now) };
  const diff = diffPolicies(sides.before.set, sides.after.set);
  const { findings, changes, withoutFinding, unfiled } = tryOn(log, now, {
    findings: replayFindings({ diff, sides }),
  });
  expect(changes.outcome).toBe(2);
  expect(findings.map(({ requests }) => requests)).toEqual([2]);
  expect([withoutFinding, unfiled]).toEqual([0, 0]);
});

test('where rules would read a digest, a request is neither decided, nor filed, nor unchanged', () => {
  const secret = 'card: secret string 1..20';
  const old = before.replace('amount: number', `amount: number, ${secret}`);
  const log = withCards(old, secret, [5, 20]);
  // The digest has the form that these policies declare.
  const record = old
    .replace(secret, 'card: { secret: string }')
    .replace('payload.amount > 10', 'payload.card.secret starts with "hmac" and payload.amount > 30');
  const tried = tryOn(log, record);
  expect([tried.requests, tried.withheld]).toEqual([2, 2]);
  expect(tried.changes).toEqual({ outcome: 0, asked: 0, rule: 0 });
  expect(outcomesIn(tried.matrix)).toBe(0);
  // The present policies do not read the card, and the earlier policies did.
  const now = old.replace('payload.amount > 10', 'payload.amount > 30');
  const sides = { before: compiledOf(record), after: compiledOf(now) };
  const diff = diffPolicies(sides.before.set, sides.after.set);
  const { findings, unfiled, withoutFinding, withheld } = tryOn(log, now, {
    findings: replayFindings({ diff, sides }),
  });
  expect(findings.map(({ requests }) => requests).every((count) => count === 0)).toBe(true);
  expect([unfiled, withoutFinding, withheld]).toEqual([1, 0, 0]);
});

describe('a grant of which the record hides what it adds to a meter', () => {
  const old = before.replace('amount: number', 'amount: number, note?: secret string 0..9');
  const now = `${approvers.replace('amount: number', 'amount: number, note?: string')}
    meter spent = sum(payload.amount) of pay.send per agent over 24h
    policy p on pay.send { allow all for 10m  deny beyond when spent > 80 }`;
  const hidden = withCards(old, 'note?: secret string 0..9', [60]).map((one) => ({
    ...one,
    facts: { ...one.facts, payload: { amount: 60, note: digest } },
    decision: asked(policies(''), 'any', 0, 60).decision,
  }));
  const reading = (spent: number) => ({ low: fromNumber(spent), high: fromNumber(spent) });
  const later = (id: string, minute: number, amount: number, spent: number | null): LoggedRequest => {
    const one = asked(policies(''), id, minute, amount);
    return { ...one, facts: { ...one.facts, meters: spent === null ? {} : { spent: reading(spent) } } };
  };

  test('leaves the meter incomplete while it is in the window: until then requests read what their records say', () => {
    const log = [
      later('r1', 0, 5, 5),
      ...hidden.map((one) => ({ ...one, id: 'r2' })),
      later('r3', 1, 15, 80),
      later('r4', 2, 10, 90),
      later('r5', 3, 1, null),
      later('r6', dayMinutes + 1, 50, 50),
    ];
    const decisions = new Map<string, string>();
    const changed: string[] = [];
    const { incompleteMeters, changedOnIncomplete, withheld, examples } = tryOn(log, now, {
      onDecision: (id, { outcome }) => decisions.set(id, outcome),
      onChanged: ({ id, incompleteMeters: names }) => changed.push(`${id} ${names}`),
    });
    expect([...decisions].filter(([id]) => id !== 'r2')).toEqual([
      ['r1', 'ALLOW'],
      ['r3', 'ALLOW'],
      ['r4', 'DENY'],
      ['r5', 'DENY'],
      ['r6', 'ALLOW'],
    ]);
    expect(withheld).toBe(1);
    expect(incompleteMeters).toEqual([{ name: 'spent', sinceMs: startMs, requests: 3 }]);
    expect(changedOnIncomplete).toBe(2);
    expect(changed).toEqual(['r4 spent', 'r5 spent']);
    expect(examples.map((one) => one.incompleteMeters)).toEqual([['spent'], ['spent']]);
  });

  test('does so before the period that counts, too, and while it waits; one that was refused leaves nothing', () => {
    const log = [...hidden, later('r2', 1, 10, 70)];
    const [one] = hidden;
    const incomplete = (entries: readonly LogEntry[], sinceMs?: number) =>
      tryOn(entries, now, { sinceMs }).incompleteMeters.map(({ requests }) => requests);
    expect(incomplete(log, startMs + minuteMs)).toEqual([1]);
    const refused = asked(now, 'any', 0, 90).decision;
    expect(incomplete([{ ...one!, decision: refused }, log[1]!])).toEqual([]);
    const waiting = { ...one!, decision: asked(before, 'any', 0, 60).decision };
    const approvedThen = became(one!.id, 59, vote('ann', 'finance'), granted(59));
    const afterADay = later('r3', dayMinutes + 58, 10, 70);
    expect(incomplete([waiting, log[1]!])).toEqual([1]);
    expect(incomplete([waiting, approvedThen, afterADay])).toEqual([1]);
    const rejected = became(one!.id, 5, { kind: 'rejected', group: 'finance' });
    expect(incomplete([waiting, rejected, later('r3', 2 * dayMinutes, 10, 70)])).toEqual([]);
  });

  test('is told from one of another shape, which its meters cannot count either', () => {
    const renamed = now.replace('amount: number', 'sum?: number, amount: integer 1..');
    const log = [later('r1', 0, 5.5, null), later('r2', 1, 10, 15)];
    const { incompleteMeters, otherShape } = tryOn(log, renamed, { sinceMs: startMs + minuteMs });
    expect(incompleteMeters).toEqual([{ name: 'spent', sinceMs: startMs, requests: 1 }]);
    // The candidate refuses the request, so it adds nothing to the meter.
    expect(tryOn(log, renamed).incompleteMeters).toEqual([]);
    expect([...otherShape]).toEqual([]);
  });
});

function outcomesIn(matrix: DecisionMatrix): number {
  return Object.values(matrix)
    .flatMap((row) => Object.values(row))
    .reduce((sum, count) => sum + count, 0);
}

describe.each([
  ['that is shorter than in the log', 10],
  ['that is the same as in the log', 60],
])('an answer after a deadline of the candidate %s', (_, minutes) => {
  const rule = `escalate large to finance needs 1 within ${minutes}m when payload.amount > 10`;
  const answers: Readonly<Record<string, readonly LoggedEvent[]>> = {
    approval: [vote('ann', 'finance')],
    rejection: [{ kind: 'rejected', group: 'finance' }],
    decision: [granted(minutes)],
  };

  /** How the request ends under the candidate, with an answer in that minute. */
  const endWith = (minute: number, events: readonly LoggedEvent[]) =>
    tryOn([asked(before, 'r1', 0, 50), became('r1', minute, ...events)], policies(rule)).waits;

  test.each(Object.keys(answers))('%s: it does not count', (name) => {
    const events = answers[name]!;
    expect(endWith(minutes, events)).toMatchObject({ granted: 0, refused: 0 });
    expect(endWith(minutes + 30, events)).toMatchObject({ granted: 0, refused: 0 });
  });

  test('before it, it does', () => {
    expect(endWith(minutes - 1, answers.approval!)).toMatchObject({ granted: 1 });
    expect(endWith(minutes - 1, answers.rejection!)).toMatchObject({ refused: 1 });
  });
});
