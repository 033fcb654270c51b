// The request path on a real store: each decision is recorded first, and the reply equals the record.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import type { Decision } from '../../../src/language/model/decision.ts';
import {
  type AuthorizeInput,
  type AuthorizeResult,
  createAuthorizer,
} from '../../../src/service/requests/authorize.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { requestRecord } from '../../../src/service/requests/record/record.ts';
import { requestDetail } from '../../../src/service/requests/record/reply.ts';
import { requestStateOf } from '../../../src/service/requests/record/request-state.ts';
import { createRefusalRecorder } from '../../../src/service/requests/refusal.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, everything, keyRow, refusalRecord, startMs, temporaryFolder } from '../store/rows.ts';
import { bystanders } from './bystanders.ts';
import { activeWith, allowed, denied, escalated, stepUpAsked } from './policies.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A store with an agent, active policies that a test may replace, and a clock that a test may set. */
const openRequestsMax = 20;

async function setUp(decision: Decision = allowed) {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const agent = agentRow();
  await store.agents.add(agent, keyRow(agent.id));
  const world = { nowMs: startMs, active: activeWith(() => decision) };
  const authorizer = createAuthorizer({
    store,
    policies: () => world.active,
    clock: () => world.nowMs,
    metering: createMetering({ meters: store.meters, clock: () => world.nowMs }),
    openRequestsMax,
    ...bystanders,
  });
  const ask = (change: Partial<AuthorizeInput> = {}) =>
    authorizer.authorize({
      agent,
      key: { id: 'key00001', notAfterMs: null },
      actionKey: 'payment.create',
      payload: { amount: 5, vendor: 'Staples' },
      isSigned: false,
      session: null,
      clientAddress: '192.0.2.7',
      idempotencyKey: null,
      bodyDigest: sha256('body'),
      requestId: createRequestId(world.nowMs),
      ...change,
    });
  /** The request in its current state. */
  const find = async (id: string) =>
    requestDetail(requestStateOf((await store.requests.history(id))!), world.nowMs);
  return { path, store, agent, world, ask, find };
}

function decided(result: AuthorizeResult) {
  if (result.kind !== 'decided') throw new Error(result.kind);
  return result.request;
}

const timeAfter = (seconds: number) => new Date(startMs + seconds * 1000).toISOString();

describe('the reply', () => {
  test('it has the eight fields', async () => {
    const { ask } = await setUp();
    const requestId = createRequestId(startMs);
    expect(await ask({ requestId })).toEqual({
      kind: 'decided',
      by: 'payments/known',
      decideMicroseconds: expect.any(Number),
      request: {
        request_id: requestId,
        decision: 'ALLOW',
        reason: 'Known vendor',
        matched_policy: 'payments',
        risk_score: 10,
        status: 'auto_approved',
        message: `Proceed before ${timeAfter(600)}.`,
        expires_at: timeAfter(600),
      },
    });
  });

  test.each<[string, Decision, string, number]>([
    ['a grant', allowed, 'auto_approved', 600],
    ['a grant for the default time', { ...allowed, validForSeconds: null }, 'auto_approved', 300],
    ['a refusal', denied, 'rejected', 300],
    ['an escalation, by its shortest deadline', escalated, 'pending', 3_600],
    ['an escalation without deadlines', { ...escalated, requires: null }, 'pending', 86_400],
    ['a step-up', stepUpAsked, 'pending', 900],
  ])('%s has its status and its end', async (_, decision, status, seconds) => {
    const { ask } = await setUp(decision);
    const view = decided(await ask());
    expect(view).toMatchObject({ decision: decision.outcome, status, expires_at: timeAfter(seconds) });
  });

  test.each<[Decision, string]>([
    [
      denied,
      'Not permitted by policy payments: Known vendor. This is a decision, not a fault: the same request will be refused again.',
    ],
    [
      { ...denied, by: 'invalid_payload', matchedPolicy: 'invalid_payload', reason: 'no amount' },
      'Not permitted: no amount. Change the payload before you ask again.',
    ],
    [
      escalated,
      `Wait and look this request up again: it needs 2 approvals by finance and 1 approval by the agent's control owner before ${timeAfter(3600)}.`,
    ],
    [
      stepUpAsked,
      `Wait and look this request up again: a step-up by the agent's control owner is needed, and then it needs 2 approvals by finance and 1 approval by the agent's control owner, before ${timeAfter(900)}.`,
    ],
    [
      { ...stepUpAsked, requires: { approvals: [], reauth: { withinSeconds: 900 } } },
      `Wait and look this request up again: a step-up by the agent's control owner is needed before ${timeAfter(900)}.`,
    ],
  ])('the message says what to do: %#', async (decision, message) => {
    const { ask } = await setUp(decision);
    expect(decided(await ask()).message).toBe(message);
  });
});

