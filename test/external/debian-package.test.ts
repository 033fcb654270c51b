// The Debian package on this machine, by `npm run test:debian` alone, because it installs the package and removes it
// again: it serves a decision as its own user.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../service/store/rows.ts';
import { requireProgram } from './programs.ts';

/** The service's output until `wanted` appears in it or the service ends. */
async function heard(service: ChildProcess, wanted: string): Promise<string> {
  let said = '';
  for await (const chunk of service.stdout ?? []) {
    said += String(chunk);
    if (said.includes(wanted)) return said;
  }
  throw new Error(`the service ended: ${said}`);
}

test('is installed, serves as its own user, and is removed again', { timeout: 600_000 }, async () => {
  requireProgram(
    ['sh', '-c', 'dpkg --version && setpriv --version && test "$(id -u)" = 0'],
    'dpkg util-linux, as root',
  );
  const folder = temporaryFolder();
  const run = (command: string, ...args: readonly string[]) =>
    execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  run(process.execPath, 'src/packaging/package/build.ts', folder);
  const made = run(process.execPath, 'src/packaging/package/debian.ts', folder).trim();
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
});
