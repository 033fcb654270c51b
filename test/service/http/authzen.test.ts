// AuthZEN over HTTP: the certification scenario (Basic, Batch, Discovery), the data of two interoperability
// scenarios, and how the service treats an evaluation: recorded, counted, and never made to wait.

import { beforeAll, describe, expect, test } from 'vitest';
import { addPoint } from '../../../src/service/agents/points/change-point.ts';
import * as data from './authzen-data.ts';
import { send } from './person-client.ts';
import { recordOf, type Service, shareService } from './service.ts';
import { usePolicies } from './written-policies.ts';

const shared = shareService();
let service: Service;

const own = `
approvers finance "Finance"
action payment.create { id: string, amount: number }
policy payments on payment.create {
  allow most because "payments of {payload.amount} are allowed"
  deny huge when payload.amount > 1000 because "payments of {payload.amount} are too large"
  escalate large to finance when payload.amount > 100 because "large payments"
  reauth odd when payload.amount == 13 because "an odd payment"
}
`;

beforeAll(async () => {
  service = shared();
  await usePolicies(service, data.policies + own);
});

function ask(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const credential = { 'x-agent-api-key': service.apiKey };
  return send(service, `/access/v1/${path}`, {
    method: 'POST',
    body,
    headers: { ...credential, ...headers },
  });
}

const payment = (amount: unknown, more: object = {}) => ({
  subject: { type: 'user', id: 'alice' },
  action: { name: 'create', properties: { amount } },
  resource: { type: 'payment', id: 'p-1' },
  ...more,
});

describe('certification: Basic', () => {
  test.each(data.basic)('%s', async (_section, body, decision) => {
    for (let times = 0; times < 2; times += 1) {
      const reply = await ask('evaluation', body);
      expect([reply.status, reply.body.decision]).toEqual([200, decision]);
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    }
  });

  test.each(data.broken)('%s is a 400', async (_section, body) => {
    expect((await ask('evaluation', body)).status).toBe(400);
  });

  test('2.4.3 to 2.4.5: another content type, no JSON, no body', async () => {
    const post = (body: string, type: string) =>
      fetch(`${service.url}/access/v1/evaluation`, {
        method: 'POST',
        headers: { 'x-agent-api-key': service.apiKey, 'content-type': type },
        body,
      });
    const good = JSON.stringify(data.good);
    expect((await post(good, 'text/plain')).status).toBe(400);
    for (const body of [good.slice(1), '']) expect((await post(body, 'application/json')).status).toBe(400);
    expect((await post(good, 'application/json; charset=utf-8')).status).toBe(200);
  });

  test('2.5: a request id comes back', async () => {
    const reply = await ask('evaluation', data.good, { 'x-request-id': 'call-17' });
    expect(reply.headers.get('x-request-id')).toBe('call-17');
  });
});

describe('certification: Batch', () => {
  const decisionsOf = (reply: {
    readonly body: { readonly evaluations: readonly { decision: boolean }[] };
  }) => reply.body.evaluations.map(({ decision }) => decision);

  test.each(data.batches)('%s', async (_section, body, expected) => {
    const reply = await ask('evaluations', body);
    expect(reply.status).toBe(200);
    const found = decisionsOf(reply);
    expect(found.map((one, i) => (expected[i] === null ? typeof one : one))).toEqual(
      expected.map((one) => (one === null ? 'boolean' : one)),
    );
    expect('decision' in reply.body).toBe(false);
  });

  test.each(data.single)('%s', async (_section, body) => {
    const { status, body: reply } = await ask('evaluations', body);
    expect([status, reply.decision, 'evaluations' in reply]).toEqual([200, true, false]);
  });

  test('a broken entry says so; the semantics cut the answer short', async () => {
    const [yes, no] = [{}, { action: { name: 'write' }, subject: { type: 'user', id: 'bob' } }];
    const batch = (semantic: string, evaluations: readonly object[]) =>
      ask('evaluations', { ...data.good, evaluations, options: { evaluations_semantic: semantic } });
    expect(decisionsOf(await batch('deny_on_first_deny', [yes, no, yes]))).toEqual([true, false]);
    expect(decisionsOf(await batch('permit_on_first_permit', [no, yes, no]))).toEqual([false, true]);
    expect(decisionsOf(await batch('execute_all', [no, yes, no]))).toEqual([false, true, false]);
    const { body } = await batch('execute_all', [{ resource: 'x' }, yes]);
    expect(body.evaluations[0]).toMatchObject({ decision: false, context: { error: { status: 400 } } });
    for (const wrong of [{ evaluations: 7 }, { evaluations: [7] }, { evaluations: Array(101).fill({}) }])
      expect((await ask('evaluations', { ...data.good, ...wrong })).status).toBe(400);
    expect((await batch('unheard_of', [yes])).status).toBe(400);
  });
});

