// Measured servers as processes with a core of their own, and loads on them from another core.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoadOptions, LoadResult } from './load.ts';
import type { ServerKind, ServerLine } from './server.ts';

const root = join(import.meta.dirname, '../..');
const serverCore = '0';
const loadCore = '1';

export interface Server {
  readonly kind: ServerKind;
  readonly line: ServerLine;
  readonly process: ChildProcess;
}

/** `checkout` is a directory of this project; this one unless said otherwise. */
export async function startServer(kind: ServerKind, checkout = root): Promise<Server> {
  const script = join(checkout, 'bench/service/server.ts');
  const child = spawn('taskset', ['-c', serverCore, process.execPath, script, kind], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const chunk of child.stdout) {
    return { kind, line: JSON.parse(String(chunk)) as ServerLine, process: child };
  }
  throw new Error(`the server ${kind} did not start`);
}

export async function load(server: Server, connections: number, measureMs: number): Promise<Measured> {
  const options: LoadOptions = { ...server.line, connections, measureMs, warmUpMs: measureMs / 4 };
  const script = join(import.meta.dirname, 'load.ts');
  const args = ['-c', loadCore, process.execPath, script, JSON.stringify(options)];
  const before = processorMicroseconds(server);
  const { stdout } = await promisify(execFile)('taskset', args);
  const result = JSON.parse(stdout) as LoadResult;
  return {
    ...result,
    processorPerRequest: (processorMicroseconds(server) - before) / result.requestsWithWarmUp,
  };
}

/** What a busy machine does not change much: the processor time that the server has used, all its threads together. */
function processorMicroseconds({ process: { pid } }: Server): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticksPerSecond = 100;
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6;
}

export interface Measured extends LoadResult {
  /** In microseconds. */
  readonly processorPerRequest: number;
}

/** Memory of the server that is in use now, in megabytes. */
export function residentMegabytes({ process: { pid } }: Server): number {
  const pageBytes = 4096;
  return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes) / 1e6;
}
