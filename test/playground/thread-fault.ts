// How a thread for tests fails: by a line `# fault: KIND` in a file that is laid over the set.

import { threadId } from 'node:worker_threads';

interface FailingThread {
  /** Named by its errors. */
  readonly file: string;
  readonly slowMs: number;
}

/** Does what the line says; nothing where there is none. */
export function failAsAsked(
  files: readonly { readonly text: string }[],
  { file, slowMs }: FailingThread,
): void {
  const [, kind = null] = /^# fault: (\S+)$/m.exec(files.map(({ text }) => text).join('\n')) ?? [];
  switch (kind) {
    case null:
      return;
    case 'hang':
      for (;;);
    case 'slow': {
      const until = performance.now() + slowMs;
      while (performance.now() < until);
      return;
    }
    case 'memory':
      for (const kept: object[] = []; ; ) kept.push(Array.from({ length: 10_000 }, () => ({})));
    case 'exit':
      process.exit(3);
      break;
    case 'throw':
      throw new Error(`a mistake of thread ${threadId} in ${file}`);
    default:
      throw new Error(`unknown fault ${kind}`);
  }
}
