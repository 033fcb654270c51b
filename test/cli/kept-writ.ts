// A process that runs one command line after the other, each with a directory and a standard input of its
// own, and sends back the output.

import { Readable } from 'node:stream';
import { main } from '../../src/cli/main.ts';

interface Asked {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

const usualEnv = { ...process.env };

// Each command adds listeners, which would normally end with its process.
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

process.on('message', (asked: Asked) => {
  void run(asked).then((ran) => process.send!(ran));
});

async function run({ args, cwd, stdin, env }: Asked): Promise<object> {
  const written = { stdout: '', stderr: '' };
  process.chdir(cwd);
  process.env = { ...usualEnv, ...env };
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(stdin)]), configurable: true });
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = ((chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
      written[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
      if (done !== undefined) queueMicrotask(done);
      return true;
    }) as typeof process.stdout.write;
  }
  const code = await main(args);
  return { code: process.exitCode ?? code, ...written };
}
