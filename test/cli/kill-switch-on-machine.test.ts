// `writ kill-switch --data`: on the machine of the service, without a token, whether or not the service answers. The
// running service follows within a second, and the records name who did it.

import { expect, onTestFinished, test } from 'vitest';
import { addAgent, ask, startService } from '../e2e/acceptance/service.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { writ } from './writ.ts';

const request = { action_key: 'none.such', payload: {} };

test('a running service is stopped and resumed, and the records name the user of the machine', async () => {
  const service = await startService({ policies: 'policies' });
  onTestFinished(() => void service.end('SIGKILL'));
  const { data } = service;
  const key = await addAgent(data, 'buyer');
  const run = (...args: readonly string[]) => writ(['kill-switch', ...args, '--data', data]);
  const typeOf = async () => (await ask(service.url, key, request)).body.type;
  expect(await typeOf()).toBeUndefined();

  const on = await run('on', 'agent:buyer', '--reason', 'pays strangers');
  expect(on).toMatchObject({ code: 0, stderr: '' });
  expect(on.stdout).toBe(
    `stopped: agent:buyer; to resume: npm run -s writ -- kill-switch off agent:buyer --reason "..." --data ${data}\n`,
  );
  await expect.poll(typeOf, { timeout: 1_000, interval: 50 }).toBe('urn:writ:error:stopped');
  expect((await run('list')).stdout).toMatch(/agent:buyer .* on the machine of the service +pays strangers/);
  const [listed] = JSON.parse((await run('list', '--json')).stdout).items;
  expect(listed).toMatchObject({ agent_name: 'buyer', reason: 'pays strangers' });
  const statusOf = async () => (await writ(['agent', 'list', '--data', data])).stdout;
  expect(await statusOf()).toMatch(/^buyer .* stopped /m);
  expect((await writ(['agent', 'show', 'buyer', '--data', data])).stdout).toMatch(/^buyer .* stopped /m);

  expect(await run('on', 'area:payment', '--reason', 'check')).toMatchObject({ code: 0, stderr: '' });
  expect(await run('on', 'area:paymnt', '--reason', 'check')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('stopped: area:paymnt'),
    stderr: 'warning: no action of the active policies is in the area `paymnt`\n',
  });
  for (const area of ['area:payment', 'area:paymnt']) await run('off', area, '--reason', 'checked');

  expect(await run('off', 'agent:buyer', '--reason', 'checked')).toMatchObject({
    code: 0,
    stdout: 'agent:buyer is off\n',
  });
  expect(await statusOf()).toMatch(/^buyer .* active /m);
  await expect.poll(typeOf, { timeout: 1_000, interval: 50 }).toBeUndefined();
  const { stdout } = await writ(['audit', 'export', '--data', data]);
  const changes = stdout.split('\n').filter((line) => line.includes('kill-switch-'));
  expect(changes).toHaveLength(6);
  for (const line of changes) expect(line).toContain('on the machine of the service');
});

test('reports errors, and says where to create a token', async () => {
  const data = temporaryFolder();
  await addAgent(data, 'buyer');
  const on = (...args: readonly string[]) =>
    writ(['kill-switch', 'on', ...args], { env: { WRIT_TOKEN: '' } });
  const wrong = [
    await on('all', '--reason', 'x'),
    await on('all', '--reason', 'x', '--data', data, '--url', 'http://127.0.0.1:1'),
    await on('agent:none', '--reason', 'x', '--data', data),
    await on('everyone', '--reason', 'x', '--data', data),
    await on('all', '--reason', '', '--data', data),
    await on('all', '--reason', 'x', '--data', temporaryFolder()),
    await writ(['kill-switch', 'off', 'all', '--reason', 'x', '--data', data]),
  ];
  expect(wrong.map(({ code, stderr }) => `${code} ${stderr.trim()}`)).toEqual([
    '2 error: a personal token is missing: make one in the dashboard, under Your account, and set WRIT_TOKEN (or use --token); on the machine of the service, --data needs none',
    '2 error: name the store (--data, --store) or the service (--url, --token), not both',
    '1 error: there is no agent `none`',
    expect.stringContaining('2 error: `everyone` is not a scope'),
    expect.stringMatching(/^1 error: the reason /),
    expect.stringContaining('1 error: there is no store at'),
    '1 error: no active kill switch has the scope or id all: none is active',
  ]);
});
