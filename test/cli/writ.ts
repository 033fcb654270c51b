// The command line as people run it: `writ` for most tests, in a process that is kept for all commands, and
// `writProcess` for tests of the process itself. INVARIANT: the kept process runs one command after the
// other.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const entry = join(import.meta.dirname, '../../src/cli/writ.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProcessOptions extends RunOptions {
  readonly node?: string;
  readonly entry?: string;
}

/** Runs `writ ARGS` to its end in a process of its own. */
export function writProcess(args: readonly string[], options: ProcessOptions = {}): Promise<Ran> {
  const { stdin = '', cwd, node = process.execPath, env = {} } = options;
  const child = spawn(node, [options.entry ?? entry, ...args], { cwd, env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs `writ ARGS` to its end, in a process that is kept for all commands. */
export type RunWrit = (args: readonly string[], options?: RunOptions) => Promise<Ran>;

/** Runs `writ ARGS` to its end in the kept process. */
export const writ: RunWrit = keptWrit(new URL('./kept-writ.ts', import.meta.url));

/** `script` is the `kept-writ.ts` of the version to run. The kept process ends with the test worker. */
export function keptWrit(script: URL): RunWrit {
  let kept: ChildProcess | null = null;
  /** The most recent command. */
  let last: Promise<unknown> = Promise.resolve();
  const run: RunWrit = async (args, options = {}) => {
    kept ??= fork(script, { execArgv: [] });
    const answer = await runKept(kept, { args, cwd: process.cwd(), stdin: '', env: {}, ...options });
    if ('code' in answer) return answer;
    kept = null;
    throw new Error(`the process of \`writ ${args.join(' ')}\` has ended with ${JSON.stringify(answer)}`);
  };
  return (args, options) => {
    const ran = last.then(() => run(args, options));
    last = ran.catch(() => undefined);
    return ran;
  };
}

async function runKept(child: ChildProcess, asked: object): Promise<Ran | { readonly exit: number | null }> {
  child.ref();
  child.channel?.ref();
  child.send(asked);
  const heard = new AbortController();
  const [answer] = await Promise.race([
    once(child, 'message', heard),
    once(child, 'exit', heard).then(([code]) => [{ exit: code as number | null }] as const),
  ]);
  heard.abort();
  if ('exit' in (answer as object)) return answer as { readonly exit: number | null };
  // A worker that is done does not wait for the kept process.
  child.unref();
  child.channel?.unref();
  return answer as Ran;
}