test('certification: Discovery', async () => {
  const { status, headers, body } = await send(service, '/.well-known/authzen-configuration');
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/json/)]);
  const {
    policy_decision_point: base,
    capabilities,
    supported_obligations: _,
    jwks_uri,
    ...endpoints
  } = body;
  const { keys } = (await (await fetch(`${service.url}${new URL(jwks_uri).pathname}`)).json()) as {
    keys: object[];
  };
  expect(keys.length).toBeGreaterThan(0);
  expect(base).toBe('http://localhost');
  expect(capabilities).toEqual(['urn:openid:authzen:capability:access-request']);
  expect(endpoints.access_evaluation_endpoint).toBe(`${base}/access/v1/evaluation`);
  for (const url of Object.values<string>(endpoints)) {
    // Every announced endpoint exists: without a key it answers 401.
    const reply = await fetch(`${service.url}${new URL(url).pathname}`, { method: 'POST' });
    expect([url, reply.status]).toEqual([url, 401]);
  }
});

describe('interoperability', () => {
  test('todo: 40 decisions and 3 batches', async () => {
    const found = await Promise.all(data.todos.map(([body]) => ask('evaluation', body)));
    expect(found.map(({ body }) => body.decision)).toEqual(data.todos.map(([, decision]) => decision));
    expect(data.todos.filter(([, decision]) => decision)).toHaveLength(26);
    expect(data.todos).toHaveLength(40);
    for (const [body, expected] of data.todoBatches)
      expect((await ask('evaluations', body)).body.evaluations.map(decisionOf)).toEqual(expected);
  });

  test('API gateway: 25 decisions', async () => {
    const found = await Promise.all(data.gateway.map(([body]) => ask('evaluation', body)));
    expect(found.map(({ body }) => body.decision)).toEqual(data.gateway.map(([, decision]) => decision));
    expect(data.gateway.filter(([, decision]) => decision)).toHaveLength(19);
    expect(data.gateway).toHaveLength(25);
  });
});

const decisionOf = ({ decision }: { readonly decision: boolean }): boolean => decision;

