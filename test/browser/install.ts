// Before the tests: makes sure that there is a browser for them. Where there is none it installs Debian's as far as it may,
// else it fails with the command to run. INVARIANT: browser tests are never left out.

import { spawnSync } from 'node:child_process';
import { findChromium } from './chromium.ts';

const packages = ['chromium-headless-shell', 'fonts-dejavu-core'];
const command = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;

if (findChromium() === null) {
  if (process.env.CHROMIUM_PATH) fail(`CHROMIUM_PATH names no program: ${process.env.CHROMIUM_PATH}`);
  const isRoot = process.getuid?.() === 0;
  const hasApt = spawnSync('apt-get', ['--version']).status === 0;
  if (!isRoot || !hasApt)
    fail(`the tests need Chromium; install it, for instance with\n  sudo sh -c '${command}'`);
  console.log('installing Chromium for the browser tests');
  const { status, stderr } = spawnSync('sh', ['-c', command], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status !== 0) fail(`could not be installed (${command}):\n${stderr}`);
  if (findChromium() === null) fail('Chromium was installed but is not on the path; set CHROMIUM_PATH');
}

function fail(text: string): never {
  console.error(`chromium: ${text}`);
  process.exit(1);
}
