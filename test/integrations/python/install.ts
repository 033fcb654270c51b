// Runs before the tests and makes sure that there is a Python with what they need. Root on Debian gets the missing
// packages by apt-get. INVARIANT: tests of Python are never skipped; elsewhere this fails, and says what to run.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isReady, packages, python } from './python.ts';

const install = ['apt-get', 'install', '--yes', '--no-install-recommends', ...packages] as const;

if (!isReady()) {
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') && !process.env.TEST_PYTHON;
  if (mayInstall) {
    run('update');
    run(...install.slice(1));
  }
  if (!isReady()) {
    console.error(
      `python: ${python} is not Python 3.9 or later with all that the tests need. Run \`${install.join(' ')}\` as root, or name another Python in TEST_PYTHON.`,
    );
    process.exit(1);
  }
}

/** By its whole path, and with the programs that it starts, because the tests may run with a short `PATH`. */
function run(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  spawnSync('/usr/bin/apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}
