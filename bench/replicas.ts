// `node bench/replicas.ts`: measures the decisions a second of one replica and of three, as real processes on
// one PostgreSQL, and of three workers behind one address. A bare INSERT of the same rows, over as many
// connections as there are replicas, is measured beside them. A commit takes a few milliseconds more than
// this machine's disk, as with a standby, so the measurement shows which part waits for which, and not which
// part gets the processor. All take turns in every round; a ratio is the median of the rounds' ratios.
// `--rounds`, `--seconds`, `--out FILE`.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { addAgent, type Service, startService } from '../test/e2e/acceptance/service.ts';
import { type PostgresServer, startPostgres } from '../test/service/store/postgres-server.ts';
import type { LoadOptions, LoadResult } from './service/load.ts';
import { processorMicroseconds } from './service/servers.ts';

const replicasMax = 3;
/** Connections to each replica; requests of several connections share a commit. */
const connections = 8;
const commitMs = 5;
const load = join(import.meta.dirname, 'service/load.ts');
const policy = `
  action pay.send, pay.count { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.count per agent over 1h
  policy limits on pay.send { allow small when payload.amount <= 100 USD }
  policy budget on pay.count { allow all  deny beyond when spent > 1_000_000_000 USD }`;
const bodyOf = (action_key: string) =>
  JSON.stringify({ action_key, payload: { amount: 10, currency: 'USD' } });

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /**
   * Microseconds of processor time for a decision: of the deciding processes, and of the database's
   * processes.
   */
  readonly processor?: { readonly deciding: number; readonly database: number };
}

/** The services on one database. */
interface Serving {
  readonly database: string;
  /** Three replicas, each with an address of its own; or one service, whose address three workers serve. */
  readonly services: readonly Service[];
  /** The keys of agents, one for each replica. */
  readonly apiKeys: readonly string[];
}

interface Bench {
  readonly server: PostgresServer;
  readonly replicas: Serving;
  readonly workers: Serving;
  readonly measureMs: number;
}

/**
 * The load of a measurement. `meter`: an action without a meter, a meter key for each load (each asks for an
 * agent of its own), or one meter key for all.
 */
interface Asked {
  readonly of?: 'replicas' | 'workers';
  readonly count: number;
  readonly meter?: 'none' | 'own' | 'shared';
  readonly each?: number;
}

async function start(measureMs: number): Promise<Bench> {
  const server = await startPostgres();
  await server.query(`ALTER SYSTEM SET commit_delay = ${commitMs * 1000}`);
  await server.query('ALTER SYSTEM SET commit_siblings = 0');
  await server.query('SELECT pg_reload_conf()');
  const replicas = await serve(server, 'replicas', { services: replicasMax, workers: 1 });
  const workers = await serve(server, 'workers', { services: 1, workers: replicasMax });
  return { server, replicas, workers, measureMs };
}

async function serve(
  server: PostgresServer,
  database: string,
  count: { readonly services: number; readonly workers: number },
): Promise<Serving> {
  await server.query(`CREATE DATABASE ${database}`);
  const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
  writeFileSync(join(policies, 'pay.policy'), policy);
  const data = mkdtempSync(join(tmpdir(), 'writ-data-'));
  const env = { WRIT_STORE: server.urlOf(database) };
  const services: Service[] = [];
  // The first service creates the tables, and the master key that all services share.
  while (services.length < count.services)
    services.push(
      await startService({ policies, data, env: { ...env, WRIT_WORKERS: String(count.workers) } }),
    );
  const apiKeys: string[] = [];
  while (apiKeys.length < replicasMax) apiKeys.push(await addAgent(data, `buyer-${apiKeys.length}`, env));
  return { database, services, apiKeys };
}

/** Returns the ids of a process and of its children. */
function withChildren(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
}

/**
 * Returns a function for the processor time, in microseconds, that the processes have used since this call.
 * Processes that have ended count as zero.
 */
function followProcessor(pids: readonly number[]): () => number {
  const before = pids.map((pid) => ({ pid, used: usedBy(pid) }));
  return () =>
    before.reduce((sum, { pid, used }) => sum + Math.max(0, (usedBy(pid) ?? 0) - (used ?? Infinity)), 0);
}

