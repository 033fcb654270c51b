// Delegations over HTTP: a sub-agent is decided as its agent and held within what was passed on; whatever ends
// a link ends everything below it; a delegated key does nothing else.

import { beforeAll, describe, expect, test } from 'vitest';
import { cameByOf, exportLineOf } from '../../../src/analysis/replay/export-line.ts';
import { rotateKey, setSigning } from '../../../src/service/agents/registry.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { describedRoutes } from '../../../src/service/http/resources/all-routes.ts';
import { type Client, firstAdmin, personWith, send, signedIn } from './person-client.ts';
import { authorize, problemOf, recordOf, type Service, shareService } from './service.ts';
import { give, type View } from './written-policies.ts';

const policies = `
approvers finance "Finance"
action pay.send, pay.refund { amount: money(currency), currency: string, vendor?: string }
action mail.send, mail.submit { to: email }
meter runs = count() of pay.send per agent over 1h
policy pay on pay.* {
  allow small for 10m
  escalate large to finance within 1h when payload.amount > 100 USD
  deny many when runs > 1000
}
policy mail on mail.send {
  allow any_mail
  deny behind_research when "research" in request.chain
}
policy submitted on mail.submit {
  allow any_submitted
  deny by_sub_agents when request.delegated unless request.chain starts with ["mailer"]
}
`;

const shared = shareService({
  openRequestsMax: 1_000,
  startsWith: policies,
  rate: { perMinute: 60_000, burst: 10_000 },
});
let service: Service;
let operator: Client;
let ben: Client;

beforeAll(async () => {
  service = shared();
  const admin = await firstAdmin(service);
  await personWith(service, admin, { email: 'olga@example.com', roles: ['operator'], groups: [] });
  await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  operator = await signedIn(service, 'olga@example.com');
  ben = await signedIn(service, 'ben@example.com');
});

const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();

const whole = { name: 'sub', actions: ['*'], until: inMinutes(60) };

async function delegate(body: object = {}, key = service.apiKey) {
  const headers = { 'x-agent-api-key': key };
  return await send(service, '/v1/delegations', { method: 'POST', headers, body: { ...whole, ...body } });
}

interface Made {
  readonly id: string;
  readonly key: string;
}

async function made(body: object = {}, key = service.apiKey): Promise<Made> {
  const reply = await delegate(body, key);
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
  return { id: reply.body.delegation.id, key: reply.body.api_key };
}

