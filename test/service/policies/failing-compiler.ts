// The compiler's thread for tests: a line `# fault: KIND` in a policy file makes it fail while it compiles
// that state. `# fault: KIND while PATH` makes it fail as long as a file exists at the path.

import { existsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { CompilerData } from '../../../src/service/policies/compiler-messages.ts';
import { serveCompiler } from '../../../src/service/policies/compiler-worker.ts';
import type { ReadSources } from '../../../src/service/policies/read-policies.ts';
import { createSetCompiler } from '../../../src/service/policies/set-compiler.ts';
import { fail } from '../../analysis/playground/thread-fault.ts';

if (parentPort === null) throw new Error('for use as a worker thread');
const port = parentPort;

serveCompiler(port, workerData as CompilerData, () => {
  const compile = createSetCompiler();
  return (read) => {
    failAs(faultOf(read));
    return compile(read);
  };
});

function faultOf({ sources }: ReadSources): string | null {
  const text = sources.files.map((file) => file.text).join('\n');
  const [, kind = null, path = null] = /^# fault: (\S+)(?: while (.+))?$/m.exec(text) ?? [];
  return path === null || existsSync(path) ? kind : null;
}

function failAs(kind: string | null): void {
  switch (kind) {
    case null:
      return;
    case 'crash':
      process.nextTick(() => {
        throw new Error('nobody catches this');
      });
      return;
    case 'unlinkable':
      port.postMessage({ kind: 'compiled', set: { program: null, content: { hash: '', listFiles: [] } } });
      return;
    default:
      fail(kind, { message: 'a mistake of ours', slowMs: 400 });
  }
}
