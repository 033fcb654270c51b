// The straight way and the framework's way: whichever a request for a decision goes, reply and record are the same.

import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { setSigning } from '../../src/agents/registry.ts';
import { openStore } from '../../src/store/open.ts';
import { StoreError } from '../../src/store/store-error.ts';
import {
  allowBody,
  authorize,
  type Sent,
  type Service,
  startService,
  temporaryDirectory,
} from './service.ts';

// Each test opens two services.
vi.setConfig({ testTimeout: 60_000 });

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The code of the refusal that was recorded for this very request; null where none was. */
  readonly refusal: string | null;
}

interface Ways {
  readonly direct: Service;
  readonly framework: Service;
  /** How many requests came since the start, and how many looks into the store they took. */
  readonly counts: () => { readonly asked: number; readonly looks: number };
  readonly ask: (sent: Sent) => Promise<{ readonly direct: Seen; readonly framework: Seen }>;
}

async function startBoth(): Promise<Ways> {
  // Of one moment, so that times are equal too.
  const clock = () => 1_779_192_000_000;
  const direct = await startService({ clock });
  const framework = await startService({ clock, isDirect: false });
  const look = vi.spyOn(direct.store.agents, 'findByKeyId');
  let asked = 0;
  const ask = async (sent: Sent) => {
    asked += 1;
    return { direct: await see(direct, sent), framework: await see(framework, sent) };
  };
  return { direct, framework, ask, counts: () => ({ asked, looks: look.mock.calls.length }) };
}

const idForm = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

async function see(service: Service, sent: Sent): Promise<Seen> {
  const reply = await authorize(service, sent);
  const {
    date: _,
    ratelimit: __,
    ...headers
  } = Object.fromEntries([...reply.headers].map(([name, value]) => [name, value.replaceAll(idForm, 'ID')]));
  const text = await reply.text();
  const { instance } = JSON.parse(text) as { readonly instance?: string };
  const refusals = await service.store.requests.refusals(service.agent.id, 5);
  const body: unknown = JSON.parse(text.replaceAll(idForm, 'ID'));
  const refusal = refusals.find(({ id }) => id === instance)?.code ?? null;
  return { status: reply.status, headers, body, refusal };
}

const body = (verb: string, payload: unknown = {}) => JSON.stringify({ action_key: `demo.${verb}`, payload });

test('a request of an agent that is remembered goes the straight way, without a look into the store', async () => {
  const ways = await startBoth();
  for (let count = 0; count < 20; count++) await ways.ask({});
  const { asked, looks } = ways.counts();
  expect(asked).toBe(20);
  // Once to be remembered, and again whenever that has been for too long.
  expect(looks).toBeLessThan(10);
});

const cases: readonly (readonly [string, Sent])[] = [
  ...['allow', 'deny', 'escalate', 'reauth', 'unknown'].map((verb) => [verb, { body: body(verb) }] as const),
  ['text beyond ASCII', { body: body('allow', { note: 'naïve 😀 \u2028' }) }],
  ['a large body in many parts', { body: body('allow', { note: 'x'.repeat(200_000) }) }],
  ['a body that is too large', { body: body('allow', { note: 'x'.repeat(300_000) }) }],
  ['an empty body', { body: '' }],
  ['text that is not JSON', { body: '{"action_key":' }],
  ['a member twice', { body: '{"action_key":"demo.allow","payload":{"a":1,"a":2}}' }],
  ['bytes that are not UTF-8', { body: new Uint8Array([0x7b, 0xff, 0x7d]) }],
  ['another envelope', { body: '{"action":"demo.allow","extra":1}' }],
  ['another type of content', { headers: { 'content-type': 'text/plain' } }],
  ['the type with its charset', { headers: { 'content-type': 'application/json; charset=UTF-8' } }],
  ['a content encoding', { headers: { 'content-encoding': 'gzip' } }],
  ['a request id of the client', { headers: { 'x-request-id': 'call-17' } }],
  ['a bad request id of the client', { headers: { 'x-request-id': 'call 17' } }],
  ['a session', { headers: { 'x-agent-session': 's-1' } }],
  ['a bad session', { headers: { 'x-agent-session': 's'.repeat(256) } }],
  ['a preference', { headers: { prefer: 'wait=0' } }],
  ['a signature where none is taken', { headers: { 'x-service-signature': 'nonsense' } }],
  ['an idempotency key', { headers: { 'idempotency-key': 'order-1' } }],
  ['an idempotency key again', { headers: { 'idempotency-key': 'order-1' } }],
  ['with another body', { headers: { 'idempotency-key': 'order-1' }, body: body('deny') }],
  ['an unknown key', { key: `writ_${'0'.repeat(46)}` }],
  ['no key', { key: null }],
];

test('ordinary or not: both ways say the same, and record the same', async () => {
  const ways = await startBoth();
  await ways.ask({});
  for (const [name, sent] of cases) {
    const seen = await ways.ask(sent);
    expect(seen.direct, name).toEqual(seen.framework);
  }
});

