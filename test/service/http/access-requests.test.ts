// Access requests of AuthZEN (Access Request and Approval Profile, draft 1): each MUST that binds a decision
// point or an access request service. An approval covers only the evaluation it was given for, works only for
// the agent that asked, and works once.

import { beforeAll, describe, expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { type Client, firstAdmin, personWith, send, signedIn } from './person-client.ts';
import { type Service, shareService } from './service.ts';
import { codeOf, give, usePolicies } from './written-policies.ts';

let nowMs = Date.now();
const shared = shareService({ clock: () => (nowMs += 1), openRequestsMax: 1_000 });
let service: Service;
let ben: Client;
let other: string;

const policies = `
approvers finance "Finance"
approvers audit "Audit"
action payment.create { id: string, amount: number }
policy payments on payment.create {
  allow most for 10m
  deny huge when payload.amount > 1000 because "too large"
  escalate large to finance within 1h when payload.amount > 100 because "large payments"
  escalate odd to audit within 1h when payload.amount == 777 because "odd payments"
}
`;

beforeAll(async () => {
  service = shared();
  const admin = await firstAdmin(service);
  await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  ben = await signedIn(service, 'ben@example.com');
  const added = await addAgent(service.store, {
    name: 'other',
    riskTier: 'low',
    controlOwner: 'ops',
    tags: [],
  });
  if (added.kind !== 'added') throw new Error(added.kind);
  other = added.apiKey;
  await usePolicies(service, policies);
});

interface Sent {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

function call(
  path: string,
  body?: unknown,
  { key = service.apiKey, headers = {}, method = 'POST' }: Sent = {},
) {
  const credential = { 'x-agent-api-key': key, ...headers };
  return send(service, `/access/v1/${path}`, { method, body, headers: credential });
}

const payment = (amount: number, more: object = {}) => ({
  subject: { type: 'user', id: 'alice' },
  action: { name: 'create', properties: { amount } },
  resource: { type: 'payment', id: 'p-1' },
  ...more,
});

/** Sends an evaluation that is denied; returns the body of the access request that may follow. */
async function denied(amount = 500, more: object = {}) {
  const { body } = await call('evaluation', payment(amount, more));
  const { evaluation_id, evaluated_at, reason, access_request: hint } = body.context;
  const denial = {
    evaluation_id,
    evaluated_at,
    reason,
    expires_at: hint?.expires_at ?? '2030-01-01T00:00:00Z',
  };
  return { context: body.context, hint, request: { ...payment(amount, more), denial } };
}

const task = (id: string, sent: Sent = {}) => call(`requests/${id}`, undefined, { method: 'GET', ...sent });
const shownWith = (id: string) => ({ context: { approval: { id, approved_until: '2030-01-01T00:00:00Z' } } });
const typeOf = ({ status, body }: { readonly status: number; readonly body: { readonly type: string } }) => [
  status,
  body.type.replace('urn:openid:authzen:access-request:error:', ''),
];

test('a denial offers an access request only if people could lift it', async () => {
  const { context, hint } = await denied();
  expect(context).toMatchObject({ reason: 'approval_required', evaluation_id: expect.any(String) });
  expect(hint).toMatchObject({ endpoint: 'http://localhost/access/v1/requests', template: 'finance' });
  expect(Date.parse(hint.expires_at)).toBeGreaterThan(nowMs);
  expect((await denied(5000)).hint).toBeUndefined();
});

test('runs from the denial to the approval, which serves one evaluation', async () => {
  const { request } = await denied();
  const asked = await call('requests', { ...request, context: { business_justification: 'Renewal' } });
  const { task: made } = asked.body;
  expect([asked.status, made.status, asked.headers.get('location')]).toEqual([
    202,
    'pending',
    made.status_endpoint,
  ]);
  expect(made.progress).toEqual({ current_step: 1, total_steps: 1, step_name: 'finance' });
  const early = (await call('evaluation', payment(500, shownWith(made.id)))).body;
  expect(early).toMatchObject({
    decision: false,
    context: { reason: 'grant_pending', next_action: 'retry', retry_after: expect.any(Number) },
  });
  expect((await task(made.id)).body.result).toBeUndefined();
  expect(codeOf(await give(ben, made.id, 'approve'))).toEqual([200, 'approved']);
  const { body } = await task(made.id);
  expect(body).toMatchObject({
    task: { status: 'approved' },
    result: { mode: 'reevaluate', approval: { id: made.id, approved_until: expect.any(String) } },
  });
  expect(body.task.progress).toBeUndefined();
  // A reply to an agent does not name who approved.
  expect(JSON.stringify(body)).not.toContain('ben');
  // Without the approval the evaluation is denied as before. With the approval, one of five equal evaluations
  // is granted.
  expect((await call('evaluation', payment(500))).body.decision).toBe(false);
  const approved = payment(500, { context: { approval: body.result.approval } });
  const all = await Promise.all(Array.from({ length: 5 }, () => call('evaluation', approved)));
  expect(all.filter((one) => one.body.decision)).toHaveLength(1);
  const again = (await call('evaluation', approved)).body;
  expect(again).toMatchObject({
    decision: false,
    context: { reason: 'approval_expired', next_action: 'request', access_request: { template: 'finance' } },
  });
});

describe('an approval', () => {
  async function approval(): Promise<string> {
    const { body } = await call('requests', (await denied()).request);
    expect(codeOf(await give(ben, body.task.id, 'approve'))).toEqual([200, 'approved']);
    return body.task.id;
  }
  const reasonOf = async (body: object, sent: Sent = {}) => {
    const { decision, context } = (await call('evaluation', body, sent)).body;
    return [decision, context.reason];
  };

  test('grants only these entities to this caller', async () => {
    const shown = shownWith(await approval());
    const scope = [false, 'out_of_scope'];
    expect(await reasonOf(payment(501, shown))).toEqual(scope);
    expect(await reasonOf(payment(500, { ...shown, subject: { type: 'user', id: 'bob' } }))).toEqual(scope);
    expect(await reasonOf(payment(500, { ...shown, resource: { type: 'payment', id: 'p-2' } }))).toEqual(
      scope,
    );
    const wider = { context: { ...shown.context, site: 'x' } };
    expect(await reasonOf(payment(500, wider))).toEqual(scope);
    expect(await reasonOf(payment(500, shown), { key: other })).toEqual([false, 'approval_unverifiable']);
    for (const made_up of [
      '019a0000-0000-7000-8000-000000000000',
      '',
      (await denied()).context.evaluation_id,
    ])
      expect(await reasonOf(payment(500, shownWith(made_up)))).toEqual([false, 'approval_unverifiable']);
    expect((await call('evaluation', payment(500, shown))).body.decision).toBe(true);
  });

  test('does not override a deny that the active policies have now', async () => {
    const shown = shownWith(await approval());
    await usePolicies(service, policies.replace('payload.amount > 1000', 'payload.amount > 400'));
    expect(await reasonOf(payment(500, shown))).toEqual([false, 'policy_denied']);
    await usePolicies(service, policies);
    expect((await call('evaluation', payment(500, shown))).body.decision).toBe(true);
  });

  test('ends, and a new one can be requested', async () => {
    const shown = shownWith(await approval());
    nowMs += 11 * 60_000;
    expect(await reasonOf(payment(500, shown))).toEqual([false, 'approval_expired']);
  });

  test('grants nothing after a rejection or a withdrawal', async () => {
    const refused = (await call('requests', (await denied()).request)).body.task.id;
    await give(ben, refused, 'reject');
    expect((await task(refused)).body).toMatchObject({ task: { status: 'denied' } });
    expect((await task(refused)).body.result).toBeUndefined();
    expect(await reasonOf(payment(500, shownWith(refused)))).toEqual([false, 'policy_denied']);
    const cancelled = (await call('requests', (await denied()).request)).body.task.id;
    expect((await call(`requests/${cancelled}/cancel`)).body.task.status).toBe('cancelled');
    expect(await reasonOf(payment(500, shownWith(cancelled)))).toEqual([false, 'approval_expired']);
    expect(typeOf(await call(`requests/${refused}/cancel`))).toEqual([409, 'invalid_task_state']);
  });
});

describe('an access request', () => {
  test('is valid only for the evaluated entities, the same caller and a limited time', async () => {
    const { request } = await denied();
    const { denial } = request;
    const wrong = [
      { subject: { type: 'user', id: 'bob' } },
      { resource: { type: 'payment', id: 'p-2' } },
      { action: { name: 'create', properties: { amount: 501 } } },
      { context: { site: 'x' } },
      { denial: { expires_at: denial.expires_at } },
      { denial: { ...denial, evaluation_id: 'made up' } },
      { denial: { ...denial, expires_at: '2099-01-01T00:00:00.000Z' } },
    ];
    for (const change of wrong)
      expect(typeOf(await call('requests', { ...request, ...change }))).toEqual([
        400,
        'invalid_denial_binding',
      ]);
    expect(typeOf(await call('requests', request, { key: other }))).toEqual([400, 'invalid_denial_binding']);
    for (const missing of ['denial', 'subject', 'resource', 'action'])
      expect((await call('requests', { ...request, [missing]: undefined })).status).toBe(400);
    nowMs += 10 * 60_000;
    const late = await call('requests', request);
    expect([typeOf(late), late.headers.get('content-type')]).toEqual([
      [410, 'expired_denial'],
      expect.stringContaining('application/problem+json'),
    ]);
  });

  test('follows only a denial that people could lift', async () => {
    for (const amount of [5000, 50])
      expect(typeOf(await call('requests', (await denied(amount)).request))).toEqual([
        400,
        'not_requestable',
      ]);
  });

  test('is created once for each denial, and once for each idempotency key', async () => {
    const { request } = await denied();
    const twice = [await call('requests', request), await call('requests', request)];
    expect(new Set(twice.map(({ body }) => body.task.id)).size).toBe(1);
    const headers = { 'idempotency-key': 'renewal' };
    expect((await call('requests', (await denied()).request, { headers })).status).toBe(202);
    const another = await call('requests', (await denied(600)).request, { headers });
    expect(typeOf(another)).toEqual([409, 'duplicate_request']);
  });

  test('is visible to and cancelled by its creator only', async () => {
    const { id } = (await call('requests', (await denied()).request)).body.task;
    for (const sent of [
      await task(id, { key: other }),
      await call(`requests/${id}/cancel`, undefined, { key: other }),
    ])
      expect(typeOf(sent)).toEqual([404, 'unknown_task']);
    expect(typeOf(await task('made-up'))).toEqual([404, 'unknown_task']);
    expect((await fetch(`${service.url}/access/v1/requests/${id}`)).status).toBe(401);
    const plain = await call('evaluation', payment(50));
    expect(typeOf(await task(plain.body.context.evaluation_id))).toEqual([404, 'unknown_task']);
    expect((await task(id)).body.task.status).toBe('pending');
  });
});

test('progress counts the remaining approvals in any order', async () => {
  const { request } = await denied(777);
  const { task: made } = (await call('requests', request)).body;
  expect(made.progress).toEqual({ current_step: 1, total_steps: 2, step_name: 'audit' });
  await give(ben, made.id, 'approve');
  expect((await task(made.id)).body.task.progress).toEqual({
    current_step: 2,
    total_steps: 2,
    step_name: 'audit',
  });
});
