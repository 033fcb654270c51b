// `node bench/service/main.ts`: the service beside a bare Fastify route, in one run. The servers have one core and the
// load another; each takes its turn in every round, and a figure is the median of the rounds. The
// processor time of a request does not grow as much as time on the clock when other programs share the machine. Prints
// Markdown.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LoadResult } from './load.ts';
import { type ServerKind, serverKinds } from './server.ts';
import { load, type Measured, type Server, startServer } from './servers.ts';

const titles = {
  bare: 'bare Fastify route with schemas',
  full: 'the service',
  'not-durable': 'the service, nothing stored',
  signed: 'the service, every request signed',
} as const satisfies Record<ServerKind, string>;

const connectionCounts = [1, 32, 128] as const;

interface Row {
  readonly kind: ServerKind;
  readonly connections: number;
  readonly results: Measured[];
}

async function measure(rounds: number, measureMs: number): Promise<readonly Row[]> {
  const rows: Row[] = connectionCounts.flatMap((connections) =>
    serverKinds.map((kind) => ({ kind, connections, results: [] })),
  );
  const servers = new Map<ServerKind, Server>();
  try {
    for (const kind of serverKinds) {
      const server = await startServer(kind);
      servers.set(kind, server);
      // Until its code is compiled a server says nothing about itself.
      await load(server, 32, 2 * measureMs);
    }
    for (let round = 0; round < rounds; round++) {
      for (const { kind, connections, results } of rows) {
        results.push(await load(servers.get(kind)!, connections, measureMs));
      }
    }
    return rows;
  } finally {
    for (const server of servers.values()) server.process.stdin?.end();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Milliseconds that a small write takes to reach the disk, in the median. */
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

function table(rows: readonly Row[]): string {
  const lines = [
    '| connections | server | req/s (min-max) | to bare | p50 | p99 | processor a request | to bare |',
    '|---|---|---|---|---|---|---|---|',
  ];
  for (const { kind, connections, results } of rows) {
    const rates = results.map(({ requestsPerSecond }) => requestsPerSecond);
    const bare = rows.find((row) => row.kind === 'bare' && row.connections === connections);
    const processor = median(results.map(({ processorPerRequest }) => processorPerRequest));
    const ratios = rates.map((rate, round) => rate / (bare?.results[round]?.requestsPerSecond ?? NaN));
    const ms = (pick: (result: LoadResult) => number) =>
      `${(median(results.map(pick)) / 1000).toFixed(2)} ms`;
    lines.push(
      `| ${connections} | ${titles[kind]} | ${median(rates)} (${Math.min(...rates)}-${Math.max(...rates)}) | ${median(ratios).toFixed(2)} | ${ms((result) => result.p50Microseconds)} | ${ms((result) => result.p99Microseconds)} | ${Math.round(processor)} µs | ${(median((bare?.results ?? []).map((result) => result.processorPerRequest)) / processor).toFixed(2)} |`,
    );
  }
  return lines.join('\n');
}

const { values } = parseArgs({ options: { rounds: { type: 'string' }, seconds: { type: 'string' } } });
const rows = await measure(Number(values.rounds ?? 3), Number(values.seconds ?? 2) * 1000);
console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${new Date().toISOString().slice(0, 10)}`);
console.log(`fsync of the disk: ${fsyncMs().toFixed(2)} ms in the median\n`);
console.log(table(rows));
