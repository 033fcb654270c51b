// Measures what each promise of a request costs in process: the same request is decided again and again, with
// one more promise at each step. The rows of a batch go to disk in one transaction, as in the service.
// Figures are the processor time of all threads.

import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson } from '../../src/language/json/read-json.ts';
import type { ActivePolicies } from '../../src/language/model/active-policies.ts';
import { type Figure, figureOf } from '../../src/measure/figure.ts';
import { createNonceCache } from '../../src/service/agents/nonces.ts';
import { addAgent, setSigning } from '../../src/service/agents/registry.ts';
import { createSignatureVerifier } from '../../src/service/agents/signature.ts';
import { readEnvelope } from '../../src/service/http/contract/envelope.ts';
import { openPolicies } from '../../src/service/policies/policy-host.ts';
import { type AuthorizeInput, createAuthorizer } from '../../src/service/requests/authorize.ts';
import { createMetering } from '../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../src/service/requests/record/id.ts';
import { requestedFacts } from '../../src/service/requests/request-facts.ts';
import type { AgentRow } from '../../src/service/store/contract/records.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { openStore } from '../../src/service/store/open.ts';
import { createOwnWriter, type KeepRow } from './own-writer.ts';
import { authorize } from './server.ts';

export interface PromiseStep {
  /** What this step adds. */
  readonly what: string;
  /** Nanoseconds of processor time for a request with all promises up to this step. */
  readonly figure: Figure;
}

/** Requests that are under way at the same time and are written together. */
const batchOf = 32;
const batchesPerRound = 60;

interface Way {
  readonly what: string;
  readonly ask: () => unknown;
  /** Runs before each round and is not measured. */
  readonly prepare?: () => void;
}

/** Measures all steps in turn, round by round; two additional rounds warm up first. */
export async function measurePromises(rounds: number): Promise<readonly PromiseStep[]> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-promises-'));
  const bench = await openBench(folder);
  const all = waysOf(bench, folder).map((way) => ({ ...way, figures: [] as number[] }));
  for (let round = -2; round < rounds; round += 1) {
    for (const { ask, prepare, figures } of all) {
      prepare?.();
      const nanoseconds = await measureRound(ask);
      if (round >= 0) figures.push(nanoseconds);
    }
  }
  await bench.close();
  rmSync(folder, { recursive: true });
  return all.map(({ what, figures }) => ({ what, figure: figureOf(figures) }));
}

async function measureRound(ask: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let batch = 0; batch < batchesPerRound; batch += 1) {
    await Promise.all(Array.from({ length: batchOf }, ask));
  }
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / (batchesPerRound * batchOf);
}

type Bench = Awaited<ReturnType<typeof openBench>>;

async function openBench(folder: string) {
  const policies = await openPolicies({ directory: join(import.meta.dirname, '../../policies/payments') });
  const store = await openStore({ path: join(folder, 'writ.db') });
  const plain = await agentOf(store, 'plain');
  const signing = await agentOf(store, 'signing');
  const change = { agentId: signing.id, nowMs: Date.now() };
  const signed = await setSigning(store, { ...change, signing: 'required' });
  if (signed.kind !== 'changed' || signed.signingSecret === null) throw new Error('the agent cannot sign');
  return {
    store,
    active: policies.current(),
    plain,
    signed: await agentOf(store, 'signing'),
    secret: signed.signingSecret,
    async close() {
      await store.close();
      await policies.close();
    },
  };
}

async function agentOf(store: Store, name: string): Promise<AgentRow> {
  await addAgent(store, { name, riskTier: 'low', controlOwner: 'bench', tags: [] });
  const agent = await store.agents.find(name);
  if (agent === null) throw new Error('the agent could not be added');
  return agent;
}

