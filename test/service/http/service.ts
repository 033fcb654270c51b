// A running service for tests, on a free port, with a store and a policy directory of its own. Its policies
// decide by the action's verb, so that each test can ask for the outcome that it needs.

import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { type AppDeps, createApp } from '../../../src/service/http/app.ts';
import type { OpenApiDocument } from '../../../src/service/http/contract/openapi.ts';
import { tokenDigest } from '../../../src/service/http/resources/policies/plants.ts';
import type { PolicyHost } from '../../../src/service/policies/policy-host.ts';
import { startMeterUpkeep } from '../../../src/service/requests/metering/meter-upkeep.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import type { AgentRow } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore, type StoreLocation } from '../../../src/service/store/open.ts';
import { newPlace, placeInFile } from '../store/place.ts';
import { undocumentedIn } from './documented.ts';
import { takePolicies } from './kept-policies.ts';

export const sandboxToken = 'sandbox-token-of-the-tests';

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  /** The place of the store, unless the store was passed in; another process can open it, too. */
  readonly place: StoreLocation;
  readonly policies: PolicyHost;
  /** The file that `policyText` was written to. */
  readonly policyFile: string;
  readonly agent: AgentRow;
  readonly apiKey: string;
  /** The lines that the service has logged. */
  readonly log: readonly string[];
  /** Resolves when the meters of the active policies are known; a start waits for them in the same way. */
  readonly takeMeters: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const policyText = `
approvers finance "Finance"
action demo.allow, demo.deny, demo.escalate, demo.reauth { ... }
policy demo on demo.* {
  allow most for 10m when action.key != "demo.deny" because "the demo says {action.key}"
  deny one when action.key == "demo.deny" because "the demo says {action.key}"
  escalate one_more to finance within 1h when action.key == "demo.escalate" because "the demo says {action.key}"
  reauth another when action.key == "demo.reauth" because "the demo says {action.key}"
  risk base_risk +7
}
`;

export interface ServiceOptions extends Partial<AppDeps> {
  /** The policies that the service starts with, in place of `policyText`. */
  readonly startsWith?: string;
  /** Keeps the records in a file, because the test depends on a file. */
  readonly isInFile?: boolean;
}

/** Starts a service, which is closed when the test has finished. `port` 0 takes a free port. */
export async function startService(changes: ServiceOptions = {}, port = 0): Promise<Service> {
  const service = await openService(changes, port);
  onTestFinished(service.close);
  return service;
}

/** One service for all tests of a file that leave its state unchanged. */
export function shareService(changes: ServiceOptions = {}): () => Service {
  let service: Service | null = null;
  beforeAll(async () => {
    service = await openService(changes);
  });
  afterAll(() => service?.close());
  return () => {
    if (service === null) throw new Error('only for use inside a test');
    return service;
  };
}

async function openService(options: ServiceOptions, wantedPort = 0): Promise<Service> {
  const { startsWith = policyText, isInFile = false, ...changes } = options;
  const { directory, host: policies, giveBack } = await takePolicies(startsWith);
  const policyFile = join(directory, 'policies', 'demo.policy');
  const folder = join(directory, 'var');
  const { place, drop } = isInFile ? placeInFile(folder) : await newPlace(folder);
  const store = changes.store ?? (await openStore(place));
  const added = await addAgent(store, { name: 'buyer', riskTier: 'low', controlOwner: 'ops', tags: [] });
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  const log: string[] = [];
  const { clock = Date.now } = changes;
  const metering = changes.metering ?? createMetering({ meters: store.meters, clock });
  const onFailure = (error: unknown) => void log.push(String(error));
  const upkeep = startMeterUpkeep({ metering, policies: () => policies.current(), onFailure });
  await upkeep.take();
  const app = createApp({
    store,
    metering,
    policies,
    sandboxTokenDigest: tokenDigest(sandboxToken),
    rate: { perMinute: 60_000, burst: 10_000 },
    bodyBytesMax: 256 * 1024,
    log: { level: 'info', stream: { write: (line) => log.push(line) } },
    ...changes,
  });
  const { undocumented, start } = followDocument(app);
  await start();
  await app.listen({ host: '127.0.0.1', port: wantedPort });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = async () => {
    await app.close();
    await upkeep.close();
    await store.close();
    await drop();
    await giveBack();
    if (undocumented.length > 0) throw new Error(`not in the OpenAPI document: ${undocumented.join('; ')}`);
  };
  const { agent, apiKey } = added;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    store,
    place,
    policies,
    policyFile,
    agent,
    apiKey,
    log,
    takeMeters: upkeep.take,
    close,
  };
}

