// POST /v1/authorize over a real connection: the shape of a decision, and each check in its order.

import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rotateKey, setSigning } from '../../../src/service/agents/registry.ts';
import type { AppendResult, Store } from '../../../src/service/store/contract/store.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openStore } from '../../../src/service/store/open.ts';
import {
  allowBody,
  authorize,
  problemOf,
  recordOf,
  shareService,
  startService,
  temporaryDirectory,
} from './service.ts';

const shared = shareService();
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const body = (verb: string, payload: unknown = {}) => JSON.stringify({ action_key: `demo.${verb}`, payload });

describe('a decision', () => {
  test.each([
    ['allow', 'ALLOW', 'auto_approved', 600],
    ['deny', 'DENY', 'rejected', 300],
    ['escalate', 'ESCALATE', 'pending', 3600],
    ['reauth', 'REAUTH_REQUIRED', 'pending', 900],
  ])('%s: 200 with exactly the eight fields', async (verb, decision, status, seconds) => {
    const service = shared();
    const before = Date.now();
    const reply = await authorize(service, { body: body(verb) });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    const view = (await reply.json()) as Record<string, unknown>;
    expect(view).toEqual({
      request_id: expect.stringMatching(uuid7),
      decision,
      reason: `the demo says demo.${verb}`,
      matched_policy: 'demo',
      risk_score: 7,
      status,
      message: expect.any(String),
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const heldMs = Date.parse(String(view.expires_at)) - before;
    expect(Math.abs(heldMs - seconds * 1000)).toBeLessThan(5_000);
    const location = status === 'pending' ? `/v1/requests/${view.request_id}` : null;
    expect(reply.headers.get('location')).toBe(location);
    expect(await recordOf(service, String(view.request_id))).toMatchObject({
      agentId: service.agent.id,
      decision: { outcome: decision },
      clientAddress: '127.0.0.1',
    });
  });

  test('names with a meaning in JavaScript reach the policies as data', async () => {
    const service = shared();
    const sent = '{"action_key":"demo.allow","payload":{"__proto__":{"a":1},"constructor":2}}';
    const view = (await (await authorize(service, { body: sent })).json()) as { request_id: string };
    const record = await recordOf(service, view.request_id);
    expect(Object.keys(Object(record.payload)).sort()).toEqual(['__proto__', 'constructor']);
  });

  test('the request id of the client is echoed; a missing or invalid one is replaced', async () => {
    const service = shared();
    const idOf = async (sent: Record<string, string>) =>
      (await authorize(service, { headers: sent })).headers.get('x-request-id');
    expect(await idOf({ 'x-request-id': 'call-17.a' })).toBe('call-17.a');
    expect(await idOf({})).toMatch(uuid7);
    expect(await idOf({ 'x-request-id': 'no spaces' })).toMatch(uuid7);
  });
});

describe('checks', () => {
  test.each([
    [null, 'missing_api_key'],
    ['', 'missing_api_key'],
    ['writ_short', 'invalid_api_key'],
    [`writ_${'0'.repeat(46)}`, 'invalid_api_key'],
  ])('key %j: 401', async (key, code) => {
    const service = shared();
    const problem = await problemOf(await authorize(service, { key, body: '{' }));
    expect(problem).toMatchObject({ code, status: 401 });
    expect(problem.headers.get('www-authenticate')).toContain('ApiKey');
    const refusals = await service.store.requests.refusals(service.agent.id, 1_000);
    expect(refusals.map(({ id }) => id)).not.toContain(problem.body.instance);
  });

  test.each(['disabled', 'revoked'] as const)('%s agent: 403, recorded', async (status) => {
    const service = await startService();
    await service.store.agents.setStatus({ agentId: service.agent.id, status, atMs: Date.now() });
    const problem = await problemOf(await authorize(service, { body: '{' }));
    expect(problem).toMatchObject({ code: `agent_${status}`, status: 403 });
    expect(await service.store.requests.refusals(service.agent.id, 10)).toMatchObject([
      { id: problem.body.instance, httpStatus: 403, code: `agent_${status}`, bodyDigest: null },
    ]);
  });

  test('rate limit: 429 with the remaining number in earlier replies, and denied requests count', async () => {
    const service = await startService({ rate: { perMinute: 60, burst: 2 } });
    const first = await authorize(service, { body: body('deny') });
    expect(first.headers.get('ratelimit-policy')).toBe('"agent";q=2;w=2');
    expect(first.headers.get('ratelimit')).toBe('"agent";r=1;t=1');
    expect((await authorize(service, { body: '{' })).status).toBe(400);
    const problem = await problemOf(await authorize(service, { body: '{' }));
    expect(problem).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(problem.headers.get('retry-after')).toBe('1');
    expect(problem.headers.get('ratelimit')).toMatch(/^"agent";r=0;t=[12]$/);
  });

  test('wrong keys: 429 for the address, while a valid key still works', async () => {
    const service = await startService();
    const ask = () => authorize(service, { key: 'bad' });
    const first = await Promise.all(Array.from({ length: 100 }, ask));
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([401]));
    // The limit frees one attempt a second, so a few more attempts may still pass.
    let refused = await ask();
    while (refused.status === 401) refused = await ask();
    expect(refused.status).toBe(429);
    const problem = await problemOf(refused);
    expect(problem.code).toBe('too_many_failures');
    expect(problem.headers.get('retry-after')).toBe('1');
    expect((await authorize(service)).status).toBe(200);
  });

  test.each([256 * 1024 + 1, 900 * 1024, 3 * 1024 * 1024])('a body of %i bytes: 400', async (bytes) => {
    const service = await startService();
    // The body is refused before anybody looks at its declared content type.
    const sent = { headers: { 'content-type': 'text/plain' }, body: ' '.repeat(bytes) };
    const problem = await problemOf(await authorize(service, sent).catch(() => new Response('{}')));
    // The service does not read a very large body to its end, so the connection may close without a reply.
    if (bytes < 1024 * 1024) expect(problem).toMatchObject({ code: 'body_too_large', status: 400 });
    expect((await authorize(service)).status).toBe(200);
  });

  test('a body of exactly 256 KiB is read', async () => {
    const service = shared();
    const sent = allowBody.padEnd(256 * 1024, ' ');
    expect((await authorize(service, { body: sent })).status).toBe(200);
  });

  test.each([
    ['text/plain'],
    ['application/jsonx'],
    ['application/json; charset=utf-16'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['nonsense'],
    ['/;='],
  ])('content type %j: 400, before the body is looked at', async (type) => {
    const service = shared();
    const problem = await problemOf(
      await authorize(service, { headers: { 'content-type': type }, body: '{' }),
    );
    expect(problem).toMatchObject({ code: 'unsupported_content_type', status: 400 });
  });

  test.each(['application/json', 'application/json; charset=UTF-8', 'Application/JSON;charset="utf-8"'])(
    'content type %j is taken',
    async (type) => {
      const service = shared();
      expect((await authorize(service, { headers: { 'content-type': type } })).status).toBe(200);
    },
  );

  test('a compressed body: 400', async () => {
    const service = shared();
    const problem = await problemOf(await authorize(service, { headers: { 'content-encoding': 'gzip' } }));
    expect(problem.code).toBe('unsupported_content_type');
  });

  test.each([
    ['', '', 0],
    ['{', '', 1],
    ['{"action_key":"demo.allow","payload":{"a":1,"a":2}}', '/payload/a', 44],
    ['{"action_key":"demo.allow","payload":{"n":[9007199254740993]}}', '/payload/n/0', 43],
    ['{"action_key":"demo.allow","payload":{"s":"\\ud800"}}', '/payload/s', 42],
    ['\ufeff{}', '', 0],
    ['{"action_key":"demo.allow","payload":{},}', '', 40],
  ])('JSON %j: 400 with the place', async (sent, pointer, offset) => {
    const service = shared();
    const problem = await problemOf(await authorize(service, { body: sent }));
    expect(problem).toMatchObject({ code: 'invalid_json', status: 400 });
    expect(problem.body.errors).toMatchObject([{ pointer, offset }]);
  });

  test('invalid UTF-8: 400', async () => {
    const service = shared();
    const problem = await problemOf(await authorize(service, { body: Uint8Array.from([0x7b, 0xff, 0x7d]) }));
    expect(problem.body.errors).toMatchObject([{ pointer: '', offset: 1 }]);
  });

  test.each([
    ['[]', ['']],
    ['null', ['']],
    ['"x"', ['']],
    ['{}', ['/action_key', '/payload']],
    ['{"action_key":"","payload":{}}', ['/action_key']],
    ['{"action_key":7,"payload":{}}', ['/action_key']],
    ['{"action_key":"a.\\u0000","payload":{}}', ['/action_key']],
    ['{"action_key":null,"payload":[]}', ['/action_key', '/payload']],
    ['{"action_key":"a.b","payload":null}', ['/payload']],
    ['{"action_key":"a.b","payload":{},"extra/1":1}', ['/extra~11']],
    ['{"action_key":"a.b","payload":{},"__proto__":{}}', ['/__proto__']],
    ['{"Action_key":"a.b","payload":{}}', ['/action_key', '/Action_key']],
    [`{"action_key":"${'a'.repeat(201)}","payload":{}}`, ['/action_key']],
  ])('envelope %s: 400 with each place', async (sent, pointers) => {
    const service = shared();
    const problem = await problemOf(await authorize(service, { body: sent }));
    expect(problem).toMatchObject({ code: 'invalid_envelope', status: 400 });
    expect(problem.body.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  test('an action key of 200 code points is decided, declared or not', async () => {
    const service = shared();
    const reply = await authorize(service, {
      body: JSON.stringify({ action_key: '🌱'.repeat(200), payload: {} }),
    });
    expect(await reply.json()).toMatchObject({ decision: 'DENY' });
  });

  test('an invalid body is recorded under its instance, without its text', async () => {
    const service = shared();
    const problem = await problemOf(await authorize(service, { body: '{"secret":"hunter2"}' }));
    const refusals = await service.store.requests.refusals(service.agent.id, 1);
    expect(refusals).toMatchObject([
      { id: problem.body.instance, httpStatus: 400, code: 'invalid_envelope', clientAddress: '127.0.0.1' },
    ]);
    expect(refusals[0]?.bodyDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(refusals)).not.toContain('hunter2');
  });
});

describe('signature', () => {
  const sign = (secret: string, nonce: string, sent = allowBody) => {
    const time = Math.trunc(Date.now() / 1000);
    const text = `v1:${time}:${nonce}:POST:/v1/authorize:${sent}`;
    return `t=${time},n=${nonce},v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
  };
  const withSigning = async (signing: 'optional' | 'required') => {
    const service = await startService();
    const change = await setSigning(service.store, { agentId: service.agent.id, signing, nowMs: Date.now() });
    const secret = change.kind === 'changed' ? (change.signingSecret ?? '') : '';
    return { service, secret };
  };

  test('a valid one is recorded, and works once', async () => {
    const { service, secret } = await withSigning('required');
    const headers = { 'x-service-signature': sign(secret, 'nonce-0001') };
    const view = (await (await authorize(service, { headers })).json()) as { request_id: string };
    expect(await recordOf(service, view.request_id)).toMatchObject({ isSigned: true });
    expect(await problemOf(await authorize(service, { headers }))).toMatchObject({
      code: 'invalid_signature',
      status: 401,
    });
  });

  test('a missing or malformed one: 401, after the body is read, and recorded', async () => {
    const { service } = await withSigning('required');
    expect((await problemOf(await authorize(service))).code).toBe('invalid_signature');
    expect((await problemOf(await authorize(service, { body: '{' }))).code).toBe('invalid_json');
    const { service: other } = await withSigning('optional');
    expect((await authorize(other)).status).toBe(200);
    const bad = await problemOf(await authorize(other, { headers: { 'x-service-signature': 'garbage' } }));
    expect(bad).toMatchObject({ code: 'invalid_signature', status: 401 });
    expect(await other.store.requests.refusals(other.agent.id, 10)).toMatchObject([{ httpStatus: 401 }]);
  });
});

describe('idempotency', () => {
  const key = { 'idempotency-key': 'order-1' };

  test('the same key and body give the same request; another body is 400', async () => {
    const service = shared();
    const first = (await (await authorize(service, { headers: key })).json()) as { request_id: string };
    const second = await (await authorize(service, { headers: key })).json();
    expect(second).toEqual(first);
    const problem = await problemOf(await authorize(service, { headers: key, body: `${allowBody} ` }));
    expect(problem).toMatchObject({ code: 'idempotency_mismatch', status: 400 });
  });

  test.each(['x'.repeat(256), 'é', ''])('a key that cannot be taken (%#): 400', async (value) => {
    const service = shared();
    const problem = await problemOf(await authorize(service, { headers: { 'idempotency-key': value } }));
    expect(problem).toMatchObject({ code: 'invalid_header', status: 400 });
  });
});

test('more pending requests than the limit: 429', async () => {
  const service = await startService({
    store: await storeThatAnswers(() => Promise.resolve('too-many-open')),
  });
  const problem = await problemOf(await authorize(service, { body: body('escalate') }));
  expect(problem).toMatchObject({ code: 'too_many_open_requests', status: 429 });
});

test('a rotated key works until it expires, and the reply says so', async () => {
  const service = await startService();
  await rotateKey(service.store, { agentId: service.agent.id, graceMs: 60_000, nowMs: Date.now() });
  const reply = await authorize(service);
  expect(reply.status).toBe(200);
  expect(Date.parse(reply.headers.get('x-agent-api-key-expires') ?? '')).toBeGreaterThan(Date.now());
});

describe('mistakes of ours', () => {
  test('policies that throw: 500, nothing granted, no details in the reply', async () => {
    const { policies } = await startService();
    const service = await startService({
      policies: {
        current: () => {
          throw new Error('SELECT secret FROM /etc/passwd');
        },
        state: () => policies.state(),
        isReady: () => policies.isReady(),
        onChange: (listener) => policies.onChange(listener),
        reload: () => policies.reload(),
      },
    });
    const reply = await authorize(service);
    const problem = await problemOf(reply);
    expect(problem).toMatchObject({ code: 'internal_error', status: 500 });
    expect(JSON.stringify(problem.body)).not.toMatch(/SELECT|passwd|at /);
    expect(service.log.join('')).toContain(problem.body.instance);
    expect(service.log.join('')).not.toContain(service.apiKey);
  });

  test('a store that cannot write: 500 record_failed', async () => {
    const full = new StoreError('full', 'no space left on /var/writ.db');
    const service = await startService({ store: await storeThatAnswers(() => Promise.reject(full)) });
    const problem = await problemOf(await authorize(service));
    expect(problem).toMatchObject({ code: 'record_failed', status: 500 });
    expect(JSON.stringify(problem.body)).not.toContain('/var');
  });
});

/** A store that decides, and then answers the write with the given result. */
async function storeThatAnswers(end: () => Promise<AppendResult>): Promise<Store> {
  const store = await openStore({ path: join(temporaryDirectory(), 'writ.db') });
  const spend: Store['meters']['spend'] = async (_, work) => {
    work();
    return await end();
  };
  const meters = { ...store.meters, spend };
  return new Proxy(store, {
    get: (target, name) => (name === 'meters' ? meters : Reflect.get(target, name)),
  });
}
