// Commands where only some packages are installed: those for policies alone, or those of a service without the
// driver of PostgreSQL.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { postgresPackages, serviceManifest } from '../../src/packaging/package/manifests.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { withoutPackages } from './missing-packages.ts';
import { writProcess } from './writ.ts';

const { writ: _ours, ...ofService } = serviceManifest.dependencies as Readonly<Record<string, string>>;
const forPolicies = withoutPackages([...Object.keys(ofService), ...postgresPackages]);
const forService = withoutPackages(postgresPackages);

describe.each([
  ['the packages for policies', forPolicies],
  ['the packages of a service', forService],
])('with %s', (_name, env) => {
  test('the completion of a shell has all commands', async () => {
    const { code, stderr, stdout } = await writProcess(['completion', 'bash'], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('setup-link');
  });

  test.each(['serve', 'people', 'store', 'restore', 'agent', 'doctor'])(
    '`writ %s --help` is shown',
    async (name) => {
      const { code, stderr } = await writProcess([name, '--help'], { env });
      expect([code, stderr]).toEqual([0, '']);
    },
  );
});

test('a command without its package names the package', async () => {
  const agent = ['agent', 'add', 'buyer', '--tier', 'low', '--owner', 'ann@example.com'];
  expect(await writProcess([...agent, '--data', temporaryFolder()], { env: forPolicies })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error: this command needs the package \S+: npm install --ignore-scripts /,
    ),
  });
});

test('a backup is restored without the driver of PostgreSQL', async () => {
  const data = temporaryFolder();
  const agent = ['agent', 'add', 'buyer', '--tier', 'low', '--owner', 'ann@example.com', '--data', data];
  expect(await writProcess(agent, { env: forService })).toMatchObject({ code: 0 });
  const backup = join(temporaryFolder(), 'backup.db');
  expect(await writProcess(['backup', backup, '--data', data], { env: forService })).toMatchObject({
    code: 0,
  });
  const restored = await writProcess(['restore', backup, '--data', data], { env: forService });
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  expect(restored.stdout).toContain('is restored from');
});
