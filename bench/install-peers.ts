// Installs the packages that the benchmarks measure beside Writ; the project itself does not need them.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Installs the peers of the benchmarks, unless they are there. */
export function installPeers(log: (line: string) => void): void {
  const folder = new URL('./', import.meta.url).pathname;
  const isInstalled = Object.keys(peerPackages()).every((name) =>
    existsSync(`${folder}node_modules/${name}`),
  );
  if (isInstalled) return;
  log('installing peers');
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
}

/** Returns the versions of the peers' packages by name. */
export function peerPackages(): Readonly<Record<string, string>> {
  const text = readFileSync(new URL('package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> }).dependencies;
}
