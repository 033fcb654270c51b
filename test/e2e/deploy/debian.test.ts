// The Debian package: the installed files fit together.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeDebianLayout } from '../../../src/packaging/package/debian-layout.ts';
import { packageManifest } from '../../../src/packaging/package/manifests.ts';
import { writ } from '../../cli/writ.ts';
import { temporaryFolder } from '../../service/store/rows.ts';

test('what is laid out fits together', async () => {
  const place = temporaryFolder();
  const entry = 'opt/writ/node_modules/writ/src/cli/writ.js';
  mkdirSync(join(place, entry, '..'), { recursive: true });
  writeFileSync(join(place, entry), 'x'.repeat(5_000));
  writeDebianLayout(place, 'amd64');
  const textOf = (path: string) => readFileSync(join(place, path), 'utf8');

  const unit = textOf('lib/systemd/system/writ.service');
  for (const path of [entry, 'etc/writ/policies', 'etc/writ/environment']) {
    expect(unit).toContain(`/${path}`);
    expect(() => statSync(join(place, path))).not.toThrow();
  }
  expect(textOf('usr/bin/writ')).toContain(`/${entry}`);
  const user = /^User=(.+)$/m.exec(unit)?.[1] ?? '';
  expect(textOf('DEBIAN/postinst')).toMatch(new RegExp(`adduser --system .* ${user}$`, 'm'));
  expect(textOf('DEBIAN/postinst')).toContain(`-m 0700 /var/lib/${/^StateDirectory=(.+)$/m.exec(unit)?.[1]}`);

  for (const name of ['postinst', 'prerm', 'postrm']) {
    execFileSync('sh', ['-n', join(place, 'DEBIAN', name)]);
    expect(statSync(join(place, 'DEBIAN', name)).mode & 0o777).toBe(0o755);
  }
  for (const path of textOf('DEBIAN/conffiles').trimEnd().split('\n'))
    expect(() => statSync(join(place, path))).not.toThrow();
  expect(statSync(join(place, 'etc/writ/environment')).mode & 0o007).toBe(0);

  const control = textOf('DEBIAN/control');
  expect(control).toContain(`\nVersion: ${packageManifest.version}\n`);
  expect(control).toContain('\nArchitecture: amd64\n');
  expect(Number(/^Installed-Size: (\d+)$/m.exec(control)?.[1])).toBeGreaterThan(4);
  expect(control).not.toMatch(/VERSION|ARCHITECTURE|KIBIBYTES|NODE/);

  expect((await writ(['check', '--strict', join(place, 'etc/writ/policies')])).code).toBe(0);
});
