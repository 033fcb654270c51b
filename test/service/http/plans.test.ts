// Plans over HTTP: a preview is what `authorize` would decide and grants nothing; a submission asks people for all
// steps or for none; people vote on the whole or on single steps; the agent goes on step by step.

import { beforeAll, describe, expect, test, vi } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createRequestEvents } from '../../../src/service/requests/record/request-events.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { startMailServer } from '../webhooks/mail-server.ts';
import { type Answer, type Client, firstAdmin, personWith, send, signedIn } from './person-client.ts';
import { authorize, type Service, shareService, startService } from './service.ts';
import { ask, codeOf, look, type View } from './written-policies.ts';

const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.send, pay.risky "Pay {amount} to {vendor}" { amount: money(currency), currency: string, vendor?: string }
action doc.sign { name: string, pin?: secret string }
action free.read { path: string }
action free.never { path: string }
meter day = sum(payload.amount) in USD of pay.send per agent over 1d
policy pay on pay.* {
  allow small for 10m
  escalate large to finance within 2h when payload.amount > 100 USD
  escalate risky to finance within 2h when action.key == "pay.risky" risk +85
  deny much when day > 10000 USD
}
policy docs on doc.* {
  allow all
  escalate sign to legal within 1h
}
policy free on free.* {
  allow any
  deny never when action.key == "free.never" because "never"
}
`;

interface Step {
  readonly action_key: string;
  readonly payload: object;
}

const pay = (amount: number, vendor = 'Staples', action_key = 'pay.send'): Step => ({
  action_key,
  payload: { amount, currency: 'USD', vendor },
});
const read: Step = { action_key: 'free.read', payload: { path: '/a' } };

interface Planning {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function plan(
  service: Service,
  body: object,
  { key = service.apiKey, headers = {} }: Planning = {},
): Promise<Answer> {
  return send(service, '/v1/plans', {
    method: 'POST',
    headers: { 'x-agent-api-key': key, ...headers },
    body,
  });
}

function getPlan(service: Service, id: string, key = service.apiKey): Promise<Answer> {
  return send(service, `/v1/plans/${id}`, { headers: { 'x-agent-api-key': key } });
}

async function team(service: Service) {
  const first = await firstAdmin(service);
  const member = (email: string, groups: readonly string[]) =>
    personWith(service, first, { email, roles: ['approver'], groups: [...groups] });
  const admin = await signedIn(service, 'ann@example.com');
  const [ben, lea] = [
    await member('ben@example.com', ['finance']),
    await member('lea@example.com', ['legal']),
  ];
  return { admin, ben, lea };
}

/** Everything that a plan could leave behind. */
async function traces({ store, agent }: Service) {
  const plans = await store.documents.list({ kind: 'plan', parent: null, after: null, countMax: 100 });
  const changes = await store.chain.changes({ beforeSequence: null, countMax: 100 });
  return {
    open: await store.requests.countOpen(agent.id, Date.now()),
    plans: plans.length,
    changes: changes.filter(({ what }) => what.startsWith('plan-')).length,
  };
}

const nothing = { open: 0, plans: 0, changes: 0 };

describe('a preview', () => {
  const shared = shareService({ startsWith: policies, openRequestsMax: 100 });

  test('returns what would be decided for each step, and grants nothing', async () => {
    const service = shared();
    const steps = [pay(50), pay(500), read, { action_key: 'free.never', payload: { path: '/a' } }];
    const { status, body } = await plan(service, { goal: 'month end', steps });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      goal: 'month end',
      submitted: false,
      expires_at: null,
      pending: 0,
      sums: ['550.00 USD'],
      agent: 'buyer',
    });
    expect(body.steps.map((one: View & { title: string }) => [one.decision, one.title])).toEqual([
      ['ALLOW', 'Pay 50.00 USD to Staples'],
      ['ESCALATE', 'Pay 500.00 USD to Staples'],
      ['ALLOW', 'path /a'],
      ['DENY', 'path /a'],
    ]);
    for (const step of body.steps)
      expect(step).toMatchObject({ request_id: null, status: null, request: null });
    expect(body.steps[3]).toMatchObject({ reason: 'never', matched_policy: 'free' });
    expect(await traces(service)).toEqual({ open: 0, plans: 1, changes: 1 });
    // No step has entered a meter: the next request sees none of them.
    const { decision } = await ask(service, 'pay.send', { payload: pay(90).payload });
    expect(decision).toBe('ALLOW');
    expect((await getPlan(service, body.plan_id)).body).toEqual(body);
    expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
  });

  test('decides each step as if it were the only one', async () => {
    const service = shared();
    const { body } = await plan(service, { steps: [pay(90), pay(9000), pay(9000)] });
    expect(body.steps.map(({ decision }: View) => decision)).toEqual(['ALLOW', 'ESCALATE', 'ESCALATE']);
  });
});

describe('bad input', () => {
  const shared = shareService({ startsWith: policies });

  test.each<readonly [string, object, string]>([
    [
      'an undeclared action',
      { steps: [read, { action_key: 'pay.sned', payload: {} }] },
      '/steps/1/action_key',
    ],
    ['a payload that does not fit', { steps: [read, pay(5), pay('5' as never)] }, '/steps/2/payload/amount'],
    ['a field that nobody knows', { steps: [{ ...read, pay: 1 }] }, '/steps/0/pay'],
    ['an unknown member of the plan', { steps: [read], sumbit: true }, '/sumbit'],
    ['no step', { steps: [] }, '/steps'],
    ['51 steps', { steps: Array.from({ length: 51 }, () => read) }, '/steps'],
    ['a long goal', { goal: 'x'.repeat(501), steps: [read] }, '/goal'],
    ['a NUL in an action', { steps: [{ action_key: 'a\u0000', payload: {} }] }, '/steps/0/action_key'],
  ])('%s is refused with its place, and nothing is stored', async (_, body, pointer) => {
    const service = shared();
    for (const submit of [false, true]) {
      const reply = await plan(service, { ...body, submit });
      expect(codeOf(reply)).toEqual([400, 'invalid_body']);
      expect(reply.body.errors.map((one: { pointer: string }) => one.pointer)).toContain(pointer);
    }
    expect(await traces(service)).toEqual(nothing);
  });

  test('each fault is named', async () => {
    const reply = await plan(shared(), {
      submit: true,
      steps: [pay(500), pay('1' as never), { ...read, action_key: 'no' }],
    });
    expect(reply.body.detail).toMatch(/^`\/steps\/1\/payload\/amount`: must be money/);
    expect(reply.body.errors).toHaveLength(2);
  });

  test('a body that is too large', async () => {
    const steps = [{ action_key: 'free.read', payload: { path: 'x'.repeat(300_000) } }];
    expect(codeOf(await plan(shared(), { steps }))).toEqual([400, 'body_too_large']);
    expect(await traces(shared())).toEqual(nothing);
  });

  test('a missing key, and an unknown key', async () => {
    const post = (headers: Readonly<Record<string, string>>) =>
      send(shared(), '/v1/plans', { method: 'POST', headers, body: { steps: [read] } });
    expect(codeOf(await post({}))).toEqual([401, 'missing_api_key']);
    expect(codeOf(await post({ 'x-agent-api-key': 'writ_nobody' }))).toEqual([401, 'invalid_api_key']);
  });
});

describe('a submission', () => {
  test('asks people for the steps that need them, and only lists the others', async () => {
    const service = await startService({ startsWith: policies });
    const { ben } = await team(service);
    const sign = { action_key: 'doc.sign', payload: { name: 'contract', pin: '1234' } };
    const { body } = await plan(service, {
      goal: 'month end',
      submit: true,
      steps: [pay(50), pay(500), sign, read],
    });
    expect(body).toMatchObject({ submitted: true, pending: 2, sums: ['550.00 USD'] });
    expect(body.steps.map(({ status }: View) => status)).toEqual([null, 'pending', 'pending', null]);
    const [, second, third] = body.steps;
    expect(body.expires_at).toBe((await look(service, second.request_id)).body.expires_at);
    const { body: request } = await look(service, second.request_id);
    expect(request).toMatchObject({
      decision: 'ESCALATE',
      digest: second.digest,
      plan: { id: body.plan_id, goal: 'month end', step: 2, steps: 4 },
    });
    expect(JSON.stringify(await traces(service))).toBe(JSON.stringify({ open: 2, plans: 1, changes: 1 }));
    const queue = (await ben.send('/v1/approvals')).body.items;
    expect(queue).toMatchObject([{ request_id: second.request_id, plan: { step: 2 } }]);
    // The record has each step as it was asked for; neither it nor the plan holds a secret.
    const [change] = await service.store.chain.changes({ beforeSequence: null, countMax: 1 });
    expect(JSON.parse(change?.afterJson ?? '')).toMatchObject({
      goal: 'month end',
      steps: [
        {
          action: 'pay.send',
          title: 'Pay 50.00 USD to Staples',
          payload: pay(50).payload,
          decision: 'ALLOW',
        },
        { payload: pay(500).payload, decision: 'ESCALATE', request: second.request_id },
        {
          action: 'doc.sign',
          payload: { name: 'contract', pin: { secret: expect.stringMatching(/^hmac/) } },
        },
        { action: 'free.read', payload: { path: '/a' } },
      ],
    });
    expect(change?.afterJson).not.toContain('1234');
    const documents = await service.store.documents.list({
      kind: 'plan',
      parent: null,
      after: null,
      countMax: 9,
    });
    expect(JSON.stringify(documents)).not.toContain('1234');
    expect(third.digest).not.toBe(second.digest);
    expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
  });

  test('meters count the pending steps in order', async () => {
    const service = await startService({ startsWith: policies, openRequestsMax: 50 });
    const steps = [pay(4000), pay(4000), pay(4000), read];
    const preview = await plan(service, { steps });
    expect(preview.body.steps.map(({ decision }: View) => decision).slice(0, 3)).toEqual(
      Array(3).fill('ESCALATE'),
    );
    const { body } = await plan(service, { steps, submit: true });
    expect(body.steps.map(({ decision }: View) => decision)).toEqual([
      'ESCALATE',
      'ESCALATE',
      'DENY',
      'ALLOW',
    ]);
    // The reservation stays: a request of its own is refused as the third step was.
    expect((await ask(service, 'pay.send', { payload: pay(4000).payload })).decision).toBe('DENY');
  });

  test('opens as many requests as the limit permits, and not one more', async () => {
    const service = await startService({ startsWith: policies, openRequestsMax: 3 });
    await ask(service, 'pay.send', { payload: pay(200).payload });
    const three = { submit: true, steps: [pay(300), pay(301), pay(302)] };
    expect(codeOf(await plan(service, three))).toEqual([429, 'too_many_open_requests']);
    expect(await traces(service)).toEqual({ open: 1, plans: 0, changes: 0 });
    expect((await plan(service, { submit: true, steps: [pay(300), pay(301)] })).status).toBe(200);
  });

  test('each step counts for the rate limit', async () => {
    const service = await startService({ startsWith: policies, rate: { perMinute: 1, burst: 10 } });
    expect((await plan(service, { steps: Array.from({ length: 6 }, () => read) })).status).toBe(200);
    expect(codeOf(await plan(service, { steps: Array.from({ length: 6 }, () => read) }))).toEqual([
      429,
      'rate_limited',
    ]);
  });

  test('a kill switch on one action refuses the plan', async () => {
    const service = await startService({ startsWith: policies });
    const { admin } = await team(service);
    await admin.send('/v1/kill-switches', { method: 'POST', body: { scope: 'area:doc', reason: 'stop' } });
    const reply = await plan(service, {
      submit: true,
      steps: [pay(500), { action_key: 'doc.sign', payload: { name: 'x' } }],
    });
    expect(codeOf(reply)).toEqual([403, 'stopped']);
    expect(reply.body.detail).toContain('/steps/1');
    expect(await traces(service)).toEqual(nothing);
  });

  test('a disabled agent cannot plan', async () => {
    const service = await startService({ startsWith: policies });
    await service.store.agents.setStatus({ agentId: service.agent.id, status: 'disabled', atMs: Date.now() });
    expect(codeOf(await plan(service, { submit: true, steps: [pay(500)] }))).toEqual([403, 'agent_disabled']);
  });

  test('the same key and body are one plan, however often they are sent', async () => {
    const service = await startService({ startsWith: policies, openRequestsMax: 100 });
    const { ben } = await team(service);
    const headers = { 'idempotency-key': 'month-5' };
    const body = { submit: true, steps: [pay(500), pay(501)] };
    const replies = await Promise.all(Array.from({ length: 5 }, () => plan(service, body, { headers })));
    const ids = new Set(replies.map((reply) => reply.body.plan_id));
    expect([...ids]).toHaveLength(1);
    expect(await traces(service)).toEqual({ open: 2, plans: 1, changes: 1 });
    const [id = ''] = ids;
    await ben.send(`/v1/plans/${id}/votes`, { method: 'POST', body: { vote: 'approve', comment: 'fine' } });
    const again = await plan(service, body, { headers });
    expect(again.body.steps.map(({ status }: View) => status)).toEqual(['approved', 'approved']);
    expect(codeOf(await plan(service, { steps: [read] }, { headers }))).toEqual([
      400,
      'idempotency_mismatch',
    ]);
    // Another agent's key means another plan.
    const other = await addAgent(service.store, {
      name: 'other',
      riskTier: 'low',
      controlOwner: 'ops',
      tags: [],
    });
    if (other.kind !== 'added') throw new Error(other.kind);
    expect((await plan(service, body, { headers, key: other.apiKey })).body.plan_id).not.toBe(id);
  });

  test('the key is free again a day after the last request has ended', async () => {
    let nowMs = Date.now();
    const service = await startService({ startsWith: policies, clock: () => nowMs });
    const headers = { 'idempotency-key': 'month-5' };
    const first = await plan(service, { submit: true, steps: [pay(500)] }, { headers });
    nowMs += 25 * 3_600_000;
    expect(codeOf(await plan(service, { steps: [read] }, { headers }))).toEqual([
      400,
      'idempotency_mismatch',
    ]);
    nowMs += 2 * 3_600_000;
    const next = await plan(service, { steps: [read] }, { headers });
    expect(next.body.plan_id).not.toBe(first.body.plan_id);
    expect((await getPlan(service, first.body.plan_id)).body.steps[0].status).toBe('expired');
  });

  test('a store that fails stores nothing and reserves nothing', async () => {
    const service = await startService({ startsWith: policies, openRequestsMax: 100 });
    const { requests } = service.store;
    const steps = Array.from({ length: 12 }, (_, at) => pay(800 + at));
    const failing = vi.spyOn(requests, 'appendTogether');
    failing.mockRejectedValueOnce(new StoreError('full', 'the disk is full'));
    expect(codeOf(await plan(service, { submit: true, steps }))).toEqual([500, 'record_failed']);
    failing.mockRestore();
    expect(await traces(service)).toEqual(nothing);
    // Whoever comes next is decided as if the plan had never come.
    const { body } = await plan(service, { submit: true, steps });
    expect(body.pending).toBe(12);
    expect(body.steps.every(({ decision }: View) => decision === 'ESCALATE')).toBe(true);
  });

  test('if the store refuses the seventh row, no step is pending', async () => {
    const service = await startService({ startsWith: policies, openRequestsMax: 100 });
    const { requests } = service.store;
    const real = requests.appendTogether.bind(requests);
    const taken = await ask(service, 'free.read', { payload: { path: '/taken' } });
    vi.spyOn(requests, 'appendTogether').mockImplementationOnce((batch) =>
      real({
        ...batch,
        requests: batch.requests.map((one, at) =>
          at === 6 ? { ...one, row: { ...one.row, id: taken.request_id } } : one,
        ),
      }),
    );
    const steps = Array.from({ length: 12 }, (_, at) => pay(800 + at));
    const reply = await plan(service, { submit: true, steps });
    expect(reply.status).toBeGreaterThanOrEqual(500);
    vi.restoreAllMocks();
    expect(await traces(service)).toEqual(nothing);
    expect((await plan(service, { submit: true, steps })).body.pending).toBe(12);
    expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
  });
});

describe('a sub-agent', () => {
  async function delegate(service: Service, body: object): Promise<string> {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const headers = { 'x-agent-api-key': service.apiKey };
    const made = await send(service, '/v1/delegations', {
      method: 'POST',
      headers,
      body: { name: 'sub', actions: ['pay.*'], until, ...body },
    });
    return made.body.api_key;
  }

  test('plans within its chain of delegations, and reads no plan', async () => {
    const service = await startService({ startsWith: policies });
    const key = await delegate(service, { when: 'payload.amount <= 600 USD' });
    const { body } = await plan(service, { submit: true, steps: [pay(500), pay(700), read] }, { key });
    expect(
      body.steps.map((one: View & { matched_policy: string }) => [one.decision, one.matched_policy]),
    ).toEqual([
      ['ESCALATE', 'pay'],
      ['DENY', 'outside_delegation'],
      ['DENY', 'outside_delegation'],
    ]);
    expect(codeOf(await getPlan(service, body.plan_id, key))).toEqual([403, 'delegated_key']);
    expect((await getPlan(service, body.plan_id)).status).toBe(200);
  });

  test('with a number of uses submits as many steps as it has uses left, and a rejected step gives its use back', async () => {
    const service = await startService({ startsWith: policies, openRequestsMax: 100 });
    const { ben } = await team(service);
    const key = await delegate(service, { uses: 3 });
    const steps = [pay(500), pay(50), pay(600)];
    const refused = await plan(service, { submit: true, steps: [...steps, pay(700), pay(800)] }, { key });
    expect(codeOf(refused)).toEqual([409, 'conflict']);
    expect(refused.body.detail).toContain('`sub`');
    expect(await traces(service)).toEqual(nothing);
    const { body } = await plan(service, { submit: true, steps }, { key });
    expect(body.steps.map(({ status }: View) => status)).toEqual(['pending', null, 'pending']);
    // Two of three uses are taken: another plan of two does not fit, a preview of any number does.
    expect(codeOf(await plan(service, { submit: true, steps }, { key }))).toEqual([409, 'conflict']);
    expect((await plan(service, { steps }, { key })).status).toBe(200);
    await ben.send(`/v1/plans/${body.plan_id}/votes`, {
      method: 'POST',
      body: { vote: 'approve', comment: '', steps: [{ step: 1 }] },
    });
    await ben.send(`/v1/plans/${body.plan_id}/votes`, {
      method: 'POST',
      body: { vote: 'reject', comment: '', steps: [{ step: 3 }] },
    });
    const ask = async ({ action_key, payload }: Step) =>
      await authorize(service, {
        key,
        body: JSON.stringify({ action_key, payload }),
        headers: { prefer: 'attach' },
      });
    for (const step of [pay(50), pay(51)])
      expect(await (await ask(step)).json()).toMatchObject({ decision: 'ALLOW' });
    expect((await ask(pay(52))).status).toBe(403);
    expect(codeOf(await plan(service, { steps }, { key }))).toEqual([403, 'delegation_ended']);
    // The use of the approved step was taken when it was submitted.
    expect(await (await ask(pay(500))).json()).toMatchObject({
      decision: 'ALLOW',
      request_id: body.steps[0].request_id,
    });
    expect((await ask(pay(500))).status).toBe(403);
  });
});

describe('people', () => {
  let service: Service;
  let admin: Client;
  let ben: Client;
  let lea: Client;
  const shared = shareService({ startsWith: policies, openRequestsMax: 1_000 });
  beforeAll(async () => {
    service = shared();
    ({ admin, ben, lea } = await team(service));
  });

  const vote = (client: Client, id: string, body: object) =>
    client.send(`/v1/plans/${id}/votes`, { method: 'POST', body: { comment: 'looked at', ...body } });
  const sign: Step = { action_key: 'doc.sign', payload: { name: 'contract' } };
  const submitted = async (steps: readonly Step[]) =>
    (await plan(service, { goal: 'g', submit: true, steps })).body;

  test('see a plan when they may see one of its requests, and its other requests without their content', async () => {
    const { plan_id: id } = await submitted([pay(500), sign]);
    const seen = (await ben.send(`/v1/plans/${id}`)).body;
    expect(seen.steps[0]).toMatchObject({
      status: 'pending',
      request: { allowed_actions: { approve: ['finance'] } },
    });
    expect(seen.steps[1]).toMatchObject({ status: 'pending', request: null });
    expect((await admin.send(`/v1/plans/${id}`)).body.steps[1].request).not.toBeNull();
    const { plan_id: other } = await submitted([sign]);
    expect(codeOf(await ben.send(`/v1/plans/${other}`))).toEqual([404, 'not_found']);
    expect(codeOf(await ben.send('/v1/plans/none'))).toEqual([404, 'not_found']);
    const listOf = async (client: Client) =>
      (await client.send('/v1/plans?limit=100')).body.items.map((one: { plan_id: string }) => one.plan_id);
    expect(await listOf(ben)).toContain(id);
    expect(await listOf(ben)).not.toContain(other);
    expect((await listOf(admin)).slice(0, 2)).toEqual([other, id]);
    const inState = async (state: string, limit = 100) => {
      const { items } = (await admin.send(`/v1/plans?state=${state}&limit=${limit}`)).body;
      return items.map((one: { plan_id: string; state: string }) => [one.plan_id, one.state]);
    };
    const { plan_id: preview } = (await plan(service, { steps: [pay(500)] })).body;
    await vote(admin, other, { vote: 'reject' });
    expect(await inState('preview')).toEqual([[preview, 'preview']]);
    expect(await inState('decided')).toContainEqual([other, 'decided']);
    expect(await inState('pending')).toContainEqual([id, 'pending']);
    // One page is filled from several stretches of the list.
    expect(await inState('pending', 1)).toEqual([[id, 'pending']]);
    expect(codeOf(await admin.send('/v1/plans?state=open'))).toEqual([400, 'invalid_query']);
    const otherAgent = await addAgent(service.store, {
      name: 'x',
      riskTier: 'low',
      controlOwner: 'ops',
      tags: [],
    });
    if (otherAgent.kind !== 'added') throw new Error(otherAgent.kind);
    expect(codeOf(await getPlan(service, id, otherAgent.apiKey))).toEqual([404, 'not_found']);
  });

  test('approve the whole plan, and the steps that they cannot approve stay pending', async () => {
    const { plan_id: id, steps } = await submitted([
      pay(500),
      sign,
      pay(600, 'Staples', 'pay.risky'),
      read,
      pay(700),
    ]);
    const { status, body } = await vote(ben, id, { vote: 'approve' });
    expect(status).toBe(200);
    expect(
      body.items.map((one: { step: number; status: string; refusal: { code: string } | null }) => [
        one.step,
        one.status,
        one.refusal?.code ?? null,
      ]),
    ).toEqual([
      [1, 'approved', null],
      [2, null, 'request_not_found'],
      [3, null, 'needs_own_review'],
      [5, 'approved', null],
    ]);
    const detail = (await ben.send(`/v1/requests/${steps[0].request_id}`)).body;
    expect(detail.approvals).toMatchObject([{ comment: 'looked at', is_approved: true }]);
    expect((await vote(lea, id, { vote: 'approve' })).body.items.map(({ status }: View) => status)).toContain(
      'approved',
    );
    const now = (await getPlan(service, id)).body;
    expect(now.steps.map((one: View) => one.status)).toEqual([
      'approved',
      'approved',
      'pending',
      null,
      'approved',
    ]);
    expect(now.pending).toBe(1);
  });

  test('reject or approve single steps, for the digest that they saw', async () => {
    const { plan_id: id, steps } = await submitted([pay(500), pay(600), pay(700)]);
    const rejected = await vote(ben, id, { vote: 'reject', steps: [{ step: 2, digest: steps[1].digest }] });
    expect(rejected.body.items).toMatchObject([{ step: 2, status: 'rejected', refusal: null }]);
    const { body } = await vote(ben, id, {
      vote: 'approve',
      steps: [
        { step: 1, digest: steps[2].digest },
        { step: 2 },
        { step: 3, digest: steps[2].digest, group: 'finance' },
        { step: 9 },
      ],
    });
    expect(body.items).toMatchObject([
      { step: 1, status: null, refusal: { code: 'conflict', detail: 'the step has another digest' } },
      { step: 2, status: null, refusal: { code: 'conflict' } },
      { step: 3, status: 'approved', refusal: null },
      { step: 9, status: null, refusal: { code: 'not_found' } },
    ]);
    expect((await getPlan(service, id)).body.steps.map((one: View) => one.status)).toEqual([
      'pending',
      'rejected',
      'approved',
    ]);
  });
});

test('twelve steps are approved once and executed one by one, and a step with another byte is pending', async () => {
  const service = await startService({ startsWith: policies, openRequestsMax: 100 });
  const { ben } = await team(service);
  const steps = Array.from({ length: 12 }, (_, at) => pay(200 + at, `Vendor ${at}`));
  const { body } = await plan(service, { submit: true, steps });
  const voted = await ben.send(`/v1/plans/${body.plan_id}/votes`, {
    method: 'POST',
    body: { vote: 'approve', comment: '' },
  });
  expect(voted.body.items.map(({ status }: View) => status)).toEqual(Array(12).fill('approved'));
  for (const [at, { action_key, payload }] of steps.entries()) {
    const reply = await authorize(service, {
      body: JSON.stringify({ action_key, payload }),
      headers: { prefer: 'attach' },
    });
    expect(await reply.json()).toMatchObject({
      decision: 'ALLOW',
      status: 'auto_approved',
      request_id: body.steps[at].request_id,
    });
  }
  const changed = await authorize(service, {
    body: JSON.stringify(pay(200, 'Vendor 0.')),
    headers: { prefer: 'attach' },
  });
  expect(await changed.json()).toMatchObject({ decision: 'ESCALATE' });
  const again = await authorize(service, {
    body: JSON.stringify(steps[0]),
    headers: { prefer: 'attach' },
  });
  expect(await again.json()).toMatchObject({ decision: 'ESCALATE' });
});

test('a vote is checked by the active policies', async () => {
  const service = await startService({ startsWith: policies });
  const { ben, admin } = await team(service);
  const { body } = await plan(service, { submit: true, steps: [pay(500), pay(600)] });
  await admin.send('/v1/kill-switches', { method: 'POST', body: { scope: 'area:pay', reason: 'stop' } });
  const voted = await ben.send(`/v1/plans/${body.plan_id}/votes`, {
    method: 'POST',
    body: { vote: 'approve', comment: '' },
  });
  expect(voted.body.items.map((one: { refusal: { code: string } }) => one.refusal.code)).toEqual([
    'stopped',
    'stopped',
  ]);
});

test('each approver gets one mail about the plan, and each event names it', async () => {
  const mail = await startMailServer();
  const requestEvents = createRequestEvents();
  const heard: unknown[] = [];
  requestEvents.subscribe(({ plan: place }) => heard.push(place));
  const service = await startService({
    startsWith: policies,
    requestEvents,
    publicUrl: 'https://writ.example.com',
    smtp: { url: mail.url, from: 'writ@example.com' },
  });
  const people = await firstAdmin(service);
  for (const [email, group] of [
    ['ben@example.com', 'finance'],
    ['lea@example.com', 'legal'],
  ] as const)
    await personWith(service, people, { email, roles: ['approver'], groups: [group] });
  const sign: Step = { action_key: 'doc.sign', payload: { name: 'contract' } };
  const { body } = await plan(service, { submit: true, steps: [pay(500), pay(600), sign] });
  expect(heard).toEqual([1, 2, 3].map((step) => ({ id: body.plan_id, goal: null, step, steps: 3 })));
  await expect.poll(() => mail.taken.length).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(mail.taken.map(({ to }) => to.join()).toSorted()).toEqual([
    'RCPT TO:<ben@example.com>',
    'RCPT TO:<lea@example.com>',
  ]);
  for (const { text } of mail.taken) {
    expect(text).toContain('Subject: Writ: approve or reject a plan of 3 steps');
    expect(text).toContain(`https://writ.example.com/plans/${body.plan_id}`);
  }
});