describe('the record', () => {
  test('it holds all that was decided on', async () => {
    const { ask, store, agent, world } = await setUp();
    const { request_id: id } = decided(await ask({ isSigned: true, session: 's-1' }));
    const row = await store.requests.find(id);
    const facts = world.active.asked[0];
    expect(facts).toMatchObject({ nowMs: startMs, meters: {}, satisfied: { escalate: [], reauth: [] } });
    expect(row && requestRecord(row)).toEqual({
      id,
      agentId: agent.id,
      actionKey: 'payment.create',
      payload: { amount: 5, vendor: 'Staples' },
      agent: {
        id: agent.id,
        name: agent.name,
        risk_tier: 'low',
        control_owner: 'ops@example.com',
        tags: ['purchasing', 'eu'],
      },
      request: { ip: '192.0.2.7', signed: true, session: 's-1' },
      meters: {},
      satisfied: { escalate: [], reauth: [] },
      createdAtMs: startMs,
      decision: allowed,
      trace: world.active.decideTraced(facts!).trace,
      policySet: { digest: 'digest-1', commit: 'c0ffee' },
      engine: {
        writ: manifest.version,
        unicode: process.versions.unicode,
        timeZones: process.versions.tz,
      },
      key: { id: 'key00001', isReplaced: false },
      isSigned: true,
      clientAddress: '192.0.2.7',
      timing: { decideMicroseconds: expect.any(Number) },
      idempotency: null,
      status: 'auto_approved',
      decidedAtMs: startMs,
      expiresAtMs: startMs + 600_000,
    });
  });

  test('it is on disk before the reply leaves', async () => {
    const { ask, path } = await setUp();
    const { request_id: id } = decided(await ask());
    expect(readFileSync(`${path}-wal`).includes(id)).toBe(true);
  });

  test('has no session if the call had none', async () => {
    const { ask, world } = await setUp();
    await ask();
    expect(world.active.asked[0]?.request).toEqual({ ip: '192.0.2.7', signed: false });
  });

  test('the time is read once and is a whole number', async () => {
    const { ask, world } = await setUp();
    world.nowMs = startMs + 0.75;
    const view = decided(await ask());
    expect(world.active.asked[0]?.nowMs).toBe(startMs);
    expect(view.expires_at).toBe(timeAfter(600));
  });

  test('one set decides, traces and is named, also when another takes over meanwhile', async () => {
    const { ask, find, world } = await setUp();
    const second = activeWith(() => denied, 'digest-2');
    world.active = activeWith(() => {
      world.active = second;
      return allowed;
    });
    const { request_id: id } = decided(await ask());
    expect(await find(id)).toMatchObject({
      decision: 'ALLOW',
      policy_set: { digest: 'digest-1' },
    });
    expect(decided(await ask()).decision).toBe('DENY');
  });

  test('rules see secrets, the record and the files do not', async () => {
    const { ask, find, path, world } = await setUp();
    const payload = {
      amount: 5,
      card_number: '4111222233334444',
      login: { user: 'u', password: 'hunter2-x' },
    };
    const { request_id: id } = decided(await ask({ payload }));
    expect(world.active.asked[0]?.payload).toEqual(payload);
    const detail = await find(id);
    expect(detail.payload).toMatchObject({
      amount: 5,
      card_number: { secret: expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/) },
      login: { user: 'u', password: { secret: expect.any(String) } },
    });
    const bytes = Buffer.concat([readFileSync(path), readFileSync(`${path}-wal`)]);
    expect(bytes.includes(id)).toBe(true);
    for (const secret of ['4111222233334444', 'hunter2-x', sha256('body')]) {
      expect(bytes.includes(secret)).toBe(false);
    }
  });

  test('in a payload that failed the check, a misplaced secret is hidden', async () => {
    const { ask, find } = await setUp({ ...denied, by: 'invalid_payload' });
    const { request_id: id } = decided(await ask({ payload: { public: { token: 'hunter2' } } }));
    expect(JSON.stringify(await find(id))).not.toContain('hunter2');
  });

  test('where it cannot be stored, nothing is granted', async () => {
    const { ask, store } = await setUp();
    await store.close();
    await expect(ask()).rejects.toThrow(StoreError);
  });

  test('an id in use is a mistake that grants nothing', async () => {
    const { ask } = await setUp();
    const requestId = createRequestId(startMs);
    await ask({ requestId });
    await expect(ask({ requestId })).rejects.toThrow('is in use');
  });
});

