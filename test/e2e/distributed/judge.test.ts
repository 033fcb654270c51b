// Each check of the judge, on records that break what it checks: checks of replies, and of what people and
// agents reported.

import { expect, test } from 'vitest';
import { standingId } from '../../../src/service/requests/approvals/standing-approval.ts';
import type { ChainEntry } from '../../../src/service/store/contract/chain.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { judge } from './judge.ts';
import type { Told } from './told.ts';
import type { History, Stop } from './world.ts';

const nothing: History = {
  told: [],
  votes: [],
  outcomes: [],
  proofs: [],
  stops: [],
  revokedStanding: [],
  plans: [],
  faults: new Map(),
  services: [],
  starts: [],
  longest: new Map(),
  rates: new Map(),
  counts: new Map(),
  tookS: 0,
};
const waits = {
  kind: 'request',
  status: 'pending',
  outcome: 'ESCALATE',
  agent_id: 'a',
  idempotency_key: null,
};
const record_json = JSON.stringify({
  payload: { amount: 1 },
  request: {},
  meters: {},
  policySet: { digest: 'd' },
});
const active = { kind: 'change', what: 'policies-activated', subject: '', after_json: '{"digest":"d"}' };
const request = (id: string, end = 1_000) => ({ ...waits, id, created_ms: 0, expires_ms: end, record_json });
const event = (request_id: string, what: string, status: string, more: object = {}) => ({
  kind: 'event',
  request_id,
  what,
  status,
  at_ms: 10,
  detail_json: null,
  ...more,
});
const granted = (id: string) => ({
  ...request(id),
  status: 'auto_approved',
  record_json: JSON.stringify({
    payload: { amount: 1 },
    request: { session: id },
    meters: { spent: { low: '1', high: '1' } },
    policySet: { digest: 'd' },
  }),
});
/** A reply to a request that was sent at one moment and answered at the other. */
const told = (id: string, begunAtMs: number, endedAtMs: number, more: Partial<Told> = {}): Told => ({
  id,
  agent: 'a',
  decision: 'ALLOW',
  status: 200,
  key: null,
  nonce: null,
  begunAtMs,
  endedAtMs,
  ...more,
});
const stop = (kind: Stop['kind'], fromMs: number, untilMs: number): Stop => ({
  kind,
  subject: kind === 'revoked' ? 'a' : 'pay',
  fromMs,
  untilMs,
});
const executed = (isSo: boolean) => ({ detail_json: JSON.stringify({ executed: isSo }) });

/** A vote for a standing approval, the revocation of that, and a grant under it. */
const rules = [{ rule: 'p/r', times: 1 }];
const standing = standingId('r', 'p/r');
const given = event('r', 'approved', 'pending', { detail_json: JSON.stringify({ standing: { rules } }) });
/** A stand-in that is confirmed and ended, the votes of a person and the stand-in, and a grant that needs two people. */
const confirmed = {
  kind: 'change',
  what: 'stand-in-confirmed',
  subject: 'i',
  after_json: JSON.stringify({ person: 'b', stand_in: 'd', group: 'g' }),
};
const standInOver = { kind: 'change', what: 'stand-in-ended', subject: 'i' };
const by = (person: string, absent?: string) =>
  event('r', 'approved', 'pending', {
    detail_json: JSON.stringify({ person, group: 'g', ...(absent && { standsInFor: { id: absent } }) }),
  });
const pairGranted = event('r', 'decided', 'approved', {
  detail_json: JSON.stringify({ satisfied: { escalate: ['pair/two'] } }),
});
const reminder = event('r', 'reminded', 'pending', {
  detail_json: JSON.stringify({ askingTime: 0, told: ['b'] }),
});
/** A vote of a fallback. */
const early = event('r', 'approved', 'pending', {
  detail_json: JSON.stringify({ rules: [{ id: 'fallback/big' }] }),
});
const taken = { kind: 'change', what: 'standing-approval-revoked', subject: standing };
const use = (id: string) => ({
  ...granted(id),
  record_json: JSON.stringify({
    payload: { amount: 1 },
    request: {},
    meters: {},
    satisfied: { standing: { 'p/r': standing } },
    policySet: { digest: 'd' },
  }),
});