interface Asked {
  readonly action?: string;
  readonly amount?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(key: string, { action = 'pay.send', amount = 5, headers = {} }: Asked = {}): Promise<Response> {
  const payload = action.startsWith('mail.') ? { to: 'ann@example.com' } : { amount, currency: 'USD' };
  return authorize(service, { key, headers, body: JSON.stringify({ action_key: action, payload }) });
}

async function viewOf(reply: Promise<Response>): Promise<View & { readonly matched_policy: string }> {
  const read = await reply;
  if (read.status !== 200) throw new Error(await read.text());
  return (await read.json()) as View & { readonly matched_policy: string };
}

const codeIn = async (reply: Promise<Response>) => (await problemOf(await reply)).code;

function revoke({ id }: Made) {
  const headers = { 'x-agent-api-key': service.apiKey };
  return send(service, `/v1/delegations/${id}`, { method: 'DELETE', headers });
}

describe('a delegated request', () => {
  test('is decided as its agent, within the actions and the condition', async () => {
    const { key, id } = await made({ name: 'buyer', actions: ['pay.*'], when: 'payload.amount <= 50 USD' });
    const granted = await viewOf(ask(key));
    expect(granted.decision).toBe('ALLOW');
    const record = await recordOf(service, granted.request_id);
    expect(record).toMatchObject({
      agentId: service.agent.id,
      request: { chain: ['buyer'] },
      chain: [{ id, name: 'buyer', actions: ['pay.*'], when: 'payload.amount <= 50 USD' }],
      key: { id: key.slice(0, 'writd_'.length + 8) },
    });
    const shown = await operator.send(`/v1/requests/${granted.request_id}`);
    expect(shown.body.chain).toEqual([
      { id, name: 'buyer', actions: ['pay.*'], when: 'payload.amount <= 50 USD', uses: null },
    ]);
    for (const asked of [{ amount: 51 }, { action: 'mail.send' }]) {
      const refused = await viewOf(ask(key, asked));
      expect([refused.decision, refused.matched_policy]).toEqual(['DENY', 'outside_delegation']);
      expect(refused).toMatchObject({ reason: 'Outside the delegation `buyer`' });
    }
    expect((await viewOf(ask(service.apiKey, { amount: 51 }))).decision).toBe('ALLOW');
  });

  test('is exported with its chain, by which a replay decides it again', async () => {
    const { id, key } = await made({
      name: 'exported',
      actions: ['pay.*'],
      when: 'payload.amount <= 50 USD',
    });
    const { request_id } = await viewOf(ask(key, { amount: 60 }));
    const admin = await signedIn(service, 'ann@example.com');
    const reply = await fetch(`${service.url}/v1/requests/export?agent=${service.agent.id}`, {
      headers: admin.headers,
    });
    const line = (await reply.text()).split('\n').find((one) => one.includes(request_id));
    const { recorded } = JSON.parse(line ?? '');
    expect(recorded.chain).toMatchObject([{ id, name: 'exported', when: 'payload.amount <= 50 USD' }]);
    const exported = exportLineOf(JSON.parse(line ?? ''));
    expect(exported && cameByOf(exported)).toEqual({ standing: {}, chain: ['exported'] });
  });

  test('has a receipt that names the chain of delegations', async () => {
    const top = await made({ name: 'top' });
    const below = await made({ name: 'below' }, top.key);
    const reply = await ask(below.key, { headers: { prefer: 'receipt=tool' } });
    const [, claims = ''] = (reply.headers.get('writ-receipt') ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      sub: `agent:${service.agent.id}`,
      act: {
        sub: `delegation:${below.id}`,
        name: 'below',
        act: { sub: `delegation:${top.id}`, name: 'top' },
      },
    });
  });

  test('narrows with each link, five at most', async () => {
    let key = service.apiKey;
    for (const limit of [90, 80, 70, 60, 50])
      key = (
        await made({ name: `to-${limit}`, actions: ['pay.*'], when: `payload.amount <= ${limit} USD` }, key)
      ).key;
    expect((await viewOf(ask(key, { amount: 50 }))).decision).toBe('ALLOW');
    const refused = await viewOf(ask(key, { amount: 65 }));
    expect(refused).toMatchObject({ decision: 'DENY', reason: 'Outside the delegation `to-60`' });
    const deeper = await delegate({}, key);
    expect([deeper.status, deeper.body.detail]).toEqual([409, 'a chain has at most five delegations']);
  });

  test('can be distinguished by rules', async () => {
    const research = await made({ name: 'research' });
    const below = await made({ name: 'mailer' }, research.key);
    expect((await viewOf(ask(below.key, { action: 'mail.send' }))).matched_policy).toBe('mail');
    expect((await viewOf(ask((await made({ name: 'mailer' })).key, { action: 'mail.send' }))).decision).toBe(
      'ALLOW',
    );
  });

  test('cannot give itself the name of an exception that rests on the beginning of the chain', async () => {
    const submit = async (key: string) => (await viewOf(ask(key, { action: 'mail.submit' }))).decision;
    const mailer = await made({ name: 'mailer' });
    const research = await made({ name: 'research' });
    const disguised = await made({ name: 'mailer' }, research.key);
    const keys = [service.apiKey, mailer.key, (await made({ name: 'x' }, mailer.key)).key];
    for (const key of keys) expect(await submit(key)).toBe('ALLOW');
    for (const { key } of [research, disguised]) expect(await submit(key)).toBe('DENY');
  });

  test('asks people, who grant it while the delegation lasts, and uses their approval with its own key', async () => {
    const { key } = await made({ name: 'buyer', when: 'payload.amount <= 500 USD', actions: ['pay.send'] });
    const pending = await viewOf(ask(key, { amount: 400 }));
    expect(pending.status).toBe('pending');
    expect((await give(ben, pending.request_id, 'approve')).body.status).toBe('approved');
    const others = await made({ name: 'other', actions: ['pay.send'] });
    for (const other of [service.apiKey, others.key])
      expect((await viewOf(ask(other, { amount: 400, headers: { prefer: 'attach' } }))).request_id).not.toBe(
        pending.request_id,
      );
    const taken = await viewOf(ask(key, { amount: 400, headers: { prefer: 'attach' } }));
    expect([taken.request_id, taken.status]).toEqual([pending.request_id, 'auto_approved']);
  });

  test('is not approved once its delegation is revoked', async () => {
    const link = await made({ name: 'buyer' });
    const pending = await viewOf(ask(link.key, { amount: 300 }));
    expect((await revoke(link)).status).toBe(200);
    const reply = await give(ben, pending.request_id, 'approve');
    expect([reply.status, reply.body.detail]).toEqual([403, 'the delegation `buyer` is revoked']);
  });

  test('never gets the reply to a request of another agent with the same idempotency key', async () => {
    const { key } = await made();
    const headers = { 'idempotency-key': 'order-1' };
    const own = await viewOf(ask(service.apiKey, { headers }));
    const delegated = await viewOf(ask(key, { headers }));
    expect(delegated.request_id).not.toBe(own.request_id);
    expect((await viewOf(ask(key, { headers }))).request_id).toBe(delegated.request_id);
    expect(
      await codeIn(ask(service.apiKey, { headers: { 'idempotency-key': 'delegation:x/order-1' } })),
    ).toBe('invalid_header');
  });

  test('is valid only in the session of its delegation', async () => {
    const { key } = await made({ session: 's-1' });
    const { request_id: id } = await viewOf(ask(key));
    expect(await recordOf(service, id)).toMatchObject({ request: { session: 's-1' } });
    expect(await codeIn(ask(key, { headers: { 'x-agent-session': 's-2' } }))).toBe('invalid_header');
    const below = await made({ name: 'below' }, key);
    expect(await recordOf(service, (await viewOf(ask(below.key))).request_id)).toMatchObject({
      request: { session: 's-1' },
    });
  });
});

