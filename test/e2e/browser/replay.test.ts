// "Run on the last 7 days" in the browser: by keyboard alone, with a link to each changed request, and what
// the page shows while the replay runs, when it is stopped, when it fails, and to people who may not run it.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Service, shareService } from '../../service/http/service.ts';
import { ask, usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, addPeople, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';

const policies = `approvers finance "Finance"
action pay.make { amount: number 0.01.., to: string }
policy p on pay.make {
  allow small when payload.amount <= 1_000
  allow any after approval by finance when payload.amount <= 10_000
}
`;
const raised = policies.replace('payload.amount <= 1_000\n', 'payload.amount <= 3_000\n');

let asked: Promise<string> | null = null;

async function prepare(shared: Service): Promise<string> {
  await addPeople(shared);
  await usePolicies(shared, policies);
  await ask(shared, 'pay.make', { payload: { amount: 20, to: 'ann' } });
  return (await ask(shared, 'pay.make', { payload: { amount: 2_000, to: 'bob' } })).request_id;
}

/** A service, and the id of the request that a raised limit would grant. */
async function world(): Promise<[Service, string]> {
  const shared = service();
  asked ??= prepare(shared);
  return [shared, await asked];
}

const run = (page: Page) => page.getByRole('button', { name: /^Run on the last/ });
const status = (page: Page) => page.locator('.diff').getByRole('status').first();

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /^demo\.policy\./ }).focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

async function press(page: Page, button: ReturnType<typeof run>): Promise<void> {
  await button.focus();
  await page.keyboard.press('Enter');
}

test('a raised limit is replayed on the last seven days, and links to the request that it would allow', async () => {
  const [shared, passed] = await world();
  const { page } = await open(shared, { email });
  await page.goto('/playground');
  await write(page, raised);
  await press(page, run(page));
  await status(page).getByText('1 of 2 requests would have been decided differently').waitFor();
  const matrix = page.getByRole('table', { name: /^Decisions/ });
  const cells = matrix.getByRole('row', { name: /^Escalate/ }).getByRole('cell');
  expect(await cells.allInnerTexts()).toEqual(['1', '0', '0', '0']);
  const people = page.getByRole('table', { name: /^What is asked of people/ });
  expect(await people.getByRole('row', { name: /^finance/ }).innerText()).toMatch(/1\s*→\s*becomes\s*0/);
  const finding = page
    .getByRole('list', { name: /loosest first$/ })
    .locator('> li')
    .first();
  expect(await finding.innerText()).toMatch(/1 recorded request of 1 agent meets it/);
  const asks = finding.getByRole('list', { name: 'What these requests ask of people' });
  expect((await asks.innerText()).replaceAll(/\s+/g, ' ')).toBe(
    'finance: 1 fewer vote, 1 → becomes 0; a day 1 → becomes 0, on the busiest 1 → becomes 0, in the busiest hour 1 → becomes 0',
  );
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.getByLabel('Requests of the').selectOption({ label: 'last day' });
  await page.getByText('This result is for an earlier copy').waitFor();
  await press(page, page.getByRole('button', { name: 'Run', exact: true }));
  await page.getByText('This result is for an earlier copy').waitFor({ state: 'detached' });
  await status(page).getByText('1 of 2 requests').waitFor();
  await finding.getByRole('link').click();
  await page.waitForURL(`**/requests/${passed}`);
});

test('on a phone nothing is too wide; a copy with errors or without changes is not replayed', async () => {
  const { page } = await open((await world())[0], { email, size: sizes.phone });
  await page.goto('/playground');
  await write(page, policies.replace('by finance', 'by fnance'));
  await press(page, run(page));
  await status(page).getByText('cannot be tried while the policies have errors').waitFor();
  await press(page, run(page));
  await write(page, policies);
  await press(page, run(page));
  await page.getByText('This result is for an earlier copy').waitFor();
  await press(page, page.getByRole('button', { name: 'Run', exact: true }));
  await status(page).getByText('None of 2 requests would have been decided differently').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
});

test('a replay shows its progress and can be stopped; a failure is reported', async () => {
  const { page } = await open((await world())[0], { email, expected: /ERR|Failed|502/ });
  await page.goto('/playground');
  // The request hangs until the page gives up.
  await page.route('**/v1/policies/replay', () => undefined, { times: 1 });
  await write(page, raised);
  await press(page, run(page));
  await page.getByRole('progressbar', { name: 'Records read' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await press(page, page.getByRole('button', { name: 'Cancel' }));
  await page.getByText('Nothing has been run yet').waitFor();

  const detail = 'the replay did not answer: it did not finish within 300 seconds';
  const problem = { type: 'urn:writ:error:playground_failed', title: 'No answer', status: 503, detail };
  for (const [body, text] of [
    [`{"progress":0.5}\n${JSON.stringify({ problem })}\n`, detail],
    ['{"progress":0.5}\n', 'The service answered 502'],
  ] as const) {
    await page.route(
      '**/v1/policies/replay',
      (route) => route.fulfill({ status: 200, contentType: 'application/jsonl', body }),
      { times: 1 },
    );
    await press(page, page.getByRole('button', { name: 'Run', exact: true }));
    await page.getByRole('alert').getByText(text).waitFor();
  }
  await press(page, page.getByRole('button', { name: 'Try again' }));
  await status(page).getByText('1 of 2 requests').waitFor();
});
