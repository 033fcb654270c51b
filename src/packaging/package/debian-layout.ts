// Lays out the parts of the Debian package beside the service: its unit, settings, a first policy, the
// command, and the scripts that dpkg runs.

import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageManifest } from './manifests.ts';

const root = resolve(import.meta.dirname, '../../..');
const scripts = join(root, 'integrations/deploy/debian');

/** Lays out the whole package in `place`, except for /opt/writ, which must be there already. */
export function writeDebianLayout(place: string, architecture: string): void {
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
