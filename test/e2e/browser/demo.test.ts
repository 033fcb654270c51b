// The demo as a newcomer meets it: the real command, its account, agents at work, and nothing left behind.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writProcess } from '../../cli/writ.ts';
import { startServing } from '../acceptance/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const open = shareBrowser();
/** Nobody is signed in when the page first loads. */
const looked = /401/;

test('a newcomer signs in with the shown account, approves, and sees agents at work', async () => {
  const room = temporaryFolder();
  const demo = await startServing(['--demo'], { env: { TMPDIR: room } });
  onTestFinished(async () => void (await demo.end('SIGKILL')));
  const { url } = demo;
  const { page } = await open({ url }, { expected: looked });
  await page.goto(url);
  await page.getByRole('note').getByText('Demo:').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  // The form is filled in, and the focus is in it.
  await page.getByLabel('E-mail address').and(page.locator(':focus')).press('Enter');

  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByRole('region', { name: 'Demo' }).getByText('nothing here is real').waitFor();
  for (const [width, height] of [[sizes.phone.width, sizes.phone.height] as const, [1440, 900] as const]) {
    await page.setViewportSize({ width, height });
    expect(await accessibilityFaults(page)).toEqual([]);
  }

  const count = async (): Promise<number> => {
    const exported = await page.evaluate(`fetch('/v1/requests?limit=200').then((reply) => reply.json())`);
    return Number(new Date((exported as { items: { created_at: string }[] }).items[0]?.created_at ?? 0));
  };
  const before = await count();
  await expect.poll(count).toBeGreaterThan(before);

  const { items } = (await page.evaluate(`fetch('/v1/approvals').then((reply) => reply.json())`)) as {
    items: { request_id: string; reason: string }[];
  };
  const waiting = items.find(({ reason }) => reason.includes('Harbour Print'));
  await page.goto(`${url}/approvals/${waiting?.request_id}`);
  await page.getByRole('heading', { level: 1, name: /Harbour Print/ }).waitFor();
  await page.goto(`${page.url()}#approve`);
  await page.getByLabel('Why you approve').fill('as ordered');
  await page.getByRole('button', { name: 'Approve for finance' }).click();
  await page.getByText('Decided: approved').waitFor();

  const folder = /policies {2}(\S+)/.exec(demo.output())?.[1] ?? '';
  expect(folder.startsWith(room) && existsSync(folder)).toBe(true);
  await demo.end('SIGTERM');
  expect(
    demo
      .output()
      .split('\n')
      .filter((line) => /"level":[56]0/.test(line)),
  ).toEqual([]);
  expect(readdirSync(room).filter((name) => name.startsWith('writ-demo'))).toEqual([]);
});

test.each([
  [['--data', 'var']],
  [['--policies', 'policies']],
  [['--store', 'postgres://writ@localhost/writ']],
  [['--host', '0.0.0.0']],
  [['--config', 'writ.yaml']],
])('a demo is kept from what is real: %s', async (args) => {
  const ran = await writProcess(['serve', '--demo', ...args]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(`omit ${args[0]}, or omit --demo`);
});

test('a demo listens on the port of the environment', async () => {
  const ran = await writProcess(['serve', '--demo'], { env: { WRIT_PORT: 'eighty' } });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain('WRIT_PORT');
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-room-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