function waysOf({ store, active, plain, signed, secret }: Bench, folder: string): readonly Way[] {
  const verify = createSignatureVerifier({
    masterKey: store.masterKey,
    isCompatibilityAllowed: false,
    nonces: createNonceCache({ store: store.nonces }),
  });
  const facts = () => requestedFacts(inputOf(plain), Date.now(), { escalate: [], reauth: [] });
  const asked = (keep: KeepRow) => {
    const ask = createAsk(active, { store, keep });
    return () => ask(inputOf(plain));
  };
  const own = (name: string, parts: { readonly isChained: boolean; readonly isSealed: boolean }) =>
    asked(createOwnWriter(join(folder, name), { ...parts, batchOf }));
  const served: KeepRow = (row, limits) => store.requests.append(row, limits);
  const askServed = createAsk(active, { store, keep: served });
  const sign = createSigner(secret);
  let headers: string[] = [];
  return [
    { what: 'the body read strictly, the envelope', ask: () => inputOf(plain) },
    { what: 'the payload checked, the decision', ask: () => active.decide(facts()) },
    { what: 'the trace of every rule', ask: () => active.decideTraced(facts()) },
    { what: "the record's text, the reply", ask: asked(async () => 'stored') },
    { what: 'the row on disk', ask: own('rows.db', { isChained: false, isSealed: false }) },
    { what: 'the chain', ask: own('chain.db', { isChained: true, isSealed: false }) },
    { what: 'the seal', ask: own('seal.db', { isChained: true, isSealed: true }) },
    { what: 'a thread that writes, and judges what a grant rests on', ask: asked(served) },
    {
      what: 'the signature checked, its nonce noted',
      prepare() {
        headers = Array.from({ length: batchOf * batchesPerRound }, () => sign(Date.now()));
      },
      ask() {
        const header = headers.pop();
        const state = verify({ agent: signed, header, path: authorize.path, body, nowMs: Date.now() });
        if (state !== 'valid') throw new Error('the signature is good');
        return askServed({ ...inputOf(signed), isSigned: true });
      },
    },
  ];
}

function createAsk(
  active: ActivePolicies,
  { store, keep }: { readonly store: Store; readonly keep: KeepRow },
): (input: AuthorizeInput) => Promise<void> {
  const meters: Store['meters'] = {
    ...store.meters,
    async spend(_places, work) {
      const made = work();
      return made === null ? 'nothing' : await keep(made.row, made.limits);
    },
  };
  const noSwitches = { generation: 0, stoppedBy: () => null };
  const authorizer = createAuthorizer({
    openRequestsMax: 20,
    store: { ...store, meters },
    policies: () => active,
    clock: Date.now,
    findPeople: async () => new Map(),
    switches: { current: () => noSwitches, refresh: async () => noSwitches },
    metering: createMetering({ meters, clock: Date.now }),
  });
  return async (input) => {
    const result = await authorizer.authorize(input);
    if (result.kind !== 'decided' || JSON.stringify(result.request) === '') throw new Error(result.kind);
  };
}

const body = Buffer.from(authorize.body);

function inputOf(agent: AgentRow): AuthorizeInput {
  const json = readJson(body);
  const envelope = readEnvelope(json.ok ? json.value : null);
  if (!envelope.ok) throw new Error('the body of the load is a good one');
  return {
    ...envelope.envelope,
    agent,
    key: { id: 'abcdefgh', notAfterMs: null },
    isSigned: false,
    session: null,
    clientAddress: '127.0.0.1',
    idempotencyKey: null,
    bodyDigest: null,
    requestId: createRequestId(Date.now()),
  };
}

/** Returns a function that makes the signature header of a client; each header has a nonce of its own. */
function createSigner(secret: string): (nowMs: number) => string {
  let count = 0;
  return (nowMs) => {
    count += 1;
    const [time, nonce] = [Math.trunc(nowMs / 1_000), `promises-${count}`];
    const text = `v1:${time}:${nonce}:POST:${authorize.path}:${authorize.body}`;
    return `t=${time},n=${nonce},v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
  };
}
