// `npm run wheel [-- FOLDER]`: builds the package for Python as a wheel in FOLDER (default `build`), without a network,
// by the Python that PYTHON names, or the `python3` of the path or of the system.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';

const root = resolve(import.meta.dirname, '../../..');
const candidates = process.env.PYTHON ? [process.env.PYTHON] : ['python3', '/usr/bin/python3'];

const command = new Command('npm run wheel --')
  .description(
    'build the Python package as a wheel; needs Python 3.9 or later with pip, setuptools and wheel',
  )
  .argument('[folder]', 'the output folder', 'build')
  .parse();
const folder = resolve(command.processedArgs[0]);

// setuptools first: pip would load the distutils that setuptools replaces.
const python = candidates.find(
  (program) => spawnSync(program, ['-c', 'import setuptools, wheel, pip']).status === 0,
);
if (python === undefined)
  command.error(
    `error: ${candidates.join(' and ')} have no pip, setuptools and wheel: apt-get install python3-pip python3-setuptools python3-wheel, or name another Python in PYTHON`,
  );

const making = mkdtempSync(join(tmpdir(), 'writ-wheel-'));
try {
  const sources = join(making, 'sources');
  cpSync(join(root, 'integrations/python'), sources, {
    recursive: true,
    filter: (path) => !/\/(?:build|__pycache__|[^/]+\.egg-info|\.mypy_cache)$/.test(path),
  });
  cpSync(join(root, 'LICENSE'), join(sources, 'LICENSE'));
  mkdirSync(folder, { recursive: true });
  const made = join(making, 'made');
  pip('wheel', '--no-build-isolation', '--no-deps', '--no-index', '--wheel-dir', made, sources);
  for (const name of readdirSync(made)) {
    cpSync(join(made, name), join(folder, name));
    console.log(join(folder, name));
  }
} finally {
  rmSync(making, { recursive: true, force: true });
}

/** Runs pip without the settings of this machine. Times in the archive are those of the oldest that it can hold. */
function pip(...args: readonly string[]): void {
  const env = { ...process.env, SOURCE_DATE_EPOCH: '315532800', PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stdout, stderr } = spawnSync(
    python!,
    ['-m', 'pip', '--isolated', '--disable-pip-version-check', '--no-cache-dir', ...args],
    { env, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`pip could not build the wheel:\n${stdout}${stderr}`);
}