describe('an AuthZEN evaluation of a sub-agent', () => {
  const evaluate = (key: string, properties: object, amount = 5) =>
    send(service, '/access/v1/evaluation', {
      method: 'POST',
      headers: { 'x-agent-api-key': key },
      body: {
        subject: { type: 'agent', id: 'buyer', properties },
        action: { name: 'pay.send', properties: { amount, currency: 'USD' } },
        resource: { type: 'payment', id: 'p-1' },
      },
    });

  test('returns the chain of its key, and accepts only that chain in the request', async () => {
    const top = await made({ name: 'team' });
    const { key } = await made({ name: 'buyer' }, top.key);
    for (const properties of [{}, { delegation_chain: ['team', 'buyer'] }, { other: 1 }])
      expect((await evaluate(key, properties)).body).toMatchObject({
        decision: true,
        context: { subject: { properties: { delegation_chain: ['team', 'buyer'] } } },
      });
    const claims: readonly (readonly [string, unknown])[] = [
      [key, ['team']],
      [key, []],
      [key, 'buyer'],
      [key, null],
      [service.apiKey, ['buyer']],
    ];
    for (const [caller, delegation_chain] of claims) {
      const reply = await evaluate(caller, { delegation_chain });
      expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([
        400,
        '/subject/properties/delegation_chain',
      ]);
    }
    const own = await evaluate(service.apiKey, { delegation_chain: [] });
    expect([own.body.decision, own.body.context.subject]).toEqual([true, undefined]);
  });

  test('is denied by its link, and offers no access request', async () => {
    const { key } = await made({ name: 'buyer', actions: ['pay.*'], when: 'payload.amount <= 500 USD' });
    expect((await evaluate(key, {}, 501)).body).toMatchObject({
      decision: false,
      context: { policy: 'outside_delegation', message: 'Outside the delegation `buyer`' },
    });
    const asking = (await evaluate(key, {}, 400)).body;
    expect(asking.context).toMatchObject({ reason: 'approval_required', next_action: 'none' });
    expect(asking.context).not.toHaveProperty('access_request');
    expect((await evaluate(service.apiKey, {}, 400)).body.context).toHaveProperty('access_request');
  });
});

