// `node bench/postgres.ts`: compares the store in PostgreSQL with bare INSERTs, and the service on PostgreSQL
// with the service on a file. The sides take turns in every round. A result is the median of the rounds'
// ratios, so it holds even when other programs use the machine. `--rounds`, `--seconds`, `--out FILE`.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { verifyChain } from '../src/service/audit/verify.ts';
import { createRequestId } from '../src/service/requests/record/id.ts';
import type { RequestRow } from '../src/service/store/contract/records.ts';
import type { Store } from '../src/service/store/contract/store.ts';
import { openStore } from '../src/service/store/open.ts';
import { idArray, plainArray, textArray } from '../src/service/store/postgres/server/arrays.ts';
import { addAgent, type Service, startService } from '../test/e2e/acceptance/service.ts';
import { type PostgresServer, startPostgres } from '../test/service/store/postgres-server.ts';
import type { LoadOptions, LoadResult } from './service/load.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string' }, seconds: { type: 'string' }, out: { type: 'string' } },
});
const roundCount = Number(values.rounds ?? 5);
const measureMs = Number(values.seconds ?? 2) * 1000;
const load = join(import.meta.dirname, 'service/load.ts');
const limits = { openMax: 20 };
const recordJson = JSON.stringify({ payload: { vendor: 'Staples', note: '-'.repeat(900) } });

interface Target {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
}

/** Formats the median ratio, followed by the smallest and the largest of the rounds. */
function shown(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
}

function row(at: number): RequestRow {
  const createdAtMs = Date.now();
  return {
    id: createRequestId(createdAtMs),
    agentId: `agent-${at % 100}`,
    actionKey: 'pay.send',
    outcome: 'ALLOW',
    status: 'auto_approved',
    createdAtMs,
    decidedAtMs: createdAtMs,
    expiresAtMs: createdAtMs + 300_000,
    idempotency: null,
    recordJson,
  };
}

function rowsOf(count: number): readonly RequestRow[] {
  return Array.from({ length: count }, (_, at) => row(at));
}

/** Nanoseconds that a single-threaded process has run on a processor. */
function busyNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
}

interface Bare {
  readonly pid: number;
  insert(rows: readonly RequestRow[]): Promise<void>;
  end(): Promise<void>;
}

/** Creates a table like that of requests, for an INSERT that only checks a fence, as every batch must. */
async function openBare(server: PostgresServer, database: string): Promise<Bare> {
  await server.query(
    'CREATE TABLE bare (LIKE requests INCLUDING ALL); CREATE SEQUENCE bare_numbers; CREATE TABLE bare_fence WITH (fillfactor = 10) AS SELECT 0 AS slot, 0 AS batch',
    database,
  );
  const client = new pg.Client({ connectionString: server.urlOf(database) });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const hash = '0'.repeat(64);
  const text = `WITH fence AS (UPDATE bare_fence SET batch = batch + 1 WHERE slot = 0 RETURNING slot)
    INSERT INTO bare (sequence, follows, hash, slot, lane, id, agent_id, action_key, outcome, status, created_ms, decided_ms,
      expires_ms, record_json)
    SELECT nextval('bare_numbers'), 1, '${hash}', fence.slot, 1, r.*
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[], $8::int8[], $9::text[]) AS r, fence`;
  return {
    pid: rows[0]?.pid ?? 0,
    async insert(all) {
      const texts = (pick: (one: RequestRow) => string) => textArray(all.map(pick));
      const numbers = (pick: (one: RequestRow) => number | null) => plainArray(all.map(pick));
      await client.query({
        name: 'bare',
        text,
        values: [
          idArray(all.map(({ id }) => id)),
          ...[texts((one) => one.agentId), texts((one) => one.actionKey)],
          ...[texts((one) => one.outcome), texts((one) => one.status)],
          ...[numbers((one) => one.createdAtMs), numbers((one) => one.decidedAtMs)],
          ...[numbers((one) => one.expiresAtMs), texts((one) => one.recordJson)],
        ],
      });
    },
    end: () => client.end(),
  };
}

/**
 * Measures the server's processor time for a batch as a ratio to a bare INSERT of the same rows, and the
 * bytes that a record takes.
 */