/** Returns the processor time that a process has used so far; null when the process has ended. */
function usedBy(pid: number): number | null {
  try {
    return processorMicroseconds(`${pid}`);
  } catch {
    return null;
  }
}

/** Sends load to `count` replicas or workers at once and returns the figures of all loads together. */
async function decisions(
  { server, measureMs, ...serving }: Bench,
  { of = 'replicas', count, meter = 'none', each = connections }: Asked,
): Promise<Figures> {
  const { services, apiKeys } = serving[of];
  const deciding = services.flatMap(({ process }) => withChildren(process.pid ?? 0));
  const postmaster = Number(readFileSync(join(server.socket, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const database = withChildren(postmaster);
  const [usedDeciding, usedByDatabase] = [followProcessor(deciding), followProcessor(database)];
  const asking = Array.from({ length: count }, async (_, at) => {
    const { url } = services[at % services.length]!;
    const options: LoadOptions = {
      port: Number(new URL(url).port),
      apiKey: apiKeys[meter === 'own' ? at : 0] ?? '',
      signingSecret: null,
      path: '/v1/authorize',
      body: bodyOf(meter === 'none' ? 'pay.send' : 'pay.count'),
      connections: each,
      measureMs,
      warmUpMs: measureMs / 4,
    };
    const { stdout } = await promisify(execFile)(process.execPath, [load, JSON.stringify(options)]);
    return JSON.parse(stdout) as LoadResult;
  });
  const results = await Promise.all(asking);
  const worst = (pick: (result: LoadResult) => number) => Math.max(...results.map(pick)) / 1000;
  const all = results.reduce((sum, { requestsWithWarmUp }) => sum + requestsWithWarmUp, 0);
  return {
    processor: {
      deciding: usedDeciding() / all,
      database: usedByDatabase() / all,
    },
    perSecond: results.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0),
    p50Ms: worst((result) => result.p50Microseconds),
    p99Ms: worst((result) => result.p99Microseconds),
  };
}

/**
 * Creates a table like that of requests. Returns an INSERT that stores copies of one recorded request in it,
 * with other numbers and ids.
 */
async function makeBare({ server, replicas: { database } }: Bench): Promise<string> {
  await server.query(
    'CREATE TABLE bare (LIKE requests INCLUDING ALL); CREATE SEQUENCE bare_numbers; CREATE TABLE bare_row AS SELECT * FROM requests LIMIT 1',
    database,
  );
  const columns = await server.query<{ name: string }>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'bare' ORDER BY ordinal_position",
    database,
  );
  const sent: Readonly<Record<string, string>> = {
    sequence: "nextval('bare_numbers')",
    id: 'gen_random_uuid()',
    record_json: 'record',
  };
  const values = columns.map(({ name }) => sent[name] ?? `one.${name}`).join(', ');
  return `INSERT INTO bare SELECT ${values} FROM unnest($1::text[]) AS record, bare_row AS one`;
}

async function bare(
  { server, replicas: { database }, measureMs }: Bench,
  text: string,
  count: number,
): Promise<Figures> {
  const [row] = await server.query<{ record_json: string }>('SELECT record_json FROM bare_row', database);
  const records = Array.from({ length: connections }, () => row?.record_json ?? '');
  const times: number[] = [];
  const endsAt = performance.now() + measureMs;
  const insert = async () => {
    const client = new pg.Client({ connectionString: server.urlOf(database) });
    await client.connect();
    while (performance.now() < endsAt) {
      const from = performance.now();
      await client.query({ name: 'bare', text, values: [records] });
      times.push(performance.now() - from);
    }
    await client.end();
  };
  await Promise.all(Array.from({ length: count }, insert));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return {
    perSecond: Math.round((times.length * connections * 1000) / measureMs),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

interface Row {
  readonly title: string;
  /** The index of the row with the bare INSERT over as many connections. */
  readonly beside: number;
  readonly measure: () => Promise<Figures>;
  readonly rounds: Figures[];
}

function ratio(one: Row, other: Row): string {
  const ratios = one.rounds.map(
    ({ perSecond }, at) => perSecond / (other.rounds[at]?.perSecond ?? Number.NaN),
  );
  return median(ratios).toFixed(2);
}

function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { title, rounds, beside } = row;
    const of = (pick: (figures: Figures) => number) => median(rounds.map(pick));
    const figures = [of((one) => one.p50Ms).toFixed(1), of((one) => one.p99Ms).toFixed(1)];
    const [p50, p99] = figures.map((figure) => `${figure} ms`);
    const micros = (pick: 'deciding' | 'database') => of((one) => one.processor?.[pick] ?? Number.NaN);
    const processor =
      rounds[0]?.processor === undefined
        ? '|'
        : `${micros('deciding').toFixed(0)} µs | ${micros('database').toFixed(0)} µs`;
    return `| ${title} | ${of((one) => one.perSecond)} | ${ratio(row, rows[beside]!)} | ${p50} | ${p99} | ${processor} |`;
  });
  return [
    '| | a second | to a bare INSERT | p50 | p99 | processor of a decision | of the database |',
    '|---|---|---|---|---|---|---|',
    ...lines,
    '',
    '| | measured | target |',
    '|---|---|---|',
    ...targets.map(([what, row, to, target]) => `| ${what} | ${ratio(rows[row]!, rows[to]!)} | ${target} |`),
  ].join('\n');
}

