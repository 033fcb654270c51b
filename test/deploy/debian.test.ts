// The Debian package: the installed files fit together. When `npm run test:debian` runs as root on Debian,
// the package is also installed, serves a decision as its own user, and is removed again.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { layBeside } from '../../src/tools/package/debian-layout.ts';
import { packageManifest } from '../../src/tools/package/manifests.ts';
import { writ } from '../cli/writ.ts';
import { temporaryFolder } from '../store/rows.ts';

test('what is laid out fits together', async () => {
  const place = temporaryFolder();
  const entry = 'opt/writ/node_modules/writ/src/tools/cli/writ.js';
  mkdirSync(join(place, entry, '..'), { recursive: true });
  writeFileSync(join(place, entry), 'x'.repeat(5_000));
  layBeside(place, 'amd64');
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

/** The service's output until `wanted` appears in it or the service ends. */
async function heard(service: ChildProcess, wanted: string): Promise<string> {
  let said = '';
  for await (const chunk of service.stdout ?? []) {
    said += String(chunk);
    if (said.includes(wanted)) return said;
  }
  throw new Error(`the service ended: ${said}`);
}

test.runIf(process.env.WRIT_DEBIAN === '1')(
  'is installed, serves as its own user, and is taken away again',
  { timeout: 600_000 },
  async () => {
    const folder = temporaryFolder();
    const run = (command: string, ...args: readonly string[]) =>
      execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
    run(process.execPath, 'src/tools/package/build.ts', folder);
    const made = run(process.execPath, 'src/tools/package/debian.ts', folder).trim();
    run('dpkg', '--install', made);
    onTestFinished(() => {
      run('dpkg', '--purge', 'writ');
      run('deluser', '--system', '--quiet', 'writ');
      for (const path of ['/var/lib/writ', '/etc/writ']) rmSync(path, { recursive: true, force: true });
    });
    expect(statSync('/var/lib/writ').mode & 0o777).toBe(0o700);

    const asUser = ['--reuid', 'writ', '--regid', 'writ', '--clear-groups', '--no-new-privs'];
    const settings = ['--policies', '/etc/writ/policies', '--data', '/var/lib/writ', '--port', '0'];
    const environment = ['env', '-i', `PATH=${join(process.execPath, '..')}:/usr/bin:/bin`];
    const command = [...asUser, ...environment, '/usr/bin/writ'];
    const service = spawn('setpriv', [...command, 'serve', ...settings], { cwd: '/' });
    onTestFinished(() => void service.kill());
    const said = await heard(service, 'curl');
    const [url = '', key = ''] = [/http:\/\/127\.0\.0\.1:\d+/, /writ_[\w-]{20,}/].map(
      (form) => form.exec(said)?.[0],
    );
    const reply = await fetch(`${url}/v1/authorize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
      body: JSON.stringify({
        action_key: 'refund.create',
        payload: { order: 'A-1', amount: 20, currency: 'EUR' },
      }),
    });
    expect([reply.status, await reply.json()]).toEqual([
      200,
      expect.objectContaining({ matched_policy: 'refunds' }),
    ]);
    const looked = run('setpriv', ...command, 'doctor', ...settings);
    expect(looked).toMatch(/^ok +store .*served by a process now/m);
    const stopped = new Promise((done) => service.once('exit', done));
    service.kill();
    expect(await stopped).toBe(0);
  },
);