describe('reading a request', () => {
  test('returns the whole record', async () => {
    const { ask, find, agent } = await setUp(escalated);
    const view = decided(await ask());
    expect(await find(view.request_id)).toEqual({
      ...view,
      action_key: 'payment.create',
      title: 'amount 5, vendor Staples',
      resolved: [],
      payload: { amount: 5, vendor: 'Staples' },
      agent: expect.objectContaining({ id: agent.id }),
      point: null,
      chain: [],
      on_behalf_of: null,
      plan: null,
      session: null,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      approvals: [],
      comments: [],
      standing_approvals: [],
      fallbacks: [],
      reminders: [],
      step_ups: [],
      requires: {
        approvals: [
          { group: 'finance', needs: 2, given: 0 },
          { group: 'owner', needs: 1, given: 0 },
        ],
        step_up: false,
        invalidated: [],
      },
      trace: [expect.objectContaining({ rule: 'payments/for_payment.create' })],
      trace_omitted: 0,
      policy_set: { digest: 'digest-1', commit: 'c0ffee' },
      created_at: timeAfter(0),
      decided_at: null,
      allowed_actions: null,
    });
  });

  test('shows the canonical spelling that rules saw, and keeps the original', async () => {
    const { ask, find, world, store } = await setUp();
    const { decideTraced } = world.active;
    const resolved = [{ pointer: '/vendor', resolved: '/a' }];
    world.active = { ...world.active, decideTraced: (facts) => ({ ...decideTraced(facts), resolved }) };
    const { request_id: id } = decided(await ask({ payload: { amount: 5, vendor: '/./a' } }));
    const detail = await find(id);
    expect(detail).toMatchObject({ payload: { vendor: '/./a' }, resolved });
    const { row } = (await store.requests.history(id))!;
    expect(requestRecord(row)).toMatchObject({ payload: { vendor: '/./a' }, resolved });
  });

  test.each<[Decision, string]>([
    [allowed, 'expired'],
    [escalated, 'expired'],
    [denied, 'rejected'],
  ])('after its end it says so: %#', async (decision, status) => {
    const { ask, find, world } = await setUp(decision);
    const view = decided(await ask());
    world.nowMs = Date.parse(view.expires_at) - 1;
    expect((await find(view.request_id)).status).toBe(view.status);
    world.nowMs += 1;
    const detail = await find(view.request_id);
    expect(detail).toMatchObject({ status, decision: decision.outcome });
    expect(detail.message).toMatch(/^(Do not proceed|Not permitted by policy payments: )/);
  });
});

