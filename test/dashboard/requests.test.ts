// What the pages of requests and approvals make of the service's replies: filters, rows, traces, payloads,
// histories.

import { expect, test } from 'vitest';
import { absoluteTime, chipsOf, localTime, readFilters } from '../../src/dashboard/pages/requests/filters.ts';
import { personName } from '../../src/dashboard/pages/requests/person-name.ts';
import {
  type LoadedRows,
  type RequestItem,
  type Row,
  withNewest,
  withOlder,
} from '../../src/dashboard/pages/requests/rows.ts';
import { type RequestDetail, timelineEvents } from '../../src/dashboard/pages/requests/timeline-events.ts';
import { evenLines } from '../../src/dashboard/parts/policy/source-lines.ts';
import {
  decidingRule,
  riskContributions,
  tracePolicies,
  traceRules,
  unknownReads,
} from '../../src/dashboard/parts/policy/trace.ts';
import { aboutJson, pathInto, secretDigest } from '../../src/language/value/json-parts.ts';
import { type PayloadProfile, profileNoteOf } from '../../src/language/value/payload-profile.ts';
import { cutText } from '../../src/language/value/text-pieces.ts';

test('filters come from the address, without what is empty or unknown', () => {
  const filters = readFilters(
    new URLSearchParams('decision=DENY&agent=%20&nonsense=1&risk_min=50&text=a%20b'),
  );
  expect(filters).toEqual({ decision: 'DENY', risk_min: '50', text: 'a b' });
  expect(chipsOf(filters).map(({ label, value }) => `${label} ${value}`)).toEqual([
    'Text a b',
    'Decision Deny',
    'Risk at least 50',
  ]);
  expect(chipsOf({ decision: 'MAYBE' })).toEqual([{ name: 'decision', label: 'Decision', value: 'MAYBE' }]);
});

test('a time goes into its input and back', () => {
  expect(absoluteTime(localTime('2026-03-02T10:15:00.000Z'))).toBe('2026-03-02T10:15:00.000Z');
  expect([localTime('soon'), localTime(undefined), absoluteTime(''), absoluteTime('x')]).toEqual([
    '',
    '',
    '',
    '',
  ]);
});

function item(id: string, status: RequestItem['status'] = 'pending'): RequestItem {
  const times = { created_at: '2026-03-02T10:00:00Z', expires_at: '2026-03-02T11:00:00Z', decided_at: null };
  return {
    request_id: id,
    decision: 'ESCALATE',
    reason: 'r',
    matched_policy: 'p',
    risk_score: 1,
    status,
    message: 'm',
    plan: null,
    action_key: 'a.b',
    title: '',
    point: null,
    chain: [],
    on_behalf_of: null,
    agent: {},
    requires: null,
    ...times,
  };
}

function listOf(ids: string, cursor: string | null = null): LoadedRows {
  return {
    rows: withOlder(
      [],
      [...ids].map((id) => item(id)),
    ),
    waiting: [],
    hasGap: false,
    cursor,
  };
}

function ids(rows: readonly Row[] | undefined): string {
  return (rows ?? []).map(({ item: { request_id: id }, isPast }) => (isPast ? `(${id})` : id)).join('');
}

test.each([
  ['puts what is new on top', 'cba', 'edcb', 'more', 'edcba', ''],
  ['lets it wait for who reads', 'cba', 'edcb', 'more', 'cba', 'ed'],
  ['keeps one that fits no more, and says so', 'cba', 'ca', 'more', 'c(b)a', ''],
  ['knows nothing of rows beyond the newest page', 'dcba', 'dc', 'more', 'dcba', ''],
  ['knows of all rows where the page holds all', 'cba', 'c', null, 'c(b)(a)', ''],
  ['begins anew where some are missing in between', 'cba', 'zyx', 'more', 'zyx', ''],
  ['takes what comes into an empty list', '', 'a', null, 'a', ''],
])('the list %s', (name, before, newest, cursor, rows, waiting) => {
  const state = listOf(before, 'old');
  const items = [...newest].map((id) => item(id));
  const change = withNewest(state, { items, cursor }, name.includes('who reads'));
  expect([ids(change.rows), ids(change.waiting)]).toEqual([rows, waiting]);
  if (name.includes('anew')) expect(change).toMatchObject({ cursor: 'more', hasGap: false });
});

test('the list says that more is new than it could tell apart, and stays', () => {
  const change = withNewest(listOf('cba'), { items: [item('z')], cursor: 'more' }, true);
  expect([ids(change.rows), ids(change.waiting), change.hasGap]).toEqual(['cba', 'z', true]);
});

