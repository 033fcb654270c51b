// `node bench/outcomes.ts`: measures what becomes of requests in a store in PostgreSQL, beside grants: the
// outcomes that clients report and the votes that people give, a second, over one process and over three. A
// commit takes a few milliseconds more than this machine's disk, as with a standby. All take turns in every
// round; a ratio is the median of the rounds' ratios. `--rounds`, `--requests`.

import { parseArgs } from 'node:util';
import { digits, figureOf } from '../src/measure/figure.ts';
import { createRequestId } from '../src/service/requests/record/id.ts';
import type { RequestRow } from '../src/service/store/contract/records.ts';
import type { RequestChange, Store } from '../src/service/store/contract/store.ts';
import { openStore } from '../src/service/store/open.ts';
import { startPostgres } from '../test/service/store/postgres-server.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, requests: { type: 'string', default: '1000' } },
});
const rounds = Number(values.rounds);
const requests = Number(values.requests);
const processesMax = 3;
/** Requests under way at once in each process. */
const atOnce = 32;
const commitMs = 3;
const lastsMs = 3_600_000;

const server = await startPostgres();
await server.query(`ALTER SYSTEM SET commit_delay = ${commitMs * 1_000}`);
await server.query('ALTER SYSTEM SET commit_siblings = 0');
await server.query('SELECT pg_reload_conf()');
const { url, keyFile, drop } = await server.createDatabase();
const stores: Store[] = [];
while (stores.length < processesMax) {
  const store = await openStore({ url, keyFile, durability: 'single' });
  await store.serve();
  stores.push(store);
}

function granted(): RequestRow {
  const atMs = Date.now();
  return {
    id: createRequestId(atMs),
    agentId: 'agent',
    actionKey: 'pay.send',
    idempotency: null,
    outcome: 'ALLOW',
    status: 'auto_approved',
    createdAtMs: atMs,
    decidedAtMs: atMs,
    expiresAtMs: atMs + lastsMs,
    recordJson: '{"payload":{"amount":10,"currency":"USD"}}',
  };
}

function pending(): RequestRow {
  return { ...granted(), outcome: 'ESCALATE', status: 'pending', decidedAtMs: null };
}

function outcome({ id, decidedAtMs, expiresAtMs }: RequestRow): RequestChange {
  const state = { status: 'consumed', decidedAtMs, expiresAtMs } as const;
  const detail = { executed: true };
  const event = { atMs: Date.now(), who: 'agent a', what: 'consumed', state, detail } as const;
  return { requestId: id, events: [event], from: ['auto_approved'], seen: 0 };
}

function vote({ id, expiresAtMs }: RequestRow): RequestChange {
  const state = { status: 'pending', decidedAtMs: null, expiresAtMs } as const;
  const detail = { person: 'ann', group: 'finance' };
  const event = { atMs: Date.now(), who: 'ann', what: 'approved', state, detail } as const;
  return { requestId: id, events: [event], from: ['pending'], seen: 0 };
}

/** Returns how many calls a second all of the stores carry out together. */
async function perSecond<T>(
  of: readonly Store[],
  items: readonly T[],
  call: (store: Store, item: T) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const work = async (store: Store) => {
    for (let at = next++; at < items.length; at = next++) await call(store, items[at]!);
  };
  const startedAt = performance.now();
  await Promise.all(of.flatMap((store) => Array.from({ length: atOnce }, () => work(store))));
  return (items.length * 1_000) / (performance.now() - startedAt);
}

const append = (store: Store, row: RequestRow) => store.requests.append(row, { openMax: 1_000_000 });
const change = async (store: Store, one: RequestChange) => {
  const result = await store.requests.change(one);
  if (result !== 'changed') throw new Error(`a change was refused: ${result}`);
};

interface Round {
  readonly grants: number;
  readonly outcomes: number;
  readonly votes: number;
}

async function measure(of: readonly Store[]): Promise<Round> {
  const [allowed, waiting] = [granted, pending].map((make) => Array.from({ length: requests }, make));
  const grants = await perSecond(of, allowed!, append);
  await perSecond(of, waiting!, append);
  const outcomes = await perSecond(of, allowed!.map(outcome), change);
  return { grants, outcomes, votes: await perSecond(of, waiting!.map(vote), change) };
}

const measured = new Map<number, Round[]>([
  [1, []],
  [processesMax, []],
]);
for (let round = 0; round <= rounds; round += 1) {
  for (const [count, found] of measured) {
    const one = await measure(stores.slice(0, count));
    // Round 0 warms up.
    if (round > 0) found.push(one);
  }
}

console.log('| processes | grants/s | outcomes/s | votes/s | outcomes to grants | votes to grants |');
console.log('|---|---|---|---|---|---|');
for (const [count, found] of measured) {
  const median = (of: (round: Round) => number) => digits(figureOf(found.map(of)).median);
  const cells = [
    ...[median(({ grants }) => grants), median(({ outcomes }) => outcomes), median(({ votes }) => votes)],
    ...[median((one) => one.outcomes / one.grants), median((one) => one.votes / one.grants)],
  ];
  console.log(`| ${[count, ...cells].join(' | ')} |`);
}
for (const store of stores) await store.close();
await drop();
await server.stop();
process.exit(0);