describe('idempotency', () => {
  const keyed = { idempotencyKey: 'k-1' };

  test('the same key and body is the same request, recorded once', async () => {
    const { ask, world, store, agent } = await setUp();
    const first = decided(await ask(keyed));
    world.nowMs += 1000;
    expect(decided(await ask(keyed))).toEqual(first);
    expect((await store.requests.count({ ...everything, agentId: agent.id })).count).toBe(1);
  });

  test('a grant is not repeated to a call that the policies refuse now', async () => {
    const { ask, world } = await setUp();
    const first = decided(await ask(keyed));
    world.active = activeWith(() => denied);
    expect(decided(await ask(keyed))).toMatchObject({
      request_id: first.request_id,
      decision: 'DENY',
      status: 'rejected',
      reason: denied.reason,
      matched_policy: denied.matchedPolicy,
    });
    world.active = activeWith(() => allowed);
    expect(decided(await ask(keyed))).toEqual(first);
  });

  test('another body is a mismatch, another agent or key a request of its own', async () => {
    const { ask, store } = await setUp();
    const first = decided(await ask(keyed));
    expect(await ask({ ...keyed, bodyDigest: sha256('other') })).toEqual({ kind: 'idempotency-mismatch' });
    const agent = agentRow();
    await store.agents.add(agent, keyRow(agent.id));
    expect(decided(await ask({ ...keyed, agent })).request_id).not.toBe(first.request_id);
    expect(decided(await ask({ idempotencyKey: 'k-2' })).request_id).not.toBe(first.request_id);
  });

  test('of many concurrent calls, one is decided for all', async () => {
    const { ask } = await setUp(escalated);
    const results = await Promise.all(Array.from({ length: 30 }, () => ask(keyed)));
    expect(new Set(results.map((result) => decided(result).request_id)).size).toBe(1);
    const mixed = await Promise.all(
      ['a', 'b'].map((body) => ask({ idempotencyKey: 'k-2', bodyDigest: sha256(body) })),
    );
    expect(mixed.map((result) => result.kind).sort()).toEqual(['decided', 'idempotency-mismatch']);
  });

  test('a repeat after the end grants nothing', async () => {
    const { ask, world } = await setUp();
    const first = decided(await ask(keyed));
    world.nowMs = Date.parse(first.expires_at);
    expect(decided(await ask(keyed))).toMatchObject({
      request_id: first.request_id,
      decision: 'DENY',
      status: 'rejected',
      reason: 'The request has expired',
      expires_at: first.expires_at,
    });
  });

  test('the key is free again a day after the end', async () => {
    const { ask, world } = await setUp();
    const first = decided(await ask(keyed));
    world.nowMs = Date.parse(first.expires_at) + 24 * 3600 * 1000 - 1;
    expect(decided(await ask(keyed)).request_id).toBe(first.request_id);
    world.nowMs += 1;
    expect(decided(await ask(keyed))).toMatchObject({ decision: 'ALLOW' });
    expect(world.active.asked).toHaveLength(2);
  });
});

describe('open requests', () => {
  test('beyond the limit, one more that would wait is refused and not recorded', async () => {
    const { ask, store, agent, world } = await setUp(escalated);
    const results = await Promise.all(Array.from({ length: openRequestsMax + 5 }, () => ask()));
    expect(results.filter((result) => result.kind === 'too-many-open')).toHaveLength(5);
    expect(await store.requests.countOpen(agent.id, startMs)).toBe(openRequestsMax);

    world.active = activeWith(() => allowed);
    expect(decided(await ask()).status).toBe('auto_approved');
    world.active = activeWith(() => escalated);
    const requestId = createRequestId(startMs);
    expect((await ask({ requestId, idempotencyKey: 'k' })).kind).toBe('too-many-open');
    expect(await store.requests.find(requestId)).toBeNull();
    world.nowMs = startMs + 3_600_000;
    expect((await ask({ idempotencyKey: 'k' })).kind).toBe('decided');
  });
});

test('a refusal is recorded with a keyed digest of its body', async () => {
  const { store, agent } = await setUp();
  const recordRefusal = createRefusalRecorder(store);
  const refusal = refusalRecord({ agentId: agent.id, bodyDigest: sha256('body') });
  await recordRefusal(refusal);
  await recordRefusal(refusalRecord({ agentId: agent.id, bodyDigest: null }));
  const [unread, read] = await store.requests.refusals(agent.id, 10);
  expect(unread?.bodyDigest).toBeNull();
  expect(read).toEqual({ ...refusal, bodyDigest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(read?.bodyDigest).not.toBe(refusal.bodyDigest);
});
