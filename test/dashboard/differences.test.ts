// A change shown as the fields that differ before and after.

import { expect, test } from 'vitest';
import {
  changedScope,
  fieldLabel,
  pageOfScope,
  pageOfSubject,
} from '../../src/dashboard/pages/audit/change-text.ts';
import { startOfDay } from '../../src/dashboard/pages/audit/days.ts';
import { differences } from '../../src/dashboard/pages/audit/differences.ts';
import { stepsOf } from '../../src/dashboard/pages/audit/recorded-steps.ts';

test('returns only the fields that differ', () => {
  const before = { status: 'active', tags: ['a'], rate: { burst: 10, per: 1 } };
  const after = { status: 'disabled', tags: ['a', 'b'], rate: { burst: 20, per: 1 } };
  expect(differences(before, after)).toEqual([
    { path: 'status', before: 'active', after: 'disabled' },
    { path: 'tags', before: 'a', after: 'a, b' },
    { path: 'rate.burst', before: '10', after: '20' },
  ]);
});

test('what was made has no before, and its empty fields say nothing', () => {
  expect(differences(null, { name: 'x', tags: [], burst: null, note: '' })).toEqual([
    { path: 'name', before: null, after: 'x' },
  ]);
});

test('what was taken away has no after', () => {
  expect(differences({ name: 'x' }, null)).toEqual([{ path: 'name', before: 'x', after: null }]);
});

test('a field that is emptied differs', () => {
  expect(differences({ burst: 5 }, { burst: null })).toEqual([{ path: 'burst', before: '5', after: 'null' }]);
});

test('records within lists, and moments', () => {
  const keys = [{ id: 'Ab3', notAfterMs: null }];
  const replaced = [{ id: 'Ab3', notAfterMs: 1_772_445_600_000 }];
  const [moment = ''] = differences(null, { notAfterMs: 1_772_445_600_000 }).map(({ after }) => after ?? '');
  expect(moment).toContain(String(new Date(1_772_445_600_000).getHours() % 12 || 12));
  expect(moment).not.toMatch(/1772445600000|T\d\d:/);
  expect(differences({ keys }, { keys: replaced })).toEqual([
    { path: 'keys', before: 'id Ab3', after: `id Ab3 notAfterMs ${moment}` },
  ]);
});

test.each([
  ['text', 'other'],
  [1, 2],
  [[1], [2]],
])('values that are no objects: %j and %j', (before, after) => {
  expect(differences(before, after)).toHaveLength(1);
});

test('names from outside are paths and nothing else', () => {
  const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":"y"}') as unknown;
  expect(differences(null, hostile).map(({ path }) => path)).toEqual(['__proto__.x', 'constructor']);
});

test('a day begins at its midnight, and what is no day has no beginning', () => {
  const start = new Date(startOfDay('2026-03-02') ?? '');
  const next = new Date(startOfDay('2026-02-28', 2) ?? '');
  expect([start.getFullYear(), start.getMonth(), start.getDate(), start.getHours()]).toEqual([2026, 2, 2, 0]);
  expect(next).toEqual(start);
  for (const day of [null, '', '2026-3-2', 'tomorrow', '2026-03-02T00:00'])
    expect(startOfDay(day)).toBeUndefined();
});

test.each([
  ['controlOwner', 'control owner'],
  ['risk_tier', 'risk tier'],
  ['oldKeysEndMs', 'old keys end'],
  ['ends_at_ms', 'ends at'],
  ['has_totp', 'one-time codes'],
  ['scope.agentId', 'scope, agent id'],
  ['ms', 'ms'],
  ['name', 'name'],
])('the field %s is read as “%s”', (path, words) => {
  expect(fieldLabel(path)).toBe(words);
});

test('what a kill switch stops is said in words', () => {
  const scopes = [{ kind: 'all' }, { kind: 'tier', tier: 'high' }, { kind: 'area', area: 'payment' }];
  const words = ['Everything', 'Agents of high risk', 'Actions of payment', 'One agent', null, null];
  const all = [...scopes, { kind: 'agent', agentId: 'a/1' }, 'all', null];
  expect(all.map(changedScope)).toEqual(words);
  expect(all.map(pageOfScope)).toEqual([null, null, null, '/agents/a%2F1', null, null]);
});

test('the record of a plan yields its steps, and any other value none', () => {
  const step = { action: 'pay.send', title: 'Pay 5', payload: { amount: 5 }, decision: 'ESCALATE' };
  expect(stepsOf({ goal: null, steps: [step, { action: 'pay.send' }] })).toEqual([
    { action: 'pay.send', title: 'Pay 5', payload: '{"amount":5}', decision: 'ESCALATE' },
    { action: 'pay.send', title: '', payload: null, decision: '' },
  ]);
  for (const other of [null, 'steps', { steps: 3 }, {}]) expect(stepsOf(other)).toEqual([]);
});

test('changes of agents and plans lead to their pages', () => {
  expect(pageOfSubject('agent-disabled', 'a1')).toBe('/agents/a1');
  expect(pageOfSubject('plan-submitted', 'p1')).toBe('/plans/p1');
  expect(pageOfSubject('webhook-created', 'w1')).toBe(null);
});