async function appends(server: PostgresServer): Promise<readonly Target[]> {
  const { name, url, keyFile } = await server.createDatabase();
  const store = await openStore({ url, keyFile });
  await store.serve();
  const append = async (rows: readonly RequestRow[]) =>
    void (await Promise.all(rows.map((one) => store.requests.append(one, limits))));
  await append(rowsOf(64));
  const [writer] = await server.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE query LIKE '%writ_append%' AND pid <> pg_backend_pid()",
    name,
  );
  const bare = await openBare(server, name);
  const perRow = async (
    pid: number,
    count: number,
    store: (rows: readonly RequestRow[]) => Promise<void>,
  ) => {
    const batches = count === 1 ? 200 : Math.ceil(2_048 / count);
    const from = busyNs(pid);
    for (let batch = 0; batch < batches; batch += 1) await store(rowsOf(count));
    return (busyNs(pid) - from) / batches / count;
  };
  const sizes = [
    [1, 1.3],
    [64, 1.25],
    [256, 1.25],
  ] as const;
  const ratios = new Map<number, number[]>(sizes.map(([size]) => [size, []]));
  for (let round = 0; round <= roundCount; round += 1)
    for (const [size] of sizes) {
      const own = await perRow(writer?.pid ?? 0, size, append);
      const alone = await perRow(bare.pid, size, bare.insert);
      // Round 0 warms the store and the bare INSERT up and is not counted.
      if (round > 0) ratios.get(size)?.push(own / alone);
    }
  const bytes = await bytesOf(server, { database: name, writer: writer?.pid ?? 0 }, append);
  await bare.end();
  await store.close();
  return [
    ...sizes.map(([size, target]) => ({
      what: `server processor time of a batch of ${size} to a fenced INSERT of the same rows`,
      target: `at most ${target}`,
      measured: shown(ratios.get(size) ?? []),
    })),
    ...bytes,
  ];
}

/** Milliseconds until a connection has reported to the server how much it has written. */
const statisticsMs = 1_500;

/**
 * Measures the bytes written by the connection that stores records. The search index is written by a
 * connection of its own and does not count.
 */
async function bytesOf(
  server: PostgresServer,
  { database, writer }: { readonly database: string; readonly writer: number },
  append: (rows: readonly RequestRow[]) => Promise<void>,
): Promise<readonly Target[]> {
  const measure = async () => {
    await pause(statisticsMs);
    const [found] = await server.query<{ wal: string; table: string; count: string }>(
      `SELECT (pg_stat_get_backend_wal(${writer})).wal_bytes AS wal, pg_total_relation_size('requests') AS table, count(*) AS count
       FROM requests`,
      database,
    );
    return found;
  };
  // After a checkpoint PostgreSQL logs each page whole once, also the pages of the index by agent. The first
  // batches absorb these writes, which are no part of what a record takes.
  await server.query('CHECKPOINT', database);
  for (let batch = 0; batch < 20; batch += 1) await append(rowsOf(64));
  const before = await measure();
  for (let batch = 0; batch < 100; batch += 1) await append(rowsOf(64));
  const after = await measure();
  const grown = (name: 'wal' | 'table' | 'count') => Number(after?.[name]) - Number(before?.[name]);
  const perRecord = (name: 'wal' | 'table') => (grown(name) / grown('count') / recordJson.length).toFixed(2);
  return [
    {
      what: `bytes of the log to those of a record's JSON (${recordJson.length})`,
      target: 'at most 1.6',
      measured: perRecord('wal'),
    },
    {
      what: 'bytes of the table and its indices to them',
      target: 'at most 1.4',
      measured: perRecord('table'),
    },
  ];
}

