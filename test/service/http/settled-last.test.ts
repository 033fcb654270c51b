// The service settles who asks when the whole request has arrived. A change of an agent while its body is on
// the way, or while its request waits for people, applies to that request.

import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { rotateKey, setSigning } from '../../../src/service/agents/registry.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { everything } from '../store/rows.ts';
import { allowBody, authorize, problemOf, type Service, startService } from './service.ts';

interface Slow {
  readonly socket: Socket;
  /** Sends the rest of the body; returns all text that arrives until the connection ends. */
  readonly finish: () => Promise<string>;
}

/** Opens a request and sends only its headers and first byte. */
async function beginSlowly(service: Service, body = allowBody): Promise<Slow> {
  const socket = connect({ port: service.port, host: '127.0.0.1' });
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  onTestFinished(() => void socket.destroy());
  const head = [
    'POST /v1/authorize HTTP/1.1',
    'Host: x',
    'Connection: close',
    'Content-Type: application/json',
    `X-Agent-API-Key: ${service.apiKey}`,
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 1)}`);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const finish = () =>
    new Promise<string>((resolve) => {
      socket.once('close', () => resolve(received));
      socket.write(body.slice(1));
    });
  return { socket, finish };
}

type Change = (store: Store, agentId: string) => Promise<unknown>;

const changes: readonly (readonly [string, Change, number, string])[] = [
  [
    'revoked',
    (store, agentId) => store.agents.setStatus({ agentId, status: 'revoked', atMs: Date.now() }),
    403,
    'agent_revoked',
  ],
  [
    'disabled',
    (store, agentId) => store.agents.setStatus({ agentId, status: 'disabled', atMs: Date.now() }),
    403,
    'agent_disabled',
  ],
  [
    'given another key',
    (store, agentId) => rotateKey(store, { agentId, graceMs: 0, nowMs: Date.now() }),
    401,
    'invalid_api_key',
  ],
  [
    'told to sign',
    (store, agentId) => setSigning(store, { agentId, signing: 'required', nowMs: Date.now() }),
    401,
    'invalid_signature',
  ],
];

describe('while the body is on the way', () => {
  test.each(changes)('an agent that is %s is refused and recorded', async (_what, change, status, code) => {
    const service = await startService();
    const slow = await Promise.all(Array.from({ length: 5 }, () => beginSlowly(service)));
    await change(service.store, service.agent.id);
    for (const reply of await Promise.all(slow.map(({ finish }) => finish()))) {
      expect(reply).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(reply).toContain(`urn:writ:error:${code}`);
    }
    const refusals = await service.store.requests.refusals(service.agent.id, 10);
    expect(refusals.map((refusal) => refusal.code)).toEqual(Array.from({ length: 5 }, () => code));
  });

  test('an agent that another process revokes is refused', async () => {
    const service = await startService();
    const other = await openStore(service.place);
    onTestFinished(() => other.close());
    const slow = await beginSlowly(service);
    await other.agents.setStatus({ agentId: service.agent.id, status: 'revoked', atMs: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('an agent whose tier changes is decided by its new tier', async () => {
    const service = await startService();
    const { agent, store } = service;
    const slow = await beginSlowly(service);
    await store.agents.describe({ ...agent, agentId: agent.id, riskTier: 'critical', atMs: Date.now() });
    const reply = await slow.finish();
    const { request_id: id } = JSON.parse(reply.slice(reply.indexOf('\r\n\r\n')));
    const row = await store.requests.find(id);
    expect(JSON.parse(row?.recordJson ?? '').agent).toMatchObject({ risk_tier: 'critical' });
  });
});

describe('while the agent waits for people', () => {
  const escalated = '{"action_key":"demo.escalate","payload":{}}';

  test.each(changes.slice(0, 3))(
    'one that is %s hears of it at once',
    async (_what, change, status, code) => {
      const service = await startService();
      const waiting = authorize(service, { headers: { prefer: 'wait=50' }, body: escalated });
      const view = await vi.waitFor(async () => {
        const { items: found } = await service.store.requests.list({
          ...everything,
          agentId: service.agent.id,
          nowMs: Date.now(),
          after: null,
          countMax: 1,
        });
        expect(found).toHaveLength(1);
        return found[0]!;
      });
      const looking = fetch(`${service.url}/v1/requests/${view.row.id}`, {
        headers: { 'x-agent-api-key': service.apiKey, prefer: 'wait=50' },
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      await change(service.store, service.agent.id);
      for (const reply of [await waiting, await looking]) {
        expect(await problemOf(reply)).toMatchObject({ status, code });
      }
    },
  );
});