describe('what is wrong with a delegation is named', () => {
  test.each([
    [{ actions: ['pay.cancel'] }, '`pay.cancel` is not declared'],
    [{ actions: ['file.*'] }, 'no declared action matches `file.*`'],
    [{ when: 'payload.amount <= 5 USD' }, 'for `mail.send`'],
    [{ actions: ['pay.*'], when: 'payload.amount <= "x"' }, 'at character'],
    [{ actions: ['pay.*'], when: 'runs < 5' }, 'a delegation reads the request alone'],
    [{ until: '2020-01-01T00:00:00Z' }, '`until` is in the past'],
    [{ until: inMinutes(60 * 24 * 31) }, 'at most 30 days'],
    [{ name: 'a/b' }, 'a name has'],
  ])('%j', async (body, detail) => {
    const reply = await delegate(body);
    expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining(detail)]);
  });

  test('what goes beyond the delegation above', async () => {
    const { key } = await made({ name: 'above', actions: ['pay.*'], uses: 5, session: 's-1' });
    for (const [body, detail] of [
      [{ actions: ['*'] }, '`mail.send` is outside the delegation `above`'],
      [{ actions: ['pay.*'], until: inMinutes(90) }, 'the delegation `above` ends at'],
      [{ actions: ['pay.*'], uses: 6 }, 'the delegation `above` has 5 uses left'],
      [{ actions: ['pay.*'], session: 's-2' }, 'is for the session `s-1`'],
    ] as const) {
      const reply = await delegate(body, key);
      expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining(detail)]);
    }
  });
});

describe('a delegation ends', () => {
  test('with a revocation of any link above', async () => {
    const top = await made({ name: 'top' });
    const middle = await made({ name: 'middle' }, top.key);
    const last = await made({ name: 'last' }, middle.key);
    expect((await viewOf(ask(last.key))).decision).toBe('ALLOW');
    expect((await revoke(middle)).body.status).toBe('revoked');
    for (const { key } of [middle, last]) {
      const problem = await problemOf(await ask(key));
      expect([problem.status, problem.code]).toEqual([403, 'delegation_ended']);
      expect(problem.body.detail).toBe('the delegation `middle` is revoked');
      expect((await delegate({}, key)).status).toBe(403);
    }
    expect((await viewOf(ask(top.key))).decision).toBe('ALLOW');
    const { items } = (await operator.send(`/v1/agents/${service.agent.id}/delegations`)).body;
    const states = items.map(({ id, status }: { id: string; status: string }) => [id, status]);
    expect(states).toEqual(
      expect.arrayContaining([
        [top.id, 'active'],
        [middle.id, 'revoked'],
        [last.id, 'revoked'],
      ]),
    );
  });

  test('with its time', async () => {
    const { key } = await made({ until: new Date(Date.now() + 600).toISOString() });
    expect((await viewOf(ask(key))).decision).toBe('ALLOW');
    await expect.poll(() => ask(key).then(({ status }) => status), { timeout: 5_000 }).toBe(403);
    expect(await codeIn(ask(key))).toBe('delegation_ended');
  });

  test('with its uses: 64 callers at once use a count of 10 exactly 10 times', async () => {
    const top = await made({ name: 'top', uses: 10 });
    const keys = [top.key, (await made({ name: 'below' }, top.key)).key];
    const replies = await Promise.all(Array.from({ length: 64 }, (_, at) => ask(keys[at % 2]!)));
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 403)).toHaveLength(54);
    expect(await codeIn(ask(keys[1]!))).toBe('delegation_ended');
  });

  test('but refused and repeated requests do not use its count', async () => {
    const { key } = await made({ actions: ['pay.send'], uses: 2 });
    for (let i = 0; i < 3; i += 1)
      expect((await viewOf(ask(key, { action: 'pay.refund' }))).decision).toBe('DENY');
    for (let i = 0; i < 3; i += 1) await viewOf(ask(key, { headers: { 'idempotency-key': 'once' } }));
    expect((await viewOf(ask(key))).decision).toBe('ALLOW');
    expect(await codeIn(ask(key))).toBe('delegation_ended');
  });
});

