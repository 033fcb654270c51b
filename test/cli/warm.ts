// The command line without its start: a process for a test file, which runs its commands one after the other. What a process
// of its own does is tested with `writ.ts`.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll } from 'vitest';
import type { WarmCommand } from './warm-program.ts';
import type { Ran } from './writ.ts';

export type RunWarm = (
  args: readonly string[],
  options?: { readonly env?: Readonly<Record<string, string>> },
) => Promise<Ran>;

/** Ends with the file. */
export function shareWarmWrit(): RunWarm {
  let child: ChildProcess | null = null;
  let last: Promise<unknown> = Promise.resolve();
  afterAll(() => void child?.kill());
  async function run(command: WarmCommand): Promise<Ran> {
    child ??= fork(new URL('./warm-program.ts', import.meta.url), { execArgv: [] });
    const answered = once(child, 'message');
    child.send(command);
    const [ran] = await answered;
    return ran as Ran;
  }
  return (args, { env = {} } = {}) => {
    const ran = last.then(() => run({ args, env }));
    last = ran.catch(() => undefined);
    return ran;
  };
}
