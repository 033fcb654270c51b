// A program that is killed without warning at a chosen point, for tests: `program.ts URL KEY FILE POINT`. Its
// tool writes a line to a file, so that its executions can be counted.

import { appendFileSync } from 'node:fs';
import { createGuard } from '../../../integrations/typescript/adapters/guard.ts';
import { connect } from '../../../integrations/typescript/client.ts';

const [url = '', key = '', file = '', point = 'never'] = process.argv.slice(2);

function dieAt(here: string): void {
  if (point === here) process.kill(process.pid, 'SIGKILL');
}

const guard = createGuard({ writ: connect({ url, key, wait: 0 }), as: 'demo' });
const done = await guard.execute({ tool: 'pay', input: { amount: 1_000 } }, () => {
  dieAt('before the effect');
  appendFileSync(file, 'paid\n');
  dieAt('after the effect');
});
process.stdout.write(done.kind === 'ran' ? 'ran' : done.decision.kind);
