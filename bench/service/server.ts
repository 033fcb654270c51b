// Runs one of the measured servers in a process of its own: `node server.ts KIND`. The server listens on a
// free port and prints one line of JSON (port, what to send). It answers the message `writes` of its parent with where
// the time of writes went, any other with its memory after a collection, and ends when its standard input ends.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Fastify, { type FastifyInstance } from 'fastify';
import type { JsonObject } from '../../src/language/model/json.ts';
import { riskTiers } from '../../src/language/model/request.ts';
import { noTrace } from '../../src/language/model/trace.ts';
import { memo } from '../../src/language/value/memo.ts';
import { compile } from '../../src/pipeline.ts';
import { addDelegation } from '../../src/service/agents/delegations/change-delegation.ts';
import { addAgent, setSigning } from '../../src/service/agents/registry.ts';
import { createApp } from '../../src/service/http/app.ts';
import { tokenDigest } from '../../src/service/http/resources/policies/plants.ts';
import { viewExample, viewSchema } from '../../src/service/http/resources/requests/request-view.ts';
import { openPolicies } from '../../src/service/policies/policy-host.ts';
import { startMeterUpkeep } from '../../src/service/requests/metering/meter-upkeep.ts';
import { createMetering } from '../../src/service/requests/metering/metering.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { openStore } from '../../src/service/store/open.ts';
import { policyFiles, toFacts } from '../policy-text.ts';
import { opaProgram, regoText } from '../rego.ts';
import { createWorkload, type Workload } from '../workloads.ts';

const serviceKinds = [
  'full',
  'untraced',
  'not-durable',
  'unindexed',
  'signed',
  'delegated',
  'thousand',
] as const;
export const serverKinds = ['bare', ...serviceKinds, 'decides', 'opa', 'opa-logged'] as const;
/**
 * `thousand` is the full service with the 1,000 policies of the OPA server; `reloading` that whose policies change every
 * five seconds.
 */
type ServiceKind = (typeof serviceKinds)[number] | 'reloading';
export type ServerKind = (typeof serverKinds)[number];
export type StartedKind = ServerKind | ServiceKind;
type OpaKind = 'opa' | 'opa-logged';

export function isOpa(kind: StartedKind): kind is OpaKind {
  return kind === 'opa' || kind === 'opa-logged';
}

export interface ServerLine {
  readonly port: number;
  readonly apiKey: string;
  /** Null when requests are not signed. */
  readonly signingSecret: string | null;
  readonly path: string;
  readonly body: string;
}

type Started = Omit<ServerLine, 'port'> & { readonly app: FastifyInstance };

/** The request that agents send to the service. */
export const authorize = { path: '/v1/authorize', body: bodyOf(0.01) } as const;

function bodyOf(amount: number): string {
  return JSON.stringify({
    action_key: 'payment.create',
    payload: { amount, currency: 'USD', vendor: 'Staples', description: 'paper for the printers' },
  });
}

/** A payment that no meter counts: what is counted is kept in memory. */
const uncounted = { ...authorize, body: bodyOf(900) };

const bareBody = {
  type: 'object',
  additionalProperties: false,
  required: ['action_key', 'payload'],
  properties: { action_key: { type: 'string', minLength: 1, maxLength: 200 }, payload: { type: 'object' } },
} as const;

/**
 * The server that ratios refer to: the same route with schemas for its body and its reply, which does nothing
 * else.
 */
function startBare(): Started {
  const app = Fastify();
  app.post(
    '/v1/authorize',
    { schema: { body: bareBody, response: { 200: viewSchema } } },
    async () => viewExample,
  );
  return { app, apiKey: 'none', signingSecret: null, ...authorize };
}

async function startService(kind: ServiceKind): Promise<Started> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const opened = await openStore({ path: join(directory, 'writ.db') });
  // `serve` also keeps the index for searches.
  if (kind !== 'unindexed') await opened.serve();
  // An earlier revision, which this file may measure as well, does not have it.
  writeTimes = opened.writeTimes ?? null;
  const store = kind === 'not-durable' || kind === 'untraced' ? withoutRecords(opened) : opened;
  const often = kind === 'thousand' ? decidedOften() : null;
  const policyDirectory = join(directory, 'set/policies');
  if (often === null) copyPolicies(policyDirectory);
  else writePolicies(policyDirectory, often.workload);
  if (kind === 'reloading') changeLimits(policyDirectory);
  const host = await openPolicies({ directory: policyDirectory });
  const policies = kind === 'untraced' ? withoutTraces(host) : host;
  const riskTier = often?.tier ?? 'low';
  const added = await addAgent(store, { name: 'bench', riskTier, controlOwner: 'bench', tags: [] });
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  const change = { agentId: added.agent.id, nowMs: Date.now() };
  const signing =
    kind === 'signed'
      ? await setSigning(store, { ...change, signing: 'required' })
      : { kind: 'off' as const };
  const apiKey = kind === 'delegated' ? await delegatedKey(store, added) : added.apiKey;
  const app = createApp({
    store,
    policies,
    sandboxTokenDigest: tokenDigest('bench'),
    bodyBytesMax: 256 * 1024,
    // Nobody decides the requests that wait, so they pile up.
    openRequestsMax: 1_000_000_000,
    rate: { perMinute: 1_000_000_000, burst: 1_000_000_000 },
    inFlightMax: 2_000,
    ...(kind === 'reloading' ? startMetering(store, policies) : {}),
    log: { level: 'error', stream: process.stderr },
  });
  if (kind === 'reloading') startReloads(host, policyDirectory);
  const signingSecret = signing.kind === 'changed' ? signing.signingSecret : null;
  const body = often?.body ?? (kind === 'reloading' ? uncounted : authorize).body;
  return { app, apiKey, signingSecret, path: authorize.path, body };
}

