// `npm run debian [-- FOLDER]`: turns the two npm packages in FOLDER (default `build`) into a package for
// Debian and Ubuntu in the same folder. It holds the service under /opt/writ with everything it needs except
// Node, its unit, a user of its own, and a first policy.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { ofPostgres, packageManifest, serviceManifest, versionsOf } from './manifests.ts';

/**
 * Lays out the parts of the Debian package beside the service: its unit, settings, a first policy, the
 * command, and the scripts that dpkg runs.
 */
const root = resolve(import.meta.dirname, '../../..');
const scripts = join(root, 'integrations/deploy/debian');

/** Lays out the whole package in `place`, except for /opt/writ, which must be there already. */
export function layBeside(place: string, architecture: string): void {
  const put = (from: string, to: string, mode: number) => {
    mkdirSync(join(place, to, '..'), { recursive: true });
    cpSync(from, join(place, to), { recursive: true });
    if (mode !== 0) chmodSync(join(place, to), mode);
  };
  put(join(root, 'integrations/deploy/systemd/writ.service'), 'lib/systemd/system/writ.service', 0o644);
  put(join(scripts, 'environment'), 'etc/writ/environment', 0o640);
  put(join(root, 'src/cli/init/support.policy'), 'etc/writ/policies/support.policy', 0o644);
  put(join(scripts, 'writ'), 'usr/bin/writ', 0o755);
  put(join(root, 'LICENSE'), 'usr/share/doc/writ/copyright', 0o644);
  for (const name of ['postinst', 'prerm', 'postrm']) put(join(scripts, name), `DEBIAN/${name}`, 0o755);
  writeFileSync(join(place, 'DEBIAN/control'), controlOf(place, architecture));
  writeFileSync(
    join(place, 'DEBIAN/conffiles'),
    '/etc/writ/environment\n/etc/writ/policies/support.policy\n',
  );
}

function controlOf(place: string, architecture: string): string {
  const bytes = globSync('**', { cwd: place, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  return readFileSync(join(scripts, 'control'), 'utf8')
    .replace('VERSION', packageManifest.version)
    .replace('ARCHITECTURE', architecture)
    .replace('NODE', packageManifest.engines.node!.replace('>=', ''))
    .replace('KIBIBYTES', String(Math.ceil(bytes / 1024)));
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const command = new Command('npm run debian --')
  .description('make a package for Debian and Ubuntu of what `npm run package` has made')
  .argument('[folder]', 'where the npm packages are, and where it is put', 'build')
  .parse();
const folder = resolve(command.processedArgs[0]);
const architecture = architectures[process.arch];
if (architecture === undefined) throw new Error(`no package is made on ${process.arch}`);

const tarballs = [packageManifest, serviceManifest].map(({ name, version }) =>
  join(folder, `${name}-${version}.tgz`),
);
const missing = tarballs.find((tarball) => !existsSync(tarball));
if (missing !== undefined)
  command.error(`error: there is no ${missing}: \`npm run package -- ${folder}\` makes it`);

const making = mkdtempSync(join(tmpdir(), 'writ-debian-'));
try {
  const place = join(making, 'writ');
  installInto(join(place, 'opt/writ'));
  layBeside(place, architecture);
  const made = join(folder, `writ_${packageManifest.version}_${architecture}.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', place, made], { stdio: 'pipe' });
  console.log(made);
} finally {
  rmSync(making, { recursive: true, force: true });
}

function installInto(place: string): void {
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  const flags = [
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--omit=dev',
  ];
  const stores = Object.entries(versionsOf(ofPostgres)).map(([name, version]) => `${name}@${version}`);
  execFileSync('npm', ['install', ...flags, ...tarballs, ...stores], { cwd: place, stdio: 'pipe' });
  // npm notes in this file where the tarballs lay.
  rmSync(join(place, 'node_modules/.package-lock.json'));
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  // Removes binaries for other platforms.
  const wanted = `${process.platform}-${process.arch}.node`;
  for (const path of globSync('node_modules/better-sqlite3/prebuilds/*.node', { cwd: place }))
    if (!path.endsWith(`/${wanted}`)) rmSync(join(place, path));
}
