// One of the measured servers in a process of its own: `node server.ts bare|full|not-durable|signed`. It listens on a
// free port and prints one line of JSON (port, API key, signing secret); it ends with its standard input.

import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { addAgent, setSigning } from '../../src/agents/registry.ts';
import { createApp } from '../../src/server/app.ts';
import { viewExample, viewSchema } from '../../src/server/request-view.ts';
import { tokenDigest } from '../../src/server/routes/plants.ts';
import { openPolicies } from '../../src/sources/live.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';

export const serverKinds = ['bare', 'full', 'not-durable', 'signed'] as const;
export type ServerKind = (typeof serverKinds)[number];

export interface ServerLine {
  readonly port: number;
  readonly apiKey: string;
  /** Null where requests are not signed. */
  readonly signingSecret: string | null;
}

interface Started {
  readonly app: FastifyInstance;
  readonly apiKey: string;
  readonly signingSecret: string | null;
}

/** What the ratios are taken to: the same route with schemas for its body and its reply, which does nothing. */
function startBare(): Started {
  const app = Fastify();
  const body = {
    type: 'object',
    additionalProperties: false,
    required: ['action_key', 'payload'],
    properties: { action_key: { type: 'string', minLength: 1, maxLength: 200 }, payload: { type: 'object' } },
  } as const;
  app.post('/v1/authorize', { schema: { body, response: { 200: viewSchema } } }, async () => viewExample);
  return { app, apiKey: 'none', signingSecret: null };
}

async function startService(kind: Exclude<ServerKind, 'bare'>): Promise<Started> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const opened = await openStore({ path: join(directory, 'writ.db') });
  const store = kind === 'not-durable' ? withoutRecords(opened) : opened;
  const policies = await openPolicies({ directory: join(import.meta.dirname, '../../policies/payments') });
  const added = await addAgent(store, { name: 'bench', riskTier: 'low', controlOwner: 'bench', tags: [] });
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  const change = { agentId: added.agent.id, nowMs: Date.now() };
  const signing =
    kind === 'signed'
      ? await setSigning(store, { ...change, signing: 'required' })
      : { kind: 'off' as const };
  const app = createApp({
    ...{ store, policies, sandboxTokenDigest: tokenDigest('bench'), bodyBytesMax: 256 * 1024 },
    rate: { perMinute: 1_000_000_000, burst: 1_000_000_000 },
    log: { level: 'error', stream: process.stderr },
  });
  const signingSecret = signing.kind === 'changed' ? signing.signingSecret : null;
  return { app, apiKey: added.apiKey, signingSecret };
}

/** A store that decides nothing less and keeps no request. */
function withoutRecords(store: Store): Store {
  const requests = { ...store.requests, append: async () => 'stored' as const };
  return { ...store, requests };
}

if (import.meta.main) {
  const kind = serverKinds.find((name) => name === process.argv[2]);
  if (kind === undefined) throw new Error(`name one of ${serverKinds.join(', ')}`);
  const { app, apiKey, signingSecret } = kind === 'bare' ? startBare() : await startService(kind);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const line: ServerLine = { port: (app.server.address() as AddressInfo).port, apiKey, signingSecret };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  process.stdin.resume().once('end', () => process.exit(0));
}
