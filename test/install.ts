// `node test/install.ts`: installs the packages that only tests, benchmarks and examples need, where the lock files say
// something else than is installed. `npm ci` leaves them out, because they are four fifths of all packages.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

for (const folder of ['examples/frameworks', 'test']) installPackages(folder);
shareFrameworks();

function installPackages(folder: string): void {
  const place = join(root, folder);
  const lock = readFileSync(join(place, 'package-lock.json'), 'utf8');
  const installed = join(place, 'node_modules/.installed-lock.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  console.log(`installing the packages of ${folder}/`);
  const { status, error } = spawnSync('npm', ['ci', '--prefix', place, '--ignore-scripts', '--no-audit'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) {
    console.error(`npm ci --prefix ${folder} failed${error === undefined ? '' : `: ${error.message}`}`);
    process.exit(1);
  }
  writeFileSync(installed, lock);
}

/** The tests of the adapters run on the same frameworks as the examples. */
function shareFrameworks(): void {
  const link = join(root, 'test/integrations/adapters/node_modules');
  rmSync(link, { force: true });
  symlinkSync(join(root, 'examples/frameworks/node_modules'), link, 'junction');
}
