// `npm run debian [-- FOLDER]`: turns the two npm packages in FOLDER (default `build`) into a package for
// Debian and Ubuntu in the same folder. It holds the service under /opt/writ with everything it needs except
// Node, its unit, a user of its own, and a first policy.

import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { writeDebianLayout } from './debian-layout.ts';
import { packageManifest, postgresPackages, serviceManifest, versionsOf } from './manifests.ts';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const command = new Command('npm run debian --')
  .description('build a Debian and Ubuntu package from the output of `npm run package`')
  .argument('[folder]', 'the folder of the npm packages, and the output folder', 'build')
  .parse();
const folder = resolve(command.processedArgs[0]);
const architecture = architectures[process.arch];
if (architecture === undefined) throw new Error(`packages for ${process.arch} are not supported`);

const tarballs = [packageManifest, serviceManifest].map(({ name, version }) =>
  join(folder, `${name}-${version}.tgz`),
);
const missing = tarballs.find((tarball) => !existsSync(tarball));
if (missing !== undefined)
  command.error(`error: there is no ${missing}: run \`npm run package -- ${folder}\` first`);

const making = mkdtempSync(join(tmpdir(), 'writ-debian-'));
try {
  const place = join(making, 'writ');
  installInto(join(place, 'opt/writ'));
  writeDebianLayout(place, architecture);
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
  const stores = Object.entries(versionsOf(postgresPackages)).map(([name, version]) => `${name}@${version}`);
  execFileSync('npm', ['install', ...flags, ...tarballs, ...stores], { cwd: place, stdio: 'pipe' });
  // npm notes in this file where the tarballs lay.
  rmSync(join(place, 'node_modules/.package-lock.json'));
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  // Removes binaries for other platforms.
  const nativeSuffix = `${process.platform}-${process.arch}.node`;
  for (const path of globSync('node_modules/better-sqlite3/prebuilds/*.node', { cwd: place }))
    if (!path.endsWith(`/${nativeSuffix}`)) rmSync(join(place, path));
}