/** The key of a sub-agent, whose delegation has a condition that the requests meet. */
async function delegatedKey(store: Store, { agent }: AddedAgent): Promise<string> {
  const [key] = await store.agents.keys(agent.id);
  if (key === undefined) throw new Error('the agent has no key');
  const nowMs = Date.now();
  const made = await addDelegation(
    { documents: store.documents, nowMs, actionsOf: () => [], countUses: () => 0 },
    { agent, key },
    {
      name: 'bench',
      actions: ['payment.*'],
      when: 'payload.amount <= 1_000 USD',
      untilMs: nowMs + 86_400_000,
      uses: null,
      session: null,
    },
  );
  if (made.kind !== 'made') throw new Error('the delegation could not be made');
  return made.apiKey;
}

type AddedAgent = Extract<Awaited<ReturnType<typeof addAgent>>, { readonly kind: 'added' }>;

type Policies = Parameters<typeof createApp>[0]['policies'];

const reloadEveryMs = 5_000;
/** A change of the meters has their past computed from the records, so it is rarer. */
const metersEveryReloads = 12;
let reloads = 0;
let writeTimes: Store['writeTimes'] = null;
/** Resolves when no past of a meter is being read, which takes memory for a while. */
let untilSettled = async (): Promise<void> => undefined;

/**
 * Copies the shipped policies with budgets that no load uses up: over a budget, each request would be pending, and
 * these are counted.
 */
function copyPolicies(directory: string): void {
  cpSync(join(import.meta.dirname, '../../policies/payments'), directory, { recursive: true });
  const ample = '900_000 USD';
  changePolicies(directory, (text) =>
    text
      .replaceAll(/vendor_24h > (?:small_limit|1_000 USD)/g, `vendor_24h > ${ample}`)
      .replaceAll(/agent_24h > (?:agent_limit|2_500 USD)/g, `agent_24h > ${ample}`),
  );
}

function writePolicies(directory: string, workload: Workload): void {
  mkdirSync(directory, { recursive: true });
  for (const { path, text } of policyFiles(workload)) writeFileSync(join(directory, path), text);
}

function changePolicies(directory: string, change: (text: string) => string): void {
  const file = join(directory, 'payments.policy');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/**
 * Changes a limit of a rule, and now and then the meters, with each reload. The meters count only payments below 100 USD.
 */
function changeLimits(directory: string): void {
  const small = 1 + (Math.floor(reloads / metersEveryReloads) % 99);
  changePolicies(directory, (text) =>
    text
      .replace(/payload\.amount <= 10_?\d+ USD/, `payload.amount <= ${10_000 + reloads} USD`)
      .replace(/small_limit = [\d_]+ USD/, `small_limit = ${small} USD`),
  );
}

function startReloads(host: Pick<Policies, 'reload'>, directory: string): void {
  setInterval(async () => {
    reloads += 1;
    changeLimits(directory);
    await host.reload();
  }, reloadEveryMs).unref();
}

/** Meters as the service itself keeps them. */
function startMetering(store: Store, policies: Policies) {
  const onFailure = (error: unknown) => console.error(error);
  const metering = createMetering({ meters: store.meters, clock: Date.now, onFailure });
  const upkeep = startMeterUpkeep({ metering, policies: () => policies.current(), onFailure });
  policies.onChange(() => void upkeep.take());
  untilSettled = () => upkeep.take();
  return { metering };
}

export interface ServerMemory {
  readonly reloads: number;
  /** Bytes that objects take after a collection. */
  readonly heap: number;
  /** Bytes outside of the heap that objects keep. */
  readonly external: number;
  /** Resident bytes of the process with all its threads. */
  readonly resident: number;
}

async function memoryNow(): Promise<ServerMemory> {
  await untilSettled();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let pass = 0; pass < 3; pass += 1) {
    collect();
    await sleep(50);
  }
  const { heapUsed: heap, external, rss: resident } = process.memoryUsage();
  return { reloads, heap, external, resident };
}