/**
 * For each target its name, the index of a row, the index of the row that it is compared with, and the bound.
 */
const targets = [
  ['three replicas to one', 1, 0, 'at least 2.3'],
  ['three workers at one address to three replicas', 8, 1, 'at least 0.9'],
  ['three bare connections to one', 3, 2, ''],
  ['three replicas, a meter key of each, to no meters', 4, 1, 'at least 0.8'],
  ['three replicas, one meter key for all, to no meters', 5, 1, 'at least 0.3'],
  ['one meter key for all, 128 connections of each to 32', 7, 6, 'at least 3.5'],
] as const;

const { values } = parseArgs({
  options: { rounds: { type: 'string' }, seconds: { type: 'string' }, out: { type: 'string' } },
});
const bench = await start(Number(values.seconds ?? 6) * 1000);
try {
  for (const meter of ['none', 'own', 'shared'] as const)
    await decisions(bench, { count: replicasMax, meter });
  await decisions(bench, { of: 'workers', count: replicasMax });
  const insert = await makeBare(bench);
  const rows: readonly Row[] = [
    { title: 'decisions of 1 replica', beside: 2, measure: () => decisions(bench, { count: 1 }), rounds: [] },
    {
      title: 'decisions of 3 replicas',
      beside: 3,
      measure: () => decisions(bench, { count: replicasMax }),
      rounds: [],
    },
    { title: 'rows of 1 connection', beside: 2, measure: () => bare(bench, insert, 1), rounds: [] },
    {
      title: 'rows of 3 connections',
      beside: 3,
      measure: () => bare(bench, insert, replicasMax),
      rounds: [],
    },
    ...(
      [
        ['3 replicas, a meter key of each', { meter: 'own' }],
        ['3 replicas, one meter key for all', { meter: 'shared' }],
        ['3 replicas, one meter key for all, 32 connections of each', { meter: 'shared', each: 32 }],
        ['3 replicas, one meter key for all, 128 connections of each', { meter: 'shared', each: 128 }],
      ] as const
    ).map(([title, asked]) => ({
      title,
      beside: 3,
      measure: () => decisions(bench, { count: replicasMax, ...asked }),
      rounds: [],
    })),
    {
      title: 'decisions of 3 workers at one address',
      beside: 3,
      measure: () => decisions(bench, { of: 'workers', count: replicasMax }),
      rounds: [],
    },
  ];
  for (let round = 0; round < Number(values.rounds ?? 3); round += 1)
    for (const { measure, rounds } of rows) rounds.push(await measure());
  const text = `# Replicas on PostgreSQL

Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}. Each replica answers ${connections} connections; a commit takes ${commitMs} ms more than the disk does, as with a standby; a bare INSERT sends ${connections} rows at once, with the bytes and indices of a request. No meters but where they are named.

${table(rows)}
`;
  console.log(text);
  if (values.out !== undefined) writeFileSync(values.out, text);
} finally {
  for (const { end } of [...bench.replicas.services, ...bench.workers.services]) await end('SIGTERM');
  await bench.server.stop();
}
