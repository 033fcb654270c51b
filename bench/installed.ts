// Builds the package and installs its tarball into an empty folder, as a user would have it.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageManifest } from '../src/packaging/package/manifests.ts';

/** Returns the path of the file that the command `writ` runs. */
export function installPackage(folder: string): string {
  const build = join(import.meta.dirname, '../src/packaging/package/build.ts');
  execFileSync(process.execPath, [build, folder], { stdio: 'ignore' });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock'];
  execFileSync('npm', ['install', ...flags, `writ-${packageManifest.version}.tgz`], {
    cwd: folder,
    stdio: 'ignore',
  });
  return join(folder, 'node_modules/writ/src/cli/writ.js');
}