test('signatures: absent, good, sent again, wrong', async () => {
  const ways = await startBoth();
  const sign = async (service: Service) => {
    const result = await setSigning(service.store, {
      agentId: service.agent.id,
      signing: 'required',
      nowMs: 0,
    });
    if (result.kind !== 'changed' || result.signingSecret === null) throw new Error('no secret');
    const digest = createHmac('sha256', result.signingSecret).update(
      `v1:1779192000:nonce-0001:POST:/v1/authorize:${allowBody}`,
    );
    return { 'x-service-signature': `t=1779192000,n=nonce-0001,v1=${digest.digest('hex')}` };
  };
  const good = { direct: await sign(ways.direct), framework: await sign(ways.framework) };
  const wrong = { 'x-service-signature': `t=1779192000,n=nonce-0002,v1=${'0'.repeat(64)}` };
  const both = async (headers: typeof good | null) => {
    const of = (way: 'direct' | 'framework') =>
      see(ways[way], headers === null ? {} : { headers: headers[way] });
    const seen = { direct: await of('direct'), framework: await of('framework') };
    expect(seen.direct).toEqual(seen.framework);
    return seen.direct.status;
  };
  const statuses = [];
  for (const headers of [null, good, good, { direct: wrong, framework: wrong }])
    statuses.push(await both(headers));
  expect(statuses).toEqual([401, 200, 401, 401]);
});

test('a store that cannot write: refused on both ways, logged, and not granted', async () => {
  const ways = await startBoth();
  await ways.ask({});
  for (const { store } of [ways.direct, ways.framework]) {
    vi.spyOn(store.requests, 'append').mockRejectedValue(new StoreError('full', 'the disk is full'));
  }
  const seen = await ways.ask({});
  expect(seen.direct).toEqual(seen.framework);
  expect(seen.direct).toMatchObject({ status: 500, body: { type: 'urn:writ:error:record_failed' } });
  const logged = (service: Service) =>
    service.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
  expect(logged(ways.direct).map(({ code, reqId }) => [code, typeof reqId])).toEqual(
    logged(ways.framework).map(({ code, reqId }) => [code, typeof reqId]),
  );
  expect(logged(ways.direct)).toHaveLength(1);
});

test('an agent that is disabled: by the service from the next request on, by another process soon', async () => {
  const path = join(temporaryDirectory(), 'writ.db');
  const store = await openStore({ path });
  const service = await startService({ store });
  const other = await openStore({ path });
  onTestFinished(() => other.close());
  const statusOf = async () => (await authorize(service)).status;
  const change = { agentId: service.agent.id, atMs: Date.now() };
  for (let count = 0; count < 3; count++) expect(await statusOf()).toBe(200);
  await store.agents.setStatus({ ...change, status: 'disabled' });
  expect(await statusOf()).toBe(403);
  await store.agents.setStatus({ ...change, status: 'active' });
  expect(await statusOf()).toBe(200);
  await other.agents.setStatus({ ...change, status: 'revoked' });
  // How soon is tested, on a clock of its own, in test/agents/memory.test.ts.
  await vi.waitFor(async () => expect(await statusOf()).toBe(403), { timeout: 10_000 });
});

test('beyond the rate: refused on both ways', async () => {
  const rate = { perMinute: 60, burst: 3 };
  for (const service of [await startService({ rate }), await startService({ rate, isDirect: false })]) {
    const statuses = [];
    for (let count = 0; count < 5; count++) statuses.push((await authorize(service)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  }
});

test('a body that stops before its end is recorded as refused, and nothing is decided', async () => {
  const { direct } = await startBoth();
  await authorize(direct);
  const head = `POST /v1/authorize HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-agent-api-key: ${direct.apiKey}`;
  const socket = connect({ port: direct.port, host: '127.0.0.1' });
  socket.end(`${head}\r\ncontent-length: 40\r\n\r\n{"action_key"`);
  socket.resume();
  await vi.waitFor(async () => {
    const [refusal] = await direct.store.requests.refusals(direct.agent.id, 1);
    expect(refusal).toMatchObject({ httpStatus: 400, code: 'incomplete_body', bodyDigest: null });
  });
});

test('requests behind one another on a connection are answered in their order', async () => {
  const { direct } = await startBoth();
  await authorize(direct);
  const request = (verb: string) => {
    const text = body(verb);
    const head = `POST /v1/authorize HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-agent-api-key: ${direct.apiKey}`;
    return `${head}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  };
  const socket = connect({ port: direct.port, host: '127.0.0.1' });
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => (received += text));
  socket.write(['allow', 'deny', 'allow', 'escalate'].map(request).join(''));
  await vi.waitFor(() => expect(received.match(/"decision"/g)).toHaveLength(4));
  expect([...received.matchAll(/"decision":"(\w+)"/g)].map((match) => match[1])).toEqual([
    'ALLOW',
    'DENY',
    'ALLOW',
    'ESCALATE',
  ]);
  socket.destroy();
});

test('law: both ways answer alike, whatever the payload and however it is damaged', async () => {
  const ways = await startBoth();
  const damaged = fc
    .tuple(fc.jsonValue(), fc.nat(), fc.constantFrom('', '{', '"', '\\', ',', '1e999', '\u0000'))
    .map(([payload, at, text]) => {
      const whole = JSON.stringify({ action_key: 'demo.allow', payload: { payload } });
      const place = at % (2 * whole.length);
      return whole.slice(0, place) + text + whole.slice(place);
    });
  await fc.assert(
    fc.asyncProperty(damaged, async (text) => {
      const seen = await ways.ask({ body: text });
      expect(seen.direct).toEqual(seen.framework);
    }),
    { numRuns: 60 },
  );
});
