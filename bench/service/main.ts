// `node bench/service/main.ts`: compares the service with a bare Fastify route, in one run. Servers and load
// share the machine; the servers take turns in every round, and a figure is the median of the rounds. When
// other programs share the machine, the processor time of a request grows less than the time on the clock.
// Installs OPA if it is missing. Prints Markdown, targets first; `--out FILE` also writes it to a file.
// `--only full,unindexed` measures some of the servers, compares them with the first of these, and checks
// only the ratios between them.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeers } from '../install-peers.ts';
import { type CommitFigure, measureCommits } from './commit.ts';
import type { LoadResult } from './load.ts';
import { isOpa, type ServerKind, serverKinds } from './server.ts';
import { type Measured, measureServers, resultsOf, type ServerRow, type WriteSteps } from './servers.ts';

const titles = {
  bare: 'bare Fastify route with schemas',
  full: 'the service',
  untraced: 'the service, nothing traced, nothing stored',
  'not-durable': 'the service, nothing stored',
  unindexed: 'the service, no index of requests kept for searches',
  signed: 'the service, every request signed',
  delegated: 'the service, every request by a delegated key',
  thousand: 'the service, 1,000 policies',
  decides: 'a Fastify route that decides by 1,000 policies: no key, no record',
  opa: 'OPA server, 1,000 policies: no identity, no log',
  'opa-logged': 'OPA server, 1,000 policies: no identity, decisions logged to a file without waiting',
} as const satisfies Record<ServerKind, string>;