/** A plan with one step, its approval and its execution. */
const step = (id: string, plan = 'p') => ({
  ...request(id),
  record_json: JSON.stringify({
    payload: { amount: 1, vendor: 'v' },
    request: {},
    meters: {},
    policySet: { digest: 'd' },
    plan: { id: plan },
  }),
});
const submitted = {
  kind: 'change',
  what: 'plan-submitted',
  subject: 'p',
  after_json: '{"steps":[{"request":"r"},{"request":null}]}',
};
const approvedStep = event('r', 'decided', 'approved', { expires_ms: 20 });
const executedStep = event('r', 'taken', 'consumed');
const attached = (step: string, more: Partial<Told> = {}) => told('r', 6, 7, { step, ...more });

async function faultsOf(
  entries: readonly object[],
  history: Partial<History> = {},
): Promise<readonly string[]> {
  const records = [active, ...entries].map((entry, at) => ({
    // The chain in the form in which a store returns it, without the parts that the judge does not read.
    entry: { sequence: at + 1, ...entry } as unknown as ChainEntry,
  }));
  const segment = async () => ({ records, lastSequence: records.length });
  const chain = { segment } as unknown as Store['chain'];
  return (await judge({ chain }, { ...nothing, ...history })).faults;
}

test.each([
  ['a grant that is lost', [], { told: [told('r', 1, 2, { decision: 'DENY' })] }, 'told and not stored'],
  [
    'a grant within a stop',
    [granted('r')],
    {
      told: [told('r', 6, 7)],
      stops: [stop('switched', 9, 12), stop('switched', 1, 3), stop('switched', 5, 8)],
    },
    'after the reply that it was switched',
  ],
  [
    'a grant to one who was revoked',
    [granted('r')],
    { told: [told('r', 6, 7)], stops: [stop('revoked', 5, Infinity)] },
    'after the reply that it was revoked',
  ],
  [
    'a nonce of two grants',
    [granted('r'), granted('s')],
    { told: [told('r', 1, 2, { nonce: 'n' }), told('s', 1, 2, { nonce: 'n' })] },
    'a nonce was good twice',
  ],
  [
    'approved after its deadline',
    [request('r', 5), event('r', 'decided', 'approved')],
    {},
    'after its deadline',
  ],
  [
    'expired after it was approved',
    [request('r'), event('r', 'decided', 'approved'), event('r', 'expired', 'expired')],
    {},
    'expired after it was approved',
  ],
  [
    'expired twice',
    [request('r'), event('r', 'expired', 'expired'), event('r', 'expired', 'expired')],
    {},
    'expired after it was expired',
  ],
  [
    'never expired',
    [request('r'), { ...request('s', 9_000), created_ms: 5_000 }],
    {},
    'no record says so: r',
  ],
  [
    'used and not used',
    [
      request('r'),
      event('r', 'consumed', 'consumed', executed(true)),
      event('r', 'consumed', 'consumed', executed(false)),
    ],
    {},
    'said twice',
  ],
  [
    'told otherwise',
    [request('r'), event('r', 'consumed', 'consumed', executed(true))],
    { outcomes: [{ id: 'r', executed: false, isTaken: true }] },
    'told that it was not used',
  ],
  [
    'a code that is good twice',
    ['r', 's'].flatMap((id) => [request(id), event(id, 'decided', 'approved')]),
    {
      proofs: [
        { step: 1, person: 'p', requests: ['r'], granted: [] },
        { step: 1, person: 'p', requests: ['s'], granted: ['s'] },
      ],
    },
    'good twice',
  ],
  [
    'a step-up that is lost',
    [request('r')],
    { proofs: [{ step: 1, person: 'p', requests: ['r'], granted: ['r'] }] },
    'told as granted by a step-up and not stored so',
  ],
  ['a use too many', [request('r'), given, use('s'), use('t')], {}, 'use 2 of 1'],
  ['a use that nobody approved', [use('s')], {}, 'under what nobody approved'],
  [
    'a fallback that is asked twice',
    [request('r'), event('r', 'fallback-asked', 'pending'), event('r', 'fallback-asked', 'pending')],
    {},
    'asked its fallback twice',
  ],
  ['a vote of a fallback that was not asked', [request('r'), early], {}, 'a fallback that was not asked'],
  ['a vote in the place of another without a stand-in', [request('r'), by('d', 'b')], {}, 'by no stand-in'],
  [
    'a vote of a stand-in that has ended',
    [request('r'), confirmed, standInOver, by('d', 'b')],
    {},
    'by no stand-in',
  ],
  [
    'a person and their stand-in that count as two',
    [request('r'), confirmed, by('b'), by('d', 'b'), pairGranted],
    {},
    'granted by 1 of two people',
  ],
  [
    'a grant by a stand-in that has ended since the vote',
    [request('r'), confirmed, by('d', 'b'), by('c'), standInOver, pairGranted],
    {},
    'granted by 1 of two people',
  ],
  ['a person who is reminded twice', [request('r'), reminder, reminder], {}, 'reminded twice'],
  ['a use of what was revoked', [request('r'), given, taken, use('s')], {}, 'under a revoked standing'],
  [
    'a use after the reply of its revocation',
    [request('r'), given, use('s')],
    { told: [told('s', 6, 7)], revokedStanding: [{ id: standing, atMs: 5 }] },
    'after the reply that its standing approval was revoked',
  ],
  [
    'a step that is executed twice, as stored',
    [submitted, step('r'), approvedStep, executedStep, executedStep],
    {},
    'executed twice',
  ],
  [
    'a step that is executed twice, as told',
    [submitted, step('r'), approvedStep, executedStep],
    { told: [attached('v'), attached('v')] },
    'executed twice',
  ],
  [
    'a step that is executed with another payload',
    [submitted, step('r'), approvedStep, executedStep],
    { told: [attached('v.')] },
    'something else than was approved',
  ],
  [
    'a step whose execution is lost',
    [submitted, step('r'), approvedStep],
    { told: [attached('v')] },
    'told as executed and not stored so',
  ],
  [
    'a grant of a step that no plan had',
    [granted('r')],
    { told: [attached('v')] },
    'executed what no plan had',
  ],
  [
    'a step that is executed after its end',
    [submitted, step('r'), event('r', 'decided', 'approved', { expires_ms: 10 }), executedStep],
    {},
    'after its approval had ended',
  ],
  [
    'a step that is executed by a revoked agent',
    [
      submitted,
      step('r'),
      approvedStep,
      { kind: 'change', what: 'agent-revoked', subject: 'a' },
      executedStep,
    ],
    {},
    'executed by a revoked agent',
  ],
  [
    'a step that is executed while stopped',
    [
      submitted,
      step('r'),
      approvedStep,
      { kind: 'change', what: 'kill-switch-created', subject: 's' },
      executedStep,
    ],
    {},
    'executed while stopped',
  ],
  ['half a plan', [submitted], {}, 'not all steps'],
  ['a plan with one step more', [submitted, step('r'), step('s')], {}, 'not all steps'],
  ['a step without its plan', [submitted, step('r'), step('s', 'q')], {}, 'steps without a plan'],
  [
    'a plan that is lost',
    [],
    { plans: [{ id: 'p', twin: 'p', requests: ['r'] }] },
    'a plan is told and not stored so',
  ],
  [
    'two plans under one key',
    [submitted, step('r')],
    { plans: [{ id: 'p', twin: 'q', requests: ['r'] }] },
    'an idempotency key made two plans',
  ],
])('%s is seen', async (_, entries, history, fault) => {
  expect(await faultsOf(entries, history)).toEqual([expect.stringContaining(fault)]);
});

test('a grant that began before a stop, or ended after it, is none of its faults', async () => {
  const stops = [stop('switched', 5, 8), stop('switched', 10, 12)];
  const all = [told('r', 4, 7), told('s', 6, 9), told('t', 8.5, 9.5), told('u', 9, 11)];
  expect(await faultsOf(['r', 's', 't', 'u'].map(granted), { told: all, stops })).toEqual([]);
});
