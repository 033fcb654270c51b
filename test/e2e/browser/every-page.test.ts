// Every entry of the dashboard's page table, in a demo, at three widths, wide in dark and narrow in light colours: it
// loads, fits the window, cuts no text and has no accessibility fault.

import type { Page as BrowserPage } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../../src/packaging/demo/accounts.ts';
import { type Demo, openDemo } from '../../../src/packaging/demo/demo.ts';
import { third } from '../../support/tries.ts';
import { accessibilityFaults, shareBrowser, signInAs } from './browser.ts';

const open = shareBrowser();

/** Imported by its address, so that the components that it names are not type-checked here. */
const tableUrl = new URL('../../../src/dashboard/pages.ts', import.meta.url).href;
const { pages } = (await import(tableUrl)) as {
  readonly pages: readonly { readonly pattern: string; readonly access: string }[];
};

const tabs = [
  '/policies?tab=files',
  '/policies?tab=sentences',
  '/policies?tab=hits',
  '/policies?tab=history',
  '/alerts?tab=rules',
  '/alerts?tab=webhooks',
  '/access?tab=applications',
  '/access?tab=invitations',
];

/** A check for accessibility takes most of the time, so each page has it in one of these looks, drawn anew in each run. */
const looks = [
  { theme: 'dark', size: { width: 1440, height: 900 } },
  { theme: 'light', size: { width: 1024, height: 768 } },
  { theme: 'light', size: { width: 390, height: 844 } },
] as const;

test('no page cuts a text, is wider than the window or has an accessibility fault', async () => {
  const demo = await openDemo({ port: '0', count: 40, isLive: false, isMarked: false });
  if (demo === null) throw new Error('the demo was stopped');
  onTestFinished(() => demo.server.stop());
  const address = await addresses(demo);
  const person = await open(demo.server);
  await signInAs(person.context, demo.server, demo.account);
  const nobody = await open(demo.server, { expected: /401/ });
  for (const { pattern, access } of pages) {
    const { page } = access === 'public' ? nobody : person;
    expect(await faultsAt(page, address(pattern)), pattern).toEqual([]);
  }
  for (const tab of tabs) expect(await faultsAt(person.page, tab), tab).toEqual([]);
});

/** Opens the address and returns what is wrong with the page in each look once it has loaded. */
async function faultsAt(page: BrowserPage, address: string): Promise<readonly string[]> {
  await page.goto(address);
  const faults: string[] = [];
  const audited = third(looks);
  for (const look of looks) {
    const { theme, size } = look;
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(size);
    await page.locator('h1').waitFor();
    await expect.poll(() => page.locator('.loading').count(), { timeout: 60_000 }).toBe(0);
    const found = [
      ...(await cutTexts(page)),
      ...(audited.includes(look) ? await accessibilityFaults(page) : []),
    ];
    faults.push(...found.map((fault) => `${size.width} px, ${theme}: ${fault}`));
  }
  return faults;
}

/** What the window, a table or a line of fixed length does not show. Code may scroll. */
async function cutTexts(page: BrowserPage): Promise<readonly string[]> {
  return await page.evaluate(`(() => {
    const faults = document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : [];
    for (const element of document.querySelectorAll('main *, header *, [role=region]')) {
      if (element.scrollWidth <= element.clientWidth + 1 || !element.checkVisibility()) continue;
      const isTable = element.classList.contains('table-wrap');
      if (isTable || getComputedStyle(element).textOverflow === 'ellipsis')
        faults.push('cut: ' + element.innerText.slice(0, 80));
    }
    return faults;
  })()`);
}

const mistakesPolicy = `policy mistakes on payment.create {
  deny odd_amount when payload.amount == 33.33 USD because "An odd amount"
}
`;

/** The address of a page that shows something, by the pattern of the page. */
async function addresses({ server, account, shown }: Demo): Promise<(pattern: string) => string> {
  const session = await openSession(server.url, account);
  const { items: standing } = await session.done('/v1/standing-approvals', undefined, 'GET');
  expect(standing).toMatchObject([{ agent: 'invoice-payer', used: 2, times: 10, ended: null }]);
  const { point } = await session.done('/v1/enforcement-points', { name: 'proxy', agents: [shown.agent] });
  const { digest } = await session.done('/v1/policies/state', undefined, 'GET');
  const proposal = await session.done('/v1/policies/proposals', {
    active_digest: digest,
    reason: 'such payments were mistakes',
    files: [{ path: 'mistakes.policy', text: mistakesPolicy }],
  });
  const withIds: Readonly<Record<string, string>> = {
    '/requests/:id': `/requests/${shown.request}`,
    '/approvals/:id': `/approvals/${shown.approval}`,
    '/plans/:id': `/plans/${shown.plan}`,
    '/proposals/:id': `/proposals/${proposal.id}`,
    '/agents/:id': `/agents/${shown.agent}`,
    '/enforcement-points/:id': `/enforcement-points/${point.id}`,
    '/policies/file': '/policies/file?path=payments%2Fpayments.policy',
  };
  return (pattern) => {
    const address = withIds[pattern] ?? pattern;
    if (address.includes(':')) throw new Error(`no address for ${pattern}`);
    return address;
  };
}
