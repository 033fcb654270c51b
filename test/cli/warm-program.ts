// The command line as a process that runs one command after the other, for `warm.ts`: each message is a command, each answer
// what it printed and its exit code.

import { main } from '../../src/tools/cli/main.ts';
import type { Ran } from './writ.ts';

export interface WarmCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const own = { ...process.env };
// Each command listens for a reader that leaves.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);

process.on('message', async ({ args, env }: WarmCommand) => {
  for (const name of Object.keys(process.env)) if (!(name in own)) delete process.env[name];
  Object.assign(process.env, own, env);
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (text: string | Uint8Array): boolean => {
      printed[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      return true;
    };
  }
  const code = await main([...args]);
  process.send?.({ ...printed, code } satisfies Ran);
});