const connectionCounts = [1, 32, 128] as const;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** The median of the milliseconds that a small write takes to reach the disk. */
function fsyncMs(): number {
  const directory = mkdtempSync(join(tmpdir(), 'writ-fsync-'));
  const file = openSync(join(directory, 'file'), 'w');
  const times = Array.from({ length: 200 }, () => {
    const start = performance.now();
    writeSync(file, 'x'.repeat(4096));
    fsyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  rmSync(directory, { recursive: true });
  return median(times);
}

function table(rows: readonly ServerRow[]): string {
  const firstKind = rows[0]?.kind ?? 'bare';
  const first = firstKind === 'bare' ? 'bare' : titles[firstKind];
  const lines = [
    `| connections | server | req/s (min-max) | to ${first} | p50 | p99 | processor a request | to ${first} | of it the serving thread |`,
    '|---|---|---|---|---|---|---|---|---|',
  ];
  for (const { kind, connections, results } of rows) {
    const rates = results.map(({ requestsPerSecond }) => requestsPerSecond);
    const bare = rows.find((row) => row.kind === firstKind && row.connections === connections);
    const processor = median(results.map(({ processorPerRequest }) => processorPerRequest));
    const ratios = rates.map((rate, round) => rate / (bare?.results[round]?.requestsPerSecond ?? NaN));
    const ms = (pick: (result: LoadResult) => number) =>
      `${(median(results.map(pick)) / 1000).toFixed(2)} ms`;
    lines.push(
      `| ${connections} | ${titles[kind]} | ${median(rates)} (${Math.min(...rates)}-${Math.max(...rates)}) | ${median(ratios).toFixed(2)} | ${ms((result) => result.p50Microseconds)} | ${ms((result) => result.p99Microseconds)} | ${processorText(kind, processor, bare)} | ${servingText(kind, results)} |`,
    );
  }
  return lines.join('\n');
}

/** Leaves the cells empty for OPA, which is a process of its own whose time is not measured. */
function processorText(kind: ServerKind, microseconds: number, bare: ServerRow | undefined): string {
  if (isOpa(kind)) return ' | ';
  const ofBare = median((bare?.results ?? []).map(({ processorPerRequest }) => processorPerRequest));
  return `${Math.round(microseconds)} µs | ${(ofBare / microseconds).toFixed(2)}`;
}

/**
 * Processor time of the serving thread, which limits the rate of one process on a machine with cores to
 * spare.
 */
function servingText(kind: ServerKind, results: readonly Measured[]): string {
  if (isOpa(kind)) return '';
  return `${Math.round(median(results.map(({ servingPerRequest }) => servingPerRequest)))} µs`;
}

interface Must {
  readonly what: string;
  readonly must: string;
  readonly figure: number;
  readonly isMet: boolean;
  readonly unit: string;
}

/** Where the time of a request goes that waits for its record. */
function writeTable(rows: readonly ServerRow[]): string {
  const lines = [
    '| connections | server | in the queue | to the writer | commit | back | writes in a commit |',
    '|---|---|---|---|---|---|---|',
  ];
  for (const { kind, connections, results } of rows) {
    const isStored = kind !== 'untraced' && kind !== 'not-durable';
    const steps = results.flatMap(({ write }) => (write === null || !isStored ? [] : [write]));
    if (steps.length === 0) continue;
    const of = (step: keyof WriteSteps) => median(steps.map((one) => one[step]));
    const micro = (['queue', 'message', 'commit', 'answer'] as const).map(
      (step) => `${of(step).toFixed(0)} µs`,
    );
    lines.push(`| ${connections} | ${titles[kind]} | ${micro.join(' | ')} | ${of('perCommit').toFixed(1)} |`);
  }
  return lines.join('\n');
}

function commitTable(commits: readonly CommitFigure[]): string {
  const lines = ['| one commit in a process of its own | time | processor |', '|---|---|---|'];
  for (const { what, microseconds, processor } of commits)
    lines.push(`| ${what} | ${microseconds.toFixed(0)} µs | ${processor.toFixed(0)} µs |`);
  return lines.join('\n');
}

/** The targets of the service; ratios are medians of the rounds' ratios. */
function musts(rows: readonly ServerRow[], fsync: number, commits: readonly CommitFigure[]): readonly Must[] {
  const of = (kind: ServerKind, connections: number) => resultsOf(rows, kind, connections);
  const ratio =
    (figure: 'requestsPerSecond' | 'processorPerRequest' | 'p50Microseconds') =>
    (kind: ServerKind, other: ServerKind, connections: number): number =>
      median(
        of(kind, connections).map(
          (one, round) => one[figure] / (of(other, connections)[round]?.[figure] ?? NaN),
        ),
      );
  const [rate, processor] = [ratio('requestsPerSecond'), ratio('processorPerRequest')];
  const latency = ratio('p50Microseconds');
  const isWhole = serverKinds.every((kind) => of(kind, 1).length > 0);
  const ms = (connections: number, pick: (result: LoadResult) => number): number =>
    isWhole ? median(of('full', connections).map(pick)) / 1000 : NaN;
  const p50 = (result: LoadResult): number => result.p50Microseconds;
  const p99 = (result: LoadResult): number => result.p99Microseconds;
  const atLeast = (what: string, least: number, figure: number): Must => ({
    what,
    must: `≥ ${least}`,
    figure,
    isMet: figure >= least,
    unit: '',
  });
  const atMost = (what: string, most: number, figure: number, unit = ''): Must => ({
    what,
    must: `≤ ${most}${unit}`,
    figure,
    isMet: figure <= most,
    unit,
  });
  const commit = commits[0]?.microseconds ?? NaN;
  const stored = median(of('full', 1).map(p50));
  const unstored = median(of('not-durable', 1).map(p50));
  const processorAt = (connections: number) =>
    median(of('full', connections).map((one) => one.processorPerRequest));
  return [
    atMost(
      'one connection: p50 to that with nothing stored and 2.5 commits',
      1,
      stored / (unstored + 2.5 * commit),
    ),
    atMost('one connection: processor to that at 32 connections', 1.6, processorAt(1) / processorAt(32)),
    ...connectionCounts.map((connections) =>
      atLeast(
        `the service to the OPA server that logs, the same 1,000 policies, ${connections === 1 ? '1 connection' : `${connections} connections`}`,
        1,
        rate('thousand', 'opa-logged', connections),
      ),
    ),
    atLeast('the service to bare Fastify, 32 connections', 0.5, rate('full', 'bare', 32)),
    atLeast('the service to bare Fastify, 128 connections', 0.6, rate('full', 'bare', 128)),
    atLeast('by processor, 32 connections', 0.6, processor('bare', 'full', 32)),
    atLeast('by processor, 128 connections', 0.6, processor('bare', 'full', 128)),
    atMost('p99 to p50, 32 connections', 5, ms(32, p99) / ms(32, p50)),
    atMost('p99, 128 connections', 15, ms(128, p99), ' ms'),
    atMost("one connection: p50 to the disk's fsync", 2.2, ms(1, p50) / fsync),
    atLeast('nothing stored to bare Fastify, 32 connections', 0.9, rate('not-durable', 'bare', 32)),
    atLeast('the service to itself without an index, 32 connections', 0.9, rate('full', 'unindexed', 32)),
    atLeast('the service to itself without an index, 128 connections', 0.9, rate('full', 'unindexed', 128)),
    atLeast('signed to unsigned, 32 connections', 0.9, rate('signed', 'full', 32)),
    atMost('delegated to plain: p50, 1 connection', 1.1, latency('delegated', 'full', 1)),
    atMost('delegated to plain: p50, 32 connections', 1.1, latency('delegated', 'full', 32)),
    atLeast('a route that only decides to the OPA server, 32 connections', 3, rate('decides', 'opa', 32)),
  ].filter(({ figure }) => !Number.isNaN(figure));
}

/**
 * What no service on this server framework and this database can do better: a bare route with the smallest commit, which
 * at 32 connections is shared by as many requests as in the service.
 */
function boundText(rows: readonly ServerRow[], commits: readonly CommitFigure[]): string {
  const of = (kind: ServerKind, connections: number, pick: (one: Measured) => number) =>
    median(resultsOf(rows, kind, connections).map(pick));
  const bare = (connections: number) => of('bare', connections, (one) => one.processorPerRequest);
  const sharedBy = of('full', 32, ({ write }) => write?.perCommit ?? NaN);
  const smallest = commits[1];
  if (smallest === undefined) return '';
  const ratio = (bare(1) + smallest.processor) / (bare(32) + smallest.processor / sharedBy);
  const rate = 1e6 / (of('bare', 1, (one) => one.p50Microseconds) + smallest.microseconds);
  const logged = of('opa-logged', 1, (one) => one.requestsPerSecond);
  if (Number.isNaN(ratio + logged)) return '';
  return `A bare route that makes the smallest commit before it answers would answer at most ${rate.toFixed(0)} requests a second at one connection, beside ${logged} of the OPA server, which does not wait for its log. It would take ${ratio.toFixed(2)} times as much processor at one connection as at 32, where ${sharedBy.toFixed(1)} requests share a commit.
`;
}

function mustTable(all: readonly Must[]): string {
  const lines = ['| | must | figure | met |', '|---|---|---|---|'];
  for (const { what, must, figure, isMet, unit } of all) {
    lines.push(`| ${what} | ${must} | ${figure.toFixed(2)}${unit} | ${isMet ? 'yes' : '**no**'} |`);
  }
  return lines.join('\n');
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    out: { type: 'string' },
    only: { type: 'string' },
  },
});
const asked = values.only?.split(',') ?? serverKinds;
const kinds = serverKinds.filter((kind) => asked.includes(kind));
if (kinds.length !== asked.length) throw new Error(`name some of ${serverKinds.join(', ')}`);
if (kinds.some(isOpa)) installPeers(console.error);
const rows = await measureServers(kinds, {
  connectionCounts,
  rounds: Number(values.rounds ?? 3),
  measureMs: Number(values.seconds ?? 2) * 1000,
});
const fsync = fsyncMs();
const commits = measureCommits();
const text = `# The service

Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}; fsync of the disk: ${fsync.toFixed(2)} ms in the median.

${mustTable(musts(rows, fsync, commits))}

${boundText(rows, commits)}
${table(rows)}

${writeTable(rows)}

${commitTable(commits)}
`;
console.log(text);
if (values.out !== undefined) writeFileSync(values.out, text);
