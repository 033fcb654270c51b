// Runs the measured servers as processes, and puts load on them from another process. All of them share the
// machine's processors, as a service and callers on the same machine do.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WriteTimes } from '../../src/service/store/contract/store.ts';
import type { LoadOptions, LoadResult } from './load.ts';
import type { ServerKind, ServerLine, ServerMemory, StartedKind } from './server.ts';

const root = join(import.meta.dirname, '../..');

export interface Server {
  readonly line: ServerLine;
  /** Whether the server tells where the time of writes goes; another checkout's may not. */
  readonly tellsWrites: boolean;
  readonly process: ChildProcess;
}

/**
 * Starts a server of the project in the directory `checkout`, by default of this checkout. Throws when the
 * server does not start.
 */
export async function startServer(kind: StartedKind, checkout = root): Promise<Server> {
  const script = join(checkout, 'bench/service/server.ts');
  const child = spawn(process.execPath, [script, kind], { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
  // A pipe, as asked for.
  for await (const chunk of child.stdout!) {
    return { line: JSON.parse(String(chunk)) as ServerLine, tellsWrites: checkout === root, process: child };
  }
  throw new Error(`the server ${kind} did not start`);
}

export async function load(server: Server, connections: number, measureMs: number): Promise<Measured> {
  const options: LoadOptions = { ...server.line, connections, measureMs, warmUpMs: measureMs / 4 };
  const script = join(import.meta.dirname, 'load.ts');
  const args = [script, JSON.stringify(options)];
  const { pid } = server.process;
  const writesBefore = await writeTimesOf(server);
  const [before, servingBefore] = [
    processorMicroseconds(`${pid}`),
    processorMicroseconds(`${pid}/task/${pid}`),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const result = JSON.parse(stdout) as LoadResult;
  const perRequest = (microseconds: number) => microseconds / result.requestsWithWarmUp;
  return {
    ...result,
    write: timesBetween(writesBefore, await writeTimesOf(server)),
    processorPerRequest: perRequest(processorMicroseconds(`${pid}`) - before),
    servingPerRequest: perRequest(processorMicroseconds(`${pid}/task/${pid}`) - servingBefore),
  };
}

/**
 * Requests until a server's code is compiled: until then its optimiser takes up to half of the time, and figures
 * are of no use.
 */
const warmRequests = 30_000;
/** The most milliseconds that a slow machine gets for warming up. */
const warmMsMax = 8_000;

export async function warmUp(server: Server): Promise<void> {
  const startedAt = performance.now();
  let answered = 0;
  while (answered < warmRequests && performance.now() - startedAt < warmMsMax) {
    answered += (await load(server, 32, 1_000)).requestsWithWarmUp;
  }
}

/**
 * Returns the processor time of a process with all its threads, or of one thread, in microseconds. A busy
 * machine changes this figure little.
 */
export function processorMicroseconds(ofProc: string): number {
  const fields = readFileSync(`/proc/${ofProc}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticksPerSecond = 100;
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6;
}

export interface Measured extends LoadResult {
  /** Microseconds of processor time per request, of all threads together. */
  readonly processorPerRequest: number;
  /**
   * The part of `processorPerRequest` that the serving thread takes. With more cores the other threads run
   * beside it, so this figure limits the rate of a process.
   */
  readonly servingPerRequest: number;
  readonly write: WriteSteps | null;
}

/** Mean microseconds of a write, by step, and how many writes a commit has. */
export interface WriteSteps extends Readonly<Record<keyof WriteTimes['seconds'], number>> {
  readonly perCommit: number;
}

export interface ServerRow {
  readonly kind: ServerKind;
  readonly connections: number;
  /** One result for each round. */
  readonly results: readonly Measured[];
}

/** Returns the results of a server at so many connections; none when it was not measured. */
export function resultsOf(
  rows: readonly ServerRow[],
  kind: ServerKind,
  connections: number,
): ServerRow['results'] {
  return rows.find((row) => row.kind === kind && row.connections === connections)?.results ?? [];
}

export interface RoundsOptions {
  readonly connectionCounts: readonly number[];
  readonly rounds: number;
  readonly measureMs: number;
}

/** Starts and warms up the servers, then measures them in turn in every round. */
export async function measureServers(
  kinds: readonly ServerKind[],
  { connectionCounts, rounds, measureMs }: RoundsOptions,
): Promise<readonly ServerRow[]> {
  const rows = connectionCounts.flatMap((connections) =>
    kinds.map((kind) => ({ kind, connections, results: [] as Measured[] })),
  );
  const servers = new Map<ServerKind, Server>();
  try {
    for (const kind of kinds) {
      const server = await startServer(kind);
      servers.set(kind, server);
      await warmUp(server);
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

/** Returns the resident memory of the server in megabytes. */
export function residentMegabytes({ process: { pid } }: Server): number {
  const pageBytes = 4096;
  return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes) / 1e6;
}

/** Where the time of the server's writes went since its start; null when it is no service, or stores nothing. */
async function writeTimesOf({ process, tellsWrites }: Server): Promise<WriteTimes | null> {
  if (!tellsWrites) return null;
  process.send?.('writes');
  const [{ answer }] = (await once(process, 'message')) as [{ readonly answer: WriteTimes | null }];
  return answer;
}

/** Returns the microseconds of a write between two times; null when there were no writes. */
function timesBetween(before: WriteTimes | null, after: WriteTimes | null): WriteSteps | null {
  if (before === null || after === null || after.writes === before.writes) return null;
  const writes = after.writes - before.writes;
  const of = (step: keyof WriteTimes['seconds']) =>
    ((after.seconds[step] - before.seconds[step]) * 1e6) / writes;
  return {
    queue: of('queue'),
    message: of('message'),
    commit: of('commit'),
    answer: of('answer'),
    perCommit: writes / (after.commits - before.commits),
  };
}

/** The memory of the server after a collection. */
export async function collectedMemory({ process }: Server): Promise<ServerMemory> {
  process.send?.('memory');
  const [{ answer }] = (await once(process, 'message')) as [{ readonly answer: ServerMemory }];
  return answer;
}
