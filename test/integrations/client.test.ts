// The client for programs, against the real service and against one that breaks in every way: a tool runs
// only under a grant, and an approval serves one run.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import {
  type Connection,
  connect,
  DeniedError,
  PendingError,
  UnreachableError,
} from '../../integrations/typescript/client.ts';
import { createReceiptCheck } from '../../integrations/typescript/receipt.ts';
import { listening } from '../service/http/listening.ts';
import { firstAdmin, personWith } from '../service/http/person-client.ts';
import { type Service, startService, wrongKey } from '../service/http/service.ts';
import { keepTraces } from '../service/http/told-traces.ts';
import { give, look } from '../service/http/written-policies.ts';
import { everything } from '../service/store/rows.ts';

const clientOf = ({ url, apiKey: key }: Service, changes: Partial<Connection> = {}) =>
  connect({ url, key, wait: 0, ...changes });

async function approverOf(service: Service) {
  const admin = await firstAdmin(service);
  const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
  return await personWith(service, admin, who);
}

/** Counts how often a tool ran. */
function counter() {
  const tool = vi.fn((value: { readonly n: number }) => value.n * 2);
  return { tool, runs: () => tool.mock.calls.length };
}

describe('with the service', () => {
  test('a grant runs the tool once, and its outcome is recorded', async () => {
    const service = await startService();
    const { tool, runs } = counter();
    const guarded = clientOf(service).guard(tool, { action: 'demo.allow' });
    expect(await guarded({ n: 4 })).toBe(8);
    expect(runs()).toBe(1);
    const found = await service.store.requests.list({
      ...everything,
      agentId: service.agent.id,
      status: 'consumed',
      nowMs: Date.now(),
      after: null,
      countMax: 10,
    });
    expect(found.items).toHaveLength(1);
  });

  test('a refusal runs nothing, and gives the reason', async () => {
    const service = await startService();
    const { tool, runs } = counter();
    const writ = clientOf(service);
    await expect(writ.guard(tool, { action: 'demo.deny' })({ n: 1 })).rejects.toThrow(
      'Not permitted by policy demo: the demo says demo.deny',
    );
    await expect(writ.guard(tool, { action: 'demo.undeclared' })({ n: 1 })).rejects.toThrow(DeniedError);
    const wrong = clientOf(service, { key: wrongKey(service.apiKey) });
    expect(await wrong.authorize('demo.allow', {})).toMatchObject({
      kind: 'denied',
      policy: 'invalid_api_key',
    });
    expect(await writ.authorize('demo.allow', [] as never)).toMatchObject({ policy: 'invalid_envelope' });
    expect(runs()).toBe(0);
  });

  test('waits for approval, and runs once when people have approved', async () => {
    const service = await startService();
    const ben = await approverOf(service);
    const { tool, runs } = counter();
    const writ = clientOf(service, { wait: 20_000 });
    const running = writ.guard(tool, { action: 'demo.escalate' })({ n: 5 });
    await vi.waitFor(async () => {
      const [id] = await service.store.requests.openOf(service.agent.id, 1);
      expect(id).toBeDefined();
      await give(ben, id ?? '', 'approve');
    }, 60_000);
    expect(await running).toBe(10);
    expect(runs()).toBe(1);
  });

  test('continues after a restart: the same call gets its earlier approval, once', async () => {
    const service = await startService();
    const ben = await approverOf(service);
    const { tool, runs } = counter();
    const call = () => clientOf(service).guard(tool, { action: 'demo.escalate' })({ n: 5 });
    const waiting = await call().catch((error: unknown) => error);
    if (!(waiting instanceof PendingError)) throw waiting;
    expect(waiting.decision).toMatchObject({ for: 'approval' });
    expect(waiting.decision.url).toBe(`${service.url}/requests/${waiting.decision.requestId}`);
    await give(ben, waiting.decision.requestId, 'approve');
    const both = await Promise.allSettled([call(), call()]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(runs()).toBe(1);
    await expect(call()).rejects.toThrow(PendingError);
    expect(runs()).toBe(1);
  });

  test('stops waiting at its time limit or signal, lists possible actions, and withdraws a request', async () => {
    const service = await startService();
    const writ = clientOf(service);
    const waiting = await writ.authorize('demo.escalate', {});
    if (waiting.kind !== 'waiting') throw new Error('it waits');
    await writ.withdraw(waiting.requestId);
    expect((await look(service, waiting.requestId)).body.status).toBe('withdrawn');
    await expect(writ.withdraw('no-such-id')).rejects.toThrow(DeniedError);
    expect(await writ.actions('demo.d')).toEqual([{ action: 'demo.deny', grant: 'never' }]);
    const signal = AbortSignal.timeout(300);
    const held = writ.authorize('demo.escalate', {}, { wait: 30_000, signal });
    await expect(held).rejects.toThrow();
  });

  test('reads the status of a request and its reported outcome without using its approval', async () => {
    const service = await startService();
    const ben = await approverOf(service);
    const writ = clientOf(service);
    const waiting = await writ.authorize('demo.escalate', { n: 6 });
    const { requestId } = waiting;
    if (requestId === null) throw new Error('it waits');
    expect(await writ.getRequest(requestId)).toMatchObject({ requestId, status: 'pending' });
    const decided = writ.getRequest(requestId, { wait: 20_000 });
    await give(ben, requestId, 'approve');
    expect([await decided, await writ.getRequest(requestId)]).toMatchObject([
      { status: 'approved' },
      { status: 'approved' },
    ]);
    expect(await writ.authorize('demo.escalate', { n: 6 })).toMatchObject({ kind: 'allowed', requestId });
    await writ.report(requestId, true);
    expect(await writ.getRequest(requestId)).toMatchObject({ status: 'consumed' });
    expect(await writ.getRequest('no-such-id')).toBeNull();
  });

  test('names the span of the call, whatever the tracing of the program does', async () => {
    const { tracing, parents } = keepTraces();
    const service = await startService({ tracing });
    const spanOf = (id: string) => `00-4bf92f3577b34da6a3ce929d0e0e4736-${id}-01`;
    const [first, second] = [spanOf('00f067aa0ba902b7'), spanOf('00f067aa0ba902b8')];
    const fails = () => {
      throw new Error('no tracing');
    };
    const given = [
      undefined,
      first,
      () => second,
      () => undefined,
      fails,
      'none',
      `${first}\r\nx-writ-agent: other`,
    ];
    for (const traceparent of given)
      expect(await clientOf(service, { traceparent }).authorize('demo.allow', {})).toMatchObject({
        kind: 'allowed',
      });
    const nothing = [undefined, undefined, undefined, undefined];
    expect(parents).toEqual([undefined, first, second, ...nothing]);
  });

  test('returns the receipt, which the tool verifies', async () => {
    const service = await startService();
    const writ = clientOf(service, { receipts: 'files' });
    const check = createReceiptCheck({
      issuer: 'http://localhost',
      audience: 'files',
      keys: undefined as never,
    });
    const grant = await writ.authorize('demo.allow', { n: 1 });
    if (grant.kind !== 'allowed') throw new Error('it is allowed');
    expect(grant.receipt?.split('.')).toHaveLength(3);
    await expect(check(undefined, 'demo.allow', { n: 1 })).rejects.toThrow('none was sent');
    const off = await startService({ areReceiptsOn: false });
    const without = await clientOf(off, { receipts: true }).authorize('demo.allow', {});
    expect(without).toMatchObject({ kind: 'denied', policy: 'no_receipt' });
  });
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A service that gives the given answers in turn, and repeats the last one. */
async function broken(...answers: readonly Answer[]) {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(String(request.headers['idempotency-key']));
    request.resume();
    request.on('end', () => answers[Math.min(keys.length, answers.length) - 1]?.(request, response));
  });
  const url = await listening(server);
  return { url, keys, writ: connect({ url, key: 'writ_x', wait: 0, timeout: 300 }) };
}

const view = {
  request_id: '019a0000-0000-7000-8000-000000000000',
  decision: 'ALLOW',
  reason: 'r',
  matched_policy: 'p',
  risk_score: 0,
  status: 'auto_approved',
  message: 'm',
  expires_at: new Date(Date.now() + 60_000).toISOString(),
};
const json =
  (body: unknown, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const text =
  (body: string): Answer =>
  (_, response) =>
    response.end(body);

describe('with a service that breaks, nothing runs:', () => {
  const { decision: _, ...withoutDecision } = view;
  const cases: readonly (readonly [string, Answer])[] = [
    ['500', json({ type: 'urn:writ:error:internal_error', detail: 'x' }, 500)],
    ['503 without a body', (_request, response) => response.writeHead(503).end()],
    ['no answer in time', () => undefined],
    ['a connection that is cut', (request) => request.socket.destroy()],
    [
      'half a body',
      (_request, response) => {
        const body = JSON.stringify(view);
        response.writeHead(200, { 'content-length': body.length });
        response.write(body.slice(0, -20));
        setTimeout(() => response.destroy(), 20);
      },
    ],
    ['a body that is cut and says it is whole', text(JSON.stringify(view).slice(0, -20))],
    ['no JSON', text('<html>ALLOW</html>')],
    ['an empty body', text('')],
    ['another document', json({ decision: 'ALLOW' })],
    ['a list', json([view])],
    ['null', json(null)],
    ['an unknown word', json({ ...view, decision: 'PERMIT' })],
    ['a word in lower case', json({ ...view, decision: 'allow' })],
    ['ALLOW that waits', json({ ...view, status: 'pending' })],
    ['ALLOW that is refused', json({ ...view, status: 'rejected' })],
    ['ALLOW that was used', json({ ...view, status: 'consumed' })],
    ['no decision', json(withoutDecision)],
    ['no time', json({ ...view, expires_at: 'soon' })],
    ['a truth in place of a word', json({ ...view, decision: true })],
    ['201', json(view, 201)],
    ['401', json({ type: 'urn:writ:error:invalid_api_key', detail: 'x' }, 401)],
    ['403 without a body', (_request, response) => response.writeHead(403).end()],
    ['429 for ever', (_request, response) => response.writeHead(429, { 'retry-after': '0' }).end()],
    [
      'another address',
      (_request, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
    ],
  ];

  test.each(cases)('%s', async (_, answer) => {
    const { writ } = await broken(answer);
    const { tool, runs } = counter();
    const result = await writ
      .guard(tool, { action: 'demo.allow' })({ n: 1 })
      .catch((error: unknown) => error);
    expect(result instanceof DeniedError || result instanceof UnreachableError, String(result)).toBe(true);
    expect(runs()).toBe(0);
  });

  test('an address where no service answers', async () => {
    const { tool, runs } = counter();
    const writ = connect({ url: 'http://127.0.0.1:9', key: 'writ_x' });
    await expect(writ.guard(tool, { action: 'demo.allow' })({ n: 1 })).rejects.toThrow(UnreachableError);
    expect(runs()).toBe(0);
  });

  test('and the call is retried with the same idempotency key until there is a reply', async () => {
    const cut: Answer = (request) => request.socket.destroy();
    const { writ, keys } = await broken(cut, json({}, 500), json(view));
    expect(await writ.authorize('demo.allow', {})).toMatchObject({ kind: 'allowed' });
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    const named = await broken(json(view));
    await named.writ.authorize('demo.allow', {}, { idempotencyKey: 'mine' });
    expect(named.keys).toEqual(['mine']);
  });

  test('a lost report does not change the result of the tool', async () => {
    const { url } = await broken(json(view), (request) => request.socket.destroy());
    const { tool, runs } = counter();
    const writ = connect({ url, key: 'writ_x', wait: 0, timeout: 200 });
    expect(await writ.guard(tool, { action: 'demo.allow' })({ n: 3 })).toBe(6);
    expect(runs()).toBe(1);
    const failing = writ.run('demo.allow', {}, () => {
      throw new Error('the tool failed');
    });
    await expect(failing).rejects.toThrow();
  });
});