/** Returns policies that decide the same and leave the trace empty. */
function withoutTraces(host: Policies): Policies {
  type Active = ReturnType<Policies['current']>;
  const untraced = new WeakMap<Active, Active>();
  const without = (active: Active): Active => ({
    ...active,
    decideTraced: (facts) => ({ decision: active.decide(facts), trace: noTrace }),
  });
  return {
    current: () => memo(untraced, host.current(), without),
    state: () => host.state(),
    isReady: () => host.isReady(),
    onChange: (listener) => host.onChange(listener),
    reload: () => host.reload(),
  };
}

/** Returns a store that still runs what decides, but stores no request. */
function withoutRecords(store: Store): Store {
  const stored = async () => 'stored' as const;
  const requests = { ...store.requests, append: stored };
  const spend: Store['meters']['spend'] = async (_places, work) => (work() === null ? 'nothing' : stored());
  return { ...store, requests, meters: { ...store.meters, spend } };
}

/**
 * Returns a workload of 1,000 policies, and a request in it that is decided at once, as the service takes it, for the
 * servers that are compared with OPA.
 */
function decidedOften() {
  const workload = createWorkload('actions', 1_000);
  const readListFile = () => ({ code: 'list-file-missing', message: 'there are no list files' }) as const;
  const { engine } = compile({ files: policyFiles(workload), readListFile });
  if (engine === null) throw new Error('the workload compiles');
  const request = workload.requests.find(
    (one) => workload.actions.includes(one.action) && engine.decide(toFacts(one)).outcome === 'ALLOW',
  );
  const tier = riskTiers.find((name) => name === request?.tier);
  if (request === undefined || tier === undefined) throw new Error('the workload asks for declared actions');
  const body = JSON.stringify({ action_key: request.action, payload: request.payload });
  return { workload, engine, request, tier, body };
}

/** A route that parses, decides by 1,000 policies and replies: no identity, no limit, no record. */
function startDecides(): Started {
  const { engine, request, body } = decidedOften();
  const facts = toFacts(request);
  const app = Fastify();
  app.post<{ Body: { action_key: string; payload: JsonObject } }>(
    authorize.path,
    { schema: { body: bareBody, response: { 200: viewSchema } } },
    async ({ body }) => {
      const { outcome, reason, matchedPolicy, risk } = engine.decide({
        ...facts,
        action: body.action_key,
        payload: body.payload,
      });
      return {
        ...viewExample,
        decision: outcome,
        reason,
        matched_policy: matchedPolicy,
        risk_score: risk.high,
      };
    },
  );
  return { app, apiKey: 'none', signingSecret: null, path: authorize.path, body };
}

/**
 * Starts OPA's own server on the same policies, and waits until it is ready. `isLogged`: it writes each decision to a
 * file, which it does not wait for.
 */
async function startOpa(isLogged: boolean): Promise<ServerLine> {
  const { workload, request } = decidedOften();
  const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  const file = join(directory, 'bench.rego');
  writeFileSync(file, regoText(workload));
  const port = await freePort();
  const args = ['run', '--server', '--addr', `127.0.0.1:${port}`, '--log-level', 'error', file];
  const log = isLogged ? openSync(join(directory, 'decisions.log'), 'w') : ('ignore' as const);
  const logging = isLogged ? ['--set', 'decision_logs.console=true'] : [];
  const child = spawn(opaProgram(), [...args, ...logging], { stdio: ['ignore', log, log] });
  process.once('exit', () => {
    child.kill();
    rmSync(directory, { recursive: true, force: true });
  });
  for (let attempt = 0; ; attempt++) {
    const isReady = await fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    if (attempt > 300) throw new Error('OPA did not start');
    await sleep(100);
  }
  const input = { ...request.payload, tier: request.tier, action: request.action };
  const body = JSON.stringify({ input });
  return { port, apiKey: 'none', signingSecret: null, path: '/v1/data/bench/holding', body };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

async function start(kind: Exclude<StartedKind, OpaKind>): Promise<ServerLine> {
  const started =
    kind === 'bare' ? startBare() : kind === 'decides' ? startDecides() : await startService(kind);
  const { app, ...line } = started;
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { ...line, port: (app.server.address() as AddressInfo).port };
}

if (import.meta.main) {
  const known: readonly StartedKind[] = [...serverKinds, 'reloading'];
  const kind = known.find((name) => name === process.argv[2]);
  if (kind === undefined) throw new Error(`name one of ${known.join(', ')}`);
  const line = isOpa(kind) ? await startOpa(kind === 'opa-logged') : await start(kind);
  process.stdout.write(`${JSON.stringify(line)}\n`);
  process.on('message', async (asked) =>
    process.send?.({ answer: asked === 'writes' ? (writeTimes?.() ?? null) : await memoryNow() }),
  );
  process.stdin.resume().once('end', () => process.exit(0));
}
