// The playground's thread for tests: a line `# fault: KIND` in a file that is laid over the set makes it fail.

import { parentPort, threadId } from 'node:worker_threads';
import type { PlaygroundAsk } from '../../src/service/playground/questions.ts';
import { servePlayground } from '../../src/service/playground/worker.ts';

if (parentPort === null) throw new Error('for use as a worker thread');

servePlayground(parentPort, ({ question, asked }) => {
  if (question !== 'try' && question !== 'compare') return;
  const { files } = asked as PlaygroundAsk['compare'];
  const [, kind = null] = /^# fault: (\S+)$/m.exec(files.map(({ text }) => text).join('\n')) ?? [];
  switch (kind) {
    case null:
      return;
    case 'hang':
      for (;;);
    case 'slow': {
      const until = performance.now() + 1_500;
      while (performance.now() < until);
      return;
    }
    case 'memory':
      for (const kept: object[] = []; ; ) kept.push(Array.from({ length: 10_000 }, () => ({})));
    case 'exit':
      process.exit(3);
      break;
    case 'throw':
      throw new Error(`a mistake of thread ${threadId} in ${import.meta.filename}`);
    default:
      throw new Error(`unknown fault ${kind}`);
  }
});