test('a kill switch on the agent stops the tree', async () => {
  const { key } = await made();
  const body = { scope: `agent:${service.agent.id}`, reason: 'looking into it' };
  const set = await operator.send('/v1/kill-switches', { method: 'POST', body });
  expect(await codeIn(ask(key))).toBe('stopped');
  const path = `/v1/kill-switches/${set.body.id}/deactivate`;
  await operator.send(path, { method: 'POST', body: { reason: 'checked' } });
  expect((await viewOf(ask(key))).decision).toBe('ALLOW');
});

test('a delegated key works only on routes that authorize, plan or delegate', async () => {
  const { key, id } = await made();
  const { request_id } = await viewOf(ask(key));
  const reached: string[] = [];
  for (const { method, url, operation } of describedRoutes(1_000)) {
    if (operation.security === null) continue;
    const path = url
      .replace(':id', operation.id.includes('elegation') ? id : request_id)
      .replaceAll(/:\w+/g, 'x');
    const sent = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    const reply = await send(service, path, { method, headers: { 'x-agent-api-key': key }, ...sent });
    const code = reply.body?.type?.split(':').at(-1);
    if (!['delegated_key', 'not_signed_in'].includes(code) && reply.status !== 401)
      reached.push(operation.id);
  }
  expect(reached.toSorted()).toEqual([
    'authorize',
    'createDelegation',
    'createPlan',
    'evaluateAccess',
    'evaluateAccesses',
  ]);
});

test('who may see and revoke delegations', async () => {
  const { id } = await made();
  const path = `/v1/delegations/${id}`;
  expect((await ben.send(path, { method: 'DELETE' })).status).toBe(403);
  expect((await ben.send(`/v1/agents/${service.agent.id}/delegations`)).status).toBe(403);
  expect((await operator.send('/v1/delegations')).status).toBe(401);
  const own = await send(service, '/v1/delegations', { headers: { 'x-agent-api-key': service.apiKey } });
  expect(own.body.items[0]).toMatchObject({ id, status: 'active', chain: ['sub'] });
  expect((await operator.send(path, { method: 'DELETE' })).body).toMatchObject({ status: 'revoked' });
  const { store } = service;
  const changes = await store.chain.changes({ beforeSequence: null, countMax: 50 });
  expect(changes.filter(({ subject }) => subject === id).map(({ what, who }) => [what, who])).toEqual([
    ['delegation-revoked', expect.stringContaining('olga@example.com')],
    ['delegation-made', `agent ${service.agent.id}`],
  ]);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
});

test('an agent that must sign cannot delegate', async () => {
  const { key } = await made();
  const change = { agentId: service.agent.id, nowMs: Date.now() };
  await setSigning(service.store, { ...change, signing: 'required' });
  expect((await delegate()).status).toBe(409);
  expect(await codeIn(ask(key))).toBe('invalid_signature');
  await setSigning(service.store, { ...change, signing: 'off' });
});

test('a delegation ends with the agent key that created it', async () => {
  const rotated = await rotateKey(service.store, {
    agentId: service.agent.id,
    graceMs: 0,
    nowMs: Date.now(),
  });
  if (rotated.kind !== 'rotated') throw new Error(rotated.kind);
  const { key } = await made({}, rotated.apiKey);
  expect((await viewOf(ask(key))).decision).toBe('ALLOW');
  await rotateKey(service.store, { agentId: service.agent.id, graceMs: 0, nowMs: Date.now() });
  expect(await codeIn(ask(key))).toBe('delegation_ended');
});