interface Followed {
  /** The replies that the document does not announce, added as they are sent. */
  readonly undocumented: readonly string[];
  readonly start: () => Promise<void>;
}

/** The document is the same for every service, so it is made once. */
let kept: OpenApiDocument | null = null;

/** Compares every reply of any test with the document. */
function followDocument(app: FastifyInstance): Followed {
  const undocumented: string[] = [];
  let document: OpenApiDocument | null = null;
  app.addHook('onSend', async (request, reply, payload) => {
    if (document === null) return payload;
    const { url: route = '' } = request.routeOptions;
    const operation = document.paths[route.replaceAll(/:(\w+)/g, '{$1}')]?.[request.method.toLowerCase()];
    const faults = operation === undefined ? [] : undocumentedIn(document, operation, { reply, payload });
    for (const fault of faults) undocumented.push(`${request.method} ${route} ${reply.statusCode}: ${fault}`);
    return payload;
  });
  // A decision is written past the framework's hook, so its reply is caught on the response itself.
  app.server.on('request', ({ method, url }, response) => {
    if (method !== 'POST' || url !== '/v1/authorize') return;
    const end = response.end.bind(response) as (payload?: unknown) => typeof response;
    const writeHead = response.writeHead.bind(response);
    let written: Readonly<Record<string, unknown>> = {};
    response.writeHead = ((status: number, headers: Record<string, string>) => {
      written = headers;
      return writeHead(status, headers);
    }) as typeof response.writeHead;
    response.end = ((payload: unknown) => {
      const operation = document?.paths[url]?.post;
      if (document !== null && operation !== undefined && response.statusCode === 200) {
        const faults = undocumentedIn(document, operation, {
          reply: { statusCode: 200, getHeaders: () => written },
          payload,
        });
        for (const fault of faults) undocumented.push(`${method} ${url} 200: ${fault}`);
      }
      return end(payload);
    }) as typeof response.end;
  });
  const start = async () => {
    await app.ready();
    kept ??= (await app.inject('/openapi.json')).json<OpenApiDocument>();
    document = kept;
  };
  return { undocumented, start };
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'writ-server-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface Sent {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export const allowBody = '{"action_key":"demo.allow","payload":{}}';

export function authorize(service: Service, { key, headers, body }: Sent = {}): Promise<Response> {
  const credential: Record<string, string> = key === null ? {} : { 'x-agent-api-key': key ?? service.apiKey };
  return fetch(`${service.url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credential, ...headers },
    body: body ?? allowBody,
  });
}

export interface ProblemReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly type: string;
    readonly title: string;
    readonly status: number;
    readonly detail: string;
    readonly instance: string;
    readonly errors?: readonly {
      readonly pointer: string;
      readonly detail: string;
      readonly offset?: number;
    }[];
  };
}

/** Reads a reply that must be a problem; returns it with its code in place of the type. */
export async function problemOf(reply: Response): Promise<ProblemReply & { readonly code: string }> {
  const body = (await reply.json()) as ProblemReply['body'];
  const isProblem = reply.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  const code =
    isProblem && body.status === reply.status ? body.type.replace('urn:writ:error:', '') : 'no problem';
  return { status: reply.status, headers: reply.headers, body, code };
}

/** The stored record of a request, as one object. */
export async function recordOf({ store }: Service, id: string): Promise<Record<string, unknown>> {
  const row = await store.requests.find(id);
  return { ...row, ...(JSON.parse(row?.recordJson ?? '{}') as object) };
}

/** Sends raw bytes; returns all text that arrives until the other side closes. */
export function exchange(port: number, bytes: string, { isEnded = false } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      if (isEnded) socket.end(bytes);
      else socket.write(bytes);
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('end', () => {
      socket.destroy();
      resolve(received);
    });
    socket.on('error', reject);
  });
}

/** A key that differs from this one in its last character. */
export function wrongKey(key: string): string {
  return `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
}
