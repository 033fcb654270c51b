// `node bench/service/stages.ts`: what each step of one request takes of the server's thread, by itself and without a
// network, so that it can be said what bounds the service. Each figure is the least of several rounds, in microseconds:
// other programs on the machine only ever add to it. Prints Markdown.

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { jsonLimits, readJson } from '../../src/language/json/read.ts';
import { nothingSatisfied } from '../../src/language/model/request.ts';
import { createSignatureVerifier } from '../../src/service/agents/signature.ts';
import { createRateLimiter } from '../../src/service/http/calls/rate-limit.ts';
import { readEnvelope } from '../../src/service/http/contract/envelope.ts';
import { openPolicies } from '../../src/service/policies/policy-host.ts';
import { type AuthorizeInput, createAuthorizer } from '../../src/service/requests/authorize.ts';
import { createMetering } from '../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../src/service/requests/record/id.ts';
import { requestRecord, requestRow } from '../../src/service/requests/record/record.ts';
import { replyView } from '../../src/service/requests/record/reply.ts';
import { freshState } from '../../src/service/requests/record/request-state.ts';
import { type ChainEntry, chainStart, linkHash } from '../../src/service/store/contract/chain.ts';
import type { MeterStore } from '../../src/service/store/contract/metering.ts';
import type { AgentRow, RequestRow } from '../../src/service/store/contract/records.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { createBatchPacker, readBatch } from '../../src/service/store/sqlite/batch-message.ts';
import { createLinkHasher } from '../../src/service/store/sqlite/chain/link-hasher.ts';
import { requestColumns } from '../../src/service/store/sqlite/rows.ts';
import type { Write } from '../../src/service/store/sqlite/writes.ts';
import { authorize } from './server.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const rounds = Number(values.rounds);
const callsPerRound = 10_000;

/** The least that one call took, in microseconds. */
async function least(call: () => unknown): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    for (let done = 0; done < callsPerRound; done++) {
      const result = call();
      if (result instanceof Promise) await result;
    }
    best = Math.min(best, ((performance.now() - startedAt) * 1000) / callsPerRound);
  }
  return best;
}

const nowMs = Date.now();
const agent: AgentRow = {
  id: '5f0c9f6e-9c1b-4c3e-9d43-0a4c2f0f6f3a',
  name: 'bench',
  riskTier: 'low',
  controlOwner: 'bench',
  tags: [],
  status: 'active',
  signing: 'off',
  sealedSigningSecret: null,
  ratePerMinute: null,
  burst: null,
  tellsChange: false,
  createdAtMs: nowMs,
  changedAtMs: nowMs,
  version: 1,
};
const policies = await openPolicies({ directory: join(import.meta.dirname, '../../policies/payments') });
let stored: RequestRow | null = null;
const requests = {
  append: async (row: RequestRow) => {
    stored = row;
    return 'stored' as const;
  },
};
const masterKey = new Uint8Array(32);
// The policies have no meters; of the store nothing else is touched where there is no idempotency key.
const meters: Pick<MeterStore, 'note' | 'onUncertain' | 'spend'> = {
  note: async () => [],
  onUncertain: () => undefined,
  async spend(_places, work) {
    const made = work();
    return made === null ? 'nothing' : await requests.append(made.row);
  },
};
const store = { masterKey, requests, meters } as unknown as Store;
const noSwitches = { generation: 0, stoppedBy: () => null };
const authorizer = createAuthorizer({
  store,
  policies: () => policies.current(),
  clock: Date.now,
  findPeople: async () => new Map(),
  switches: { seen: () => noSwitches, lookAgain: async () => noSwitches },
  metering: createMetering({ meters: store.meters, clock: Date.now }),
});
const bytes = Buffer.from(authorize.body);
const ask = (): AuthorizeInput => {
  const read = readJson(bytes);
  const envelope = readEnvelope(read.ok ? read.value : null);
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
    requestId: createRequestId(nowMs),
  };
};

const input = ask();
await authorizer.authorize(input);
if (stored === null) throw new Error('the request was stored');
const row: RequestRow = stored;
const record = requestRecord(row);
const view = replyView(freshState(record), nowMs);
const inForce = policies.current();
const facts = { ...record, action: record.actionKey, nowMs, meters: {}, satisfied: nothingSatisfied };
const limiter = createRateLimiter('agent', { perMinute: 1e9, burst: 1e9 });
const verify = createSignatureVerifier({ masterKey, isCompatibilityAllowed: true });
const hashLink = createLinkHasher();
const entry: ChainEntry = { ...requestColumns(row), kind: 'request', sequence: 1 };
const pack = createBatchPacker();
const batch: readonly Write[] = Array.from({ length: 30 }, () => ({
  kind: 'append-request',
  row,
  openMax: 20,
  basis: null,
  entries: [],
}));
const keyText = `writ_${'a'.repeat(46)}`;

const stages: readonly (readonly [name: string, call: () => unknown, parts?: number])[] = [
  ['hash of the API key', () => hash('sha256', keyText, 'hex')],
  ['rate: take and headers', () => limiter.headers(limiter.take(agent.id, performance.now()))],
  ['request id', () => createRequestId(nowMs)],
  ['strict JSON', () => readJson(bytes, jsonLimits)],
  ['(`JSON.parse` of the same body)', () => JSON.parse(bytes.toString())],
  ['envelope', () => readEnvelope({ action_key: input.actionKey, payload: input.payload })],
  ['signature, none', () => verify({ agent, header: undefined, path: '/', body: bytes, nowMs })],
  ['decision', () => inForce.decide(facts)],
  ['decision with full trace', () => inForce.decideTraced(facts)],
  ['record into its row', () => requestRow(record)],
  ['reply of eight fields', () => replyView(freshState(record), nowMs)],
  ['reply as JSON', () => JSON.stringify(view)],
  ['all from the body to the row and the reply, together', () => authorizer.authorize(ask())],
  [
    'writer: a batch of 30 as a message, without the threads, a row',
    () => readBatch(pack(batch)),
    batch.length,
  ],
  ['writer: hash of the chain', () => hashLink(chainStart.hash, entry)],
  ['(the definition of that hash)', () => linkHash(chainStart.hash, entry)],
];

console.log(`The record has ${row.recordJson.length} characters.\n\n| stage | µs |\n|---|---|`);
for (const [name, call, parts = 1] of stages)
  console.log(`| ${name} | ${((await least(call)) / parts).toFixed(2)} |`);
await policies.close();
