// Runs a measurement that needs no peers (other policy engines) in a process of its own.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Sections } from './section.ts';

export interface AloneOptions {
  /** Milliseconds after which the process is killed. */
  readonly limitMs?: number;
  /** The benchmarks of another revision: the address of any file in its bench folder. */
  readonly bench?: string;
}

type Answered<S extends keyof Sections> =
  | { readonly answer: Sections[S]['answer'] }
  | { readonly failed: string };

/** Returns what the measurement found. Rejects with the reason when the process fails or takes too long. */
export async function alone<S extends keyof Sections>(
  section: S,
  ask: Sections[S]['ask'],
  { limitMs = 15 * 60_000, bench = import.meta.url }: AloneOptions = {},
): Promise<Sections[S]['answer']> {
  const child = fork(new URL('section.ts', bench), [section, JSON.stringify(ask)], {
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    child.kill('SIGKILL');
  }, limitMs);
  const answered = once(child, 'message').then(([message]) => message as Answered<S>);
  const ended = once(child, 'close').then((): Answered<S> => {
    const why = /^\w*Error: .*/m.exec(said)?.[0] ?? 'it ended without a result';
    return { failed: isOver ? `it took longer than ${limitMs / 1_000} s` : why };
  });
  const answer = await Promise.race([answered, ended]);
  clearTimeout(timer);
  child.kill();
  if ('failed' in answer) throw new Error(`${section}: ${answer.failed}`);
  return answer.answer;
}
