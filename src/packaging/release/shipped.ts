// Finds the packages of other authors in what is published: packages that npm installs beside Writ's own, and
// those whose code is in the dashboard. The lock file is the source, so versions and hashes are those that
// the tests ran with.

import { readFileSync } from 'node:fs';
import { packageManifest, postgresPackages, serviceManifest } from '../package/manifests.ts';

type Owner = 'writ' | 'writ-service' | 'a store in PostgreSQL' | 'the dashboard';

export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** The licence as the author wrote it, usually an SPDX expression; null when the lock file has none. */
  readonly license: string | null;
  /** The hash: `sha512-` and base64. */
  readonly integrity: string;
  /** The published parts that hold the package. */
  readonly by: readonly Owner[];
}

interface LockEntry {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The locked packages by path, such as `node_modules/a/node_modules/b`; the checkout's own path is ''. */
type Lock = Readonly<Record<string, LockEntry>>;

/** Packages that are bundled into the pages, by name; other facts about them come from the lock file. */
export const dashboardPackages = [
  '@codemirror/autocomplete',
  '@codemirror/commands',
  '@codemirror/language',
  '@codemirror/lint',
  '@codemirror/state',
  '@codemirror/view',
  '@lezer/highlight',
  '@simplewebauthn/browser',
  'diff',
  'lucide',
  'minisearch',
  'preact',
  'uplot',
  'uqr',
] as const;

/**
 * The locked packages of the checkout, and Lucide from those of the tests: the dashboard has copies of its icons, which the
 * tests compare with the package.
 */
export function readLock(): Lock {
  const path = 'node_modules/lucide';
  return { ...lockIn('package-lock.json'), [path]: lockIn('test/package-lock.json')[path]! };
}

function lockIn(file: string): Lock {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly packages: Lock }).packages;
}

/** Sorted by name and version. A package that npm puts into several places appears once. */
export function shippedPackages(lock: Lock): readonly ShippedPackage[] {
  const roots = {
    writ: Object.keys(packageManifest.dependencies),
    'writ-service': Object.keys(serviceManifest.dependencies).filter((name) => name !== packageManifest.name),
    'a store in PostgreSQL': postgresPackages,
    'the dashboard': dashboardPackages,
  } as const satisfies Record<Owner, readonly string[]>;
  const packages = new Map<string, ShippedPackage>();
  for (const [owner, names] of Object.entries(roots) as [Owner, readonly string[]][]) {
    for (const path of closure(lock, names)) {
      const one = packageAt(lock, path);
      const key = `${one.name} ${one.version}`;
      const by = packages.get(key)?.by ?? [];
      packages.set(key, { ...one, by: by.includes(owner) ? by : [...by, owner] });
    }
  }
  return [...packages].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, shipped]) => shipped);
}

function packageAt(lock: Lock, path: string): Omit<ShippedPackage, 'by'> {
  const { version, license, integrity } = lock[path]!;
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  if (integrity === undefined) throw new Error(`the lock file has no hash of ${name}`);
  return { name, version, license: license ?? null, integrity };
}

/** The paths of packages and of everything that they depend on. */
function closure(lock: Lock, names: readonly string[]): ReadonlySet<string> {
  const licenceNames = new Set<string>();
  const waiting = names.map((name) => installedPathOf(lock, '', name));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (path === null || licenceNames.has(path)) continue;
    licenceNames.add(path);
    const from = path;
    waiting.push(...neededBy(lock[path]!).map((name) => installedPathOf(lock, from, name)));
  }
  return licenceNames;
}

function neededBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: LockEntry) {
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** The path where Node would find a package; null for an optional package that is not locked. */
function installedPathOf(lock: Lock, from: string, name: string): string | null {
  const path = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
  if (lock[path] !== undefined) return path;
  if (from === '') return null;
  const at = from.lastIndexOf('/node_modules/');
  return installedPathOf(lock, at < 0 ? '' : from.slice(0, at), name);
}
