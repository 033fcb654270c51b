// The real command in a process of its own.

import { spawn } from 'node:child_process';
import { join } from 'node:path';

const entry = join(import.meta.dirname, '../../src/tools/cli/writ.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly cwd?: string;
  readonly node?: string;
  readonly entry?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `writ ARGS` to its end. */
export function writ(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
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
