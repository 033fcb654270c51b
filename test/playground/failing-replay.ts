// The thread of a replay for tests: a line `# fault: KIND` in a file that is laid over the set makes it fail.

import { parentPort } from 'node:worker_threads';
import { serveReplay } from '../../src/service/replay/replay-worker.ts';

if (parentPort === null) throw new Error('for use as a worker thread');

serveReplay(parentPort, ({ files }) => {
  const [, kind = null] = /^# fault: (\S+)$/m.exec(files.map(({ text }) => text).join('\n')) ?? [];
  switch (kind) {
    case null:
      return;
    case 'hang':
      for (;;);
    case 'slow': {
      const until = performance.now() + 1_000;
      while (performance.now() < until);
      return;
    }
    case 'throw':
      throw new Error(`a mistake in ${import.meta.filename}`);
    default:
      throw new Error(`unknown fault ${kind}`);
  }
});