describe('an evaluation', () => {
  test('takes properties as arguments, and the id where it is declared', async () => {
    const { body } = await ask('evaluation', payment(50));
    expect(body).toMatchObject({ decision: true, context: { evaluation_id: expect.any(String) } });
    expect(await recordOf(service, body.context.evaluation_id)).toMatchObject({
      actionKey: 'payment.create',
      payload: { id: 'p-1', amount: 50 },
      status: 'auto_approved',
    });
    const twice = { resource: { type: 'payment', id: 'p-1', properties: { amount: 1 } } };
    expect((await ask('evaluation', payment(50, twice))).status).toBe(400);
  });

  test('says why not', async () => {
    const reasonOf = async (body: object) => {
      const { decision, context } = (await ask('evaluation', body)).body;
      return [decision, context.reason, context.next_action];
    };
    expect(await reasonOf(payment(5000))).toEqual([false, 'policy_denied', 'none']);
    expect(await reasonOf(payment('much'))).toEqual([false, 'invalid_payload', 'none']);
    const errorsOf = async (body: object) => (await ask('evaluation', body)).body.context.errors;
    const pointersOf = async (body: object) =>
      (await errorsOf(body)).map(({ pointer }: { pointer: string }) => pointer);
    expect(await pointersOf(payment('much'))).toEqual(['/action/properties/amount']);
    expect(await pointersOf(payment(1, { action: { name: 'unheard-of' } }))).toEqual(['/action/name']);
    expect(JSON.stringify(await errorsOf(payment('much')))).not.toContain('much');
    expect(await errorsOf(payment(5000))).toBeUndefined();
    expect(await reasonOf(payment(1, { action: { name: 'unheard-of' } }))).toEqual([
      false,
      'undeclared_action',
      'none',
    ]);
    expect(await reasonOf(payment(500))).toEqual([false, 'approval_required', 'request']);
  });

  test('never opens a wait, and never grants what people have to decide', async () => {
    for (const amount of [500, 13]) {
      const { body } = await ask('evaluation', payment(amount), { prefer: 'attach, wait=5' });
      expect(body.decision).toBe(false);
      const record = await recordOf(service, body.context.evaluation_id);
      expect(record.status).toBe('rejected');
    }
  });

  test('tells the step-up as an obligation only to who knows obligations', async () => {
    const plain = (await ask('evaluation', payment(13))).body;
    expect(plain.context).toMatchObject({
      reason: 'reauthentication_required',
      acr_values: 'urn:writ:acr:step-up',
      access_request: { template: 'reauth' },
    });
    expect(plain.context.obligations).toBeUndefined();
    const known = { context: { supported_obligations: ['step-up'] } };
    expect((await ask('evaluation', payment(13, known))).body).toMatchObject({
      decision: false,
      context: { obligations: [{ type: 'step-up' }] },
    });
  });

  test('comes with a receipt where one is asked for', async () => {
    const { body } = await ask('evaluation', payment(50), { prefer: 'receipt' });
    expect(body.context.receipt).toMatch(/^eyJ/);
    expect((await ask('evaluation', payment(50))).body.context.receipt).toBeUndefined();
  });

  test('takes the key as a bearer, also that of an enforcement point', async () => {
    const by = { documents: service.store.documents, who: 'ann', nowMs: Date.now() };
    const made = await addPoint(by, { name: 'pep', agents: [service.agent.id], mayRelease: false });
    if (made.kind !== 'made') throw new Error(made.kind);
    const bearer = (key: string, more: object = {}) =>
      send(service, '/access/v1/evaluation', {
        method: 'POST',
        body: payment(50),
        headers: { authorization: `Bearer ${key}`, ...more },
      });
    expect((await bearer(service.apiKey)).body.decision).toBe(true);
    const { body } = await bearer(made.apiKey, { 'x-writ-agent': 'buyer' });
    expect(await recordOf(service, body.context.evaluation_id)).toMatchObject({ point: { name: 'pep' } });
    expect((await bearer(made.apiKey)).status).toBe(400);
    expect((await bearer(`${service.apiKey}0`)).status).toBe(401);
  });
});

test('a search finds what could be granted of a type, and records nothing', async () => {
  const search = async (type: string) =>
    (
      await ask('search/action', {
        subject: { type: 'user', id: 'alice' },
        resource: { type, id: 'record-1' },
        context: {},
        page: { limit: 1 },
      })
    ).body.results.map(({ name }: { readonly name: string }) => name);
  expect(await search('record')).toEqual(['delete', 'read', 'write']);
  expect(await search('spaceship')).toEqual([]);
  expect((await ask('search/action', { subject: { type: 'user', id: 'alice' } })).status).toBe(400);
  expect(
    (await ask('search/action', { subject: { type: 'user' }, resource: { type: 'record', id: 'r' } })).status,
  ).toBe(400);
});