test('a row is the same object until something has changed about it', () => {
  const state = listOf('ba');
  const items = [item('b', 'approved'), item('a')];
  const { rows = [] } = withNewest(state, { items, cursor: null }, false);
  expect(rows[0]).toEqual({ item: items[0], isPast: false });
  expect(rows[1]).toBe(state.rows[1]);
  expect(ids(withOlder(rows, [item('a'), item('0')]))).toBe('ba0');
});

const trace = [
  {
    rule: 'pay/limit',
    effect: 'deny',
    truth: 'false',
    points: 70,
    reads: { 'payload.amount': { value: 5 } },
  },
  { rule: 'pay/usual', effect: 'allow', truth: 'true', points: 0, reads: {} },
  {
    rule: 'pay/spent',
    effect: 'escalate',
    truth: 'unknown',
    points: 20,
    reads: { 'meters.spent': { missing: 'unknown' }, 'payload.note': { missing: 'absent' } },
  },
  { rule: 'other/tried', effect: 'deny', truth: 'true', points: 90, isShadow: true, reads: null },
  {
    rule: 'other/less',
    effect: 'risk',
    truth: 'true',
    points: -5,
    reads: { 'payload.note': { missing: 'absent' } },
  },
  { odd: true },
];

test('a trace is read by policy, with what adds to the risk and what was unknown', () => {
  const rules = traceRules(trace);
  expect(
    tracePolicies(rules, 'pay/spent').map(({ name, rules: own }) => [name, own.map((one) => one.name)]),
  ).toEqual([
    ['pay', ['spent', 'usual', 'limit']],
    ['other', ['tried', 'less']],
    ['', ['']],
  ]);
  expect(riskContributions(rules).map(({ id, points }) => [id, points])).toEqual([
    ['pay/spent', 20],
    ['other/less', -5],
  ]);
  expect(unknownReads(rules).map(({ read, rules: left }) => [read.path, left.map(({ id }) => id)])).toEqual([
    ['meters.spent', ['pay/spent']],
    ['payload.note', ['pay/spent']],
  ]);
  expect(rules[0]?.reads).toEqual([{ path: 'payload.amount', value: 5, missing: null }]);
});

test('the rule that decided is named where the trace leaves no doubt', () => {
  const rules = traceRules(trace);
  expect(decidingRule(rules, { decision: 'ESCALATE', policy: 'pay' })).toBe('pay/spent');
  expect(decidingRule(rules, { decision: 'DENY', policy: 'other' })).toBeNull();
  const two = traceRules([...trace, { rule: 'pay/too', effect: 'escalate', truth: 'true' }]);
  expect(decidingRule(two, { decision: 'ESCALATE', policy: 'pay' })).toBeNull();
});

const digest = `hmac-sha256:${'a'.repeat(64)}`;

test('of a payload it is known what is secret, folded and invisible', () => {
  const about = aboutJson({
    token: { secret: digest },
    other: { secret: 'x' },
    list: [{ 'a b': 'x\u202ey' }, 'z'],
    long: 'x'.repeat(1_001),
    many: Array.from({ length: 201 }, () => 0),
    'k\u200b': 1,
  });
  expect(about).toEqual({ folded: 2, secrets: 1, invisible: ['list[]."a b"', '"k\u200b"'] });
  expect([secretDigest({ secret: digest, b: 1 }), secretDigest([digest]), secretDigest(null)]).toEqual([
    null,
    null,
    null,
  ]);
  expect(pathInto('a', [], '3')).toBe('a[]');
  expect(pathInto('', {}, 'constructor')).toBe('constructor');
  expect(aboutJson(JSON.parse('{"__proto__": "a\\u200bb"}')).invisible).toEqual(['__proto__']);
});

test('a text is cut between characters', () => {
  expect([cutText('ab😀', 3), cutText('ab😀', 4), cutText('abc', 9)]).toEqual(['ab', 'ab😀', 'abc']);
});

const profile: PayloadProfile = {
  count: 12,
  fields: [
    { path: 'amount', kind: 'number', min: 5, p50: 20, max: 100 },
    {
      path: 'vendor',
      kind: 'text',
      distinct: 2,
      common: [
        { value: 'Staples', count: 11 },
        { value: 'Uline', count: 1 },
      ],
    },
    { path: 'city', kind: 'text', distinct: 9, common: [{ value: 'Rome', count: 4 }] },
    { path: 'note', kind: 'text', distinct: 9, common: [{ value: 'a', count: 1 }] },
  ],
};

