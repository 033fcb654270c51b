// Makes a thread fail in tests: a line `# fault: KIND` in a file laid over the set names the failure.

import { threadId } from 'node:worker_threads';

interface FailingThread {
  /** The file that its errors name. */
  readonly file: string;
  readonly slowMs: number;
}

/** Fails as the line says; does nothing without such a line. */
export function failAsAsked(
  files: readonly { readonly text: string }[],
  { file, slowMs }: FailingThread,
): void {
  const [, kind = null] = /^# fault: (\S+)$/m.exec(files.map(({ text }) => text).join('\n')) ?? [];
  if (kind !== null) fail(kind, { message: `a mistake of thread ${threadId} in ${file}`, slowMs });
}

interface Failing {
  /** What the error says that is thrown. */
  readonly message: string;
  readonly slowMs: number;
}

/** Fails in one of the ways in which any thread may fail. */
export function fail(kind: string, { message, slowMs }: Failing): void {
  switch (kind) {
    case 'hang':
      for (;;) sleep(10);
    case 'slow':
      sleep(slowMs);
      return;
    case 'memory':
      for (const kept: object[] = []; ; ) kept.push(Array.from({ length: 10_000 }, () => ({})));
    case 'exit':
      process.exit(3);
      break;
    case 'throw':
      throw new Error(message);
    default:
      throw new Error(`unknown fault ${kind}`);
  }
}

/** Stops the thread for a time, without taking the processor from other tests. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