/** Measures the records a second that are read and verified, as a ratio to a store in a file. */
async function verifying(server: PostgresServer): Promise<Target> {
  const count = 20_000;
  const database = await server.createDatabase();
  const file = { path: join(mkdtempSync(join(tmpdir(), 'writ-verify-')), 'writ.db') };
  const stores: Store[] = [];
  for (const place of [file, database]) {
    const store = await openStore(place);
    stores.push(store);
    await store.serve();
    for (let at = 0; at < count; at += 500)
      await Promise.all(rowsOf(500).map((one) => store.requests.append(one, limits)));
  }
  const taken = async (store: Store): Promise<number> => {
    const from = performance.now();
    const { kind } = await verifyChain(store);
    if (kind !== 'whole') throw new Error(`the chain is ${kind}`);
    return performance.now() - from;
  };
  const [inFile, inDatabase] = stores as [Store, Store];
  const ratios: number[] = [];
  for (let round = 0; round < roundCount; round += 1) {
    const alone = await taken(inFile);
    ratios.push(alone / (await taken(inDatabase)));
  }
  for (const store of stores) await store.close();
  return {
    what: `records a second that are verified (${count}), to a file`,
    target: 'at least 0.9',
    measured: shown(ratios),
  };
}

interface Served {
  readonly service: Service;
  readonly apiKey: string;
}

const policy = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  policy limits on pay.send { allow small when payload.amount <= 100 USD }`;
const body = JSON.stringify({ action_key: 'pay.send', payload: { amount: 10, currency: 'USD' } });

async function startServed(env: Readonly<Record<string, string>>): Promise<Served> {
  const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
  writeFileSync(join(policies, 'pay.policy'), policy);
  const data = mkdtempSync(join(tmpdir(), 'writ-data-'));
  const service = await startService({ policies, data, env });
  return { service, apiKey: await addAgent(data, 'buyer', env) };
}

interface Measured extends LoadResult {
  /** Processor time of all threads of the service, in clock ticks (`USER_HZ`). */
  readonly busyPerRequest: number;
}

async function under({ service, apiKey }: Served, connections: number): Promise<Measured> {
  const options: LoadOptions = {
    port: Number(new URL(service.url).port),
    apiKey,
    signingSecret: null,
    path: '/v1/authorize',
    body,
    connections,
    measureMs,
    warmUpMs: measureMs / 4,
  };
  const from = busyTicks(service.process.pid ?? 0);
  const { stdout } = await promisify(execFile)(process.execPath, [load, JSON.stringify(options)]);
  const result = JSON.parse(stdout) as LoadResult;
  return {
    ...result,
    busyPerRequest: (busyTicks(service.process.pid ?? 0) - from) / result.requestsWithWarmUp,
  };
}

function busyTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return Number(user) + Number(system);
}

/** Compares the service on a database with the service on a file. */
async function serving(server: PostgresServer): Promise<readonly Target[]> {
  const { name } = await server.createEmptyDatabase();
  const [inFile, inDatabase] = [await startServed({}), await startServed({ WRIT_STORE: server.urlOf(name) })];
  const rates: number[] = [];
  const times: number[] = [];
  const busy: number[] = [];
  try {
    for (let round = 0; round < roundCount; round += 1) {
      const [file, database] = [await under(inFile, 128), await under(inDatabase, 128)];
      rates.push(database.requestsPerSecond / file.requestsPerSecond);
      busy.push(database.busyPerRequest / file.busyPerRequest);
      const [one, other] = [await under(inFile, 1), await under(inDatabase, 1)];
      times.push(other.p50Microseconds / one.p50Microseconds);
    }
  } finally {
    for (const { service } of [inFile, inDatabase]) await service.end('SIGTERM');
  }
  return [
    {
      what: 'decisions a second, 128 connections, to a file',
      target: 'at least 0.8',
      measured: shown(rates),
    },
    { what: 'p50 of one connection, to a file', target: 'at most 1.5', measured: shown(times) },
    {
      what: 'processor time of the service for a decision, to a file',
      target: 'at most 1.05',
      measured: shown(busy),
    },
  ];
}

const server = await startPostgres();
try {
  const targets = [...(await serving(server)), ...(await appends(server)), await verifying(server)];
  const lines = targets.map(({ what, target, measured }) => `| ${what} | ${measured} | ${target} |`);
  const text = `# The store in PostgreSQL

Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}. One service, one server, on this machine and without a standby; medians of ${roundCount} rounds, with the smallest and the largest behind.

| | measured | target |
|---|---|---|
${lines.join('\n')}
`;
  console.log(text);
  if (values.out !== undefined) writeFileSync(values.out, text);
} finally {
  await server.stop();
}