test.each([
  ['amount', 50, false, /^usual: 5 to 100/],
  ['amount', 101, true, /^higher than ever: so far 5 to 100, median 20$/],
  ['amount', 4, true, /^lower than ever/],
  ['amount', '50', true, /^not a number/],
  ['vendor', 'Staples', false, /^usual: 11 times/],
  ['vendor', 'Other', true, /^new; so far "Staples" \(11x\), "Uline" \(1x\)$/],
  ['city', 'Oslo', false, /not one of the most frequent: "Rome" \(4x\), 8 others/],
  ['extra', 1, true, /never sent/],
])('%s %s beside what is usual', (path, value, isUnusual, words) => {
  const compared = profileNoteOf(profile, path, value);
  expect(compared?.isUnusual).toBe(isUnusual);
  expect(compared?.words).toMatch(words);
});

test('below ten grants, or for a field with almost only different values, nothing is compared', () => {
  expect(profileNoteOf({ ...profile, count: 0, fields: [] }, 'amount', 1)).toBeNull();
  expect(profileNoteOf({ ...profile, count: 9 }, 'amount', 101)).toBeNull();
  expect(profileNoteOf(profile, 'note', 'b')).toBeNull();
  expect(profileNoteOf(profile, 'note', 'a')).toBeNull();
});

function detail(change: Partial<RequestDetail>): RequestDetail {
  const { created_at, ...rest } = item('a');
  return {
    ...rest,
    created_at,
    payload: {},
    session: null,
    resolved: [],
    digest: '',
    approvals: [],
    trace: [],
    trace_omitted: 0,
    policy_set: { digest: '', commit: null },
    comments: [],
    standing_approvals: [],
    standing_offers: [],
    fallbacks: [],
    reminders: [],
    step_ups: [],
    allowed_actions: null,
    people: [],
    review: null,
    ...change,
  };
}

const said = (is_approved: boolean) => ({
  by: 'ben@example.com (b3f1c2d4-0000-4000-8000-000000000000)',
  stands_in_for: null,
  group: 'finance',
  is_approved,
  comment: 'fine',
  at: '2026-03-02T10:30:00Z',
  chat: null,
  standing: [],
  invalid_reason: null,
});

test.each<[string, Partial<RequestDetail>, readonly string[]]>([
  ['waits', { status: 'pending', approvals: [said(true)] }, ['asked', 'approved', 'waits']],
  ['was granted', { status: 'auto_approved' }, ['asked', 'decided', 'ends']],
  ['was rejected by a person', { status: 'rejected', approvals: [said(false)] }, ['asked', 'rejected']],
  ['was refused', { status: 'rejected' }, ['asked', 'decided']],
  [
    'was refused after an approval',
    { status: 'rejected', approvals: [said(true)] },
    ['asked', 'approved', 'decided'],
  ],
  ['ran out waiting', { status: 'expired', decision: 'ESCALATE' }, ['asked', 'ended']],
  ['ran out granted', { status: 'expired', decision: 'ALLOW' }, ['asked', 'decided', 'ended']],
  ['was used', { status: 'consumed', decision: 'ALLOW' }, ['asked', 'decided', 'used']],
])('the story of a request that %s', (_, change, kinds) => {
  expect(timelineEvents(detail(change), 0).map(({ kind }) => kind)).toEqual(kinds);
});

test('the story of a request with fallbacks says who was asked, who is asked later, and when', () => {
  const [security, cfo] = [[{ group: 'security' }], [{ group: 'cfo' }, { person: 'ann@example.com' }]];
  const later = { asked_at: '2026-03-02T10:40:00Z', any_of: cfo };
  const asked = (group: string) => ({ group, needs: 1, given: 0, fallbacks: [later] });
  const request = detail({
    status: 'pending',
    fallbacks: [{ any_of: security, at: '2026-03-02T10:20:00Z' }],
    requires: { approvals: [asked('finance'), asked('legal')], step_up: false, invalidated: [] },
  });
  expect(timelineEvents(request, 0).map(({ at, text }) => [at?.slice(11, 16), text])).toEqual([
    ['10:00', 'asked for a decision'],
    ['10:20', 'Nobody had decided, so security may approve as well'],
    ['10:40', 'If nobody decides, cfo or ann@example.com may approve as well'],
    ['11:00', 'Deadline for people'],
  ]);
});

test('a person is named without the id', () => {
  const { by } = said(true);
  expect(personName(by, [])).toBe('ben@example.com');
  const id = by.replace(/.*\((.*)\)/, '$1');
  expect(personName(by, [{ id, name: 'Ben Baker', email: 'new@example.com' }])).toBe('Ben Baker');
  expect(personName('agent 7', [])).toBe('agent 7');
  // The first admin's id is a word.
  const ann = { id: 'first-admin', name: 'Ann', email: 'ann@example.com' };
  expect(personName('ann@example.com (first-admin)', [ann])).toBe('Ann');
});

test('a piece of a file keeps its own depth', () => {
  expect(evenLines('allow a\r\n      when b\n\n        or c')).toEqual([
    'allow a',
    '  when b',
    '',
    '    or c',
  ]);
});
