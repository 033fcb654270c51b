// Programs that npm does not bring. The tests of this folder need them, so `npm run test:external` runs them and
// `npm test` does not. INVARIANT: a missing program fails the test that needs it, and the failure says how to install it.

import { spawnSync } from 'node:child_process';

/** Throws unless the command ends with code 0. `packages` are those of Debian that bring the program. */
export function requireProgram([program = '', ...args]: readonly string[], packages: string): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(
    `\`${[program, ...args].join(' ')}\` fails here: apt-get install --no-install-recommends ${packages}\n${stderr ?? ''}`,
  );
}
