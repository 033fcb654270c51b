// The policies page: the active set, failures and their places, how often rules decide, what shadow rules
// would change, the files.

import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, shareService, startService } from '../../service/http/service.ts';
import { ask, usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, addPeople, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';

const policies = `# Whatever is done in a demo.
group shows
action demo.allow, demo.deny in shows { amount?: number }

approvers finance "Finance <b onclick=alert(1)>on call</b>"
list large_list from "names.txt"
meter done = count() of shows per agent over 1h

# Who may show, and when: <img src=x onerror="document.title='caught'"> 😀
policy demo on shows {
  owner "demo-team"

  allow most when action.key == "demo.allow"

  deny one
    when action.key == "demo.deny"
    risk +20
    because "<script>document.title = 'caught'</script>"

  shadow deny watched when action.key == "demo.allow" and payload has amount

  shadow deny idle when payload has amount and payload.amount > 1_000_000

  deny listed when payload has amount and "name 7" in large_list and payload.amount > 10_000_000
}
`;

let isThere = false;

async function world(): Promise<Service> {
  const shared = service();
  if (isThere) return shared;
  isThere = true;
  await addPeople(shared);
  const names = Array.from({ length: 4_500 }, (_, index) => `name ${index + 1}\n`).join('');
  writeFileSync(join(dirname(shared.policyFile), 'names.txt'), names);
  await usePolicies(shared, policies);
  for (const amount of [1, 2, 3]) await ask(shared, 'demo.allow', { payload: { amount } });
  await ask(shared, 'demo.deny', { payload: {} });
  return shared;
}

const rowOf = (page: Page, rule: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: rule, exact: true }) });
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');

test('the active set is shown: rules with hits, effects of shadow rules, groups, meters, markup as text', async () => {
  const { page } = await open(await world(), { email });
  await page.goto('/policies?tab=hits');
  await page.getByText('Active', { exact: true }).waitFor();
  const cells = async (rule: string) => (await rowOf(page, rule).getByRole('cell').allInnerTexts()).slice(1);
  await rowOf(page, 'demo/most').waitFor();
  expect((await cells('demo/most')).slice(0, 2)).toEqual(['3', '3']);
  expect((await cells('demo/one')).slice(0, 2)).toEqual(['1', '1']);
  expect(await cells('demo/idle')).toEqual(['0', '0', 'never']);
  const shadow = page.getByRole('region', { name: 'What the rules in shadow would change' });
  await shadow.getByText('Would have changed 3 of the 3 decisions').waitFor();
  expect(await shadow.getByRole('listitem').filter({ hasText: '3 ×' }).last().innerText()).toMatch(
    /Allow[\s\S]*Deny/,
  );
  expect(await accessibilityFaults(page)).toEqual([]);

  // All is done by keyboard; the filter is kept in the address.
  await page.getByLabel('Rules with').focus();
  await page.keyboard.type('demo/o');
  await expect.poll(() => page.locator('tbody tr').filter({ hasText: 'demo/' }).count()).toBe(1);
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.getByText('0 of 5 rules').waitFor();
  await page.getByLabel('Rules with').fill('');
  await page.getByText('2 of 5 rules').waitFor();
  expect(page.url()).toMatch(/[?&]show=unused/);
  expect(await page.title()).toBe('Policies · Writ');
});

test('the tabs work by keyboard, each has an address, and none is a long page', async () => {
  const shared = await world();
  const { page } = await open(shared, { email });
  await page.goto('/policies');
  await page.getByText('<img src=x onerror="document.title=\'caught\'"> 😀').waitFor();
  await page.getByText('Finance <b onclick=alert(1)>on call</b>').waitFor();
  expect(await page.getByRole('region', { name: 'Meters' }).innerText()).toContain('done');
  const tab = (name: string) => page.getByRole('tab', { name, exact: true });
  const shown = [
    ['Policies', 'Policies', /\/policies$/],
    ['Files', 'Files', /\?tab=files$/],
    ['Sentences', 'In sentences', /\?tab=sentences$/],
    ['Hits', 'Rules', /\?tab=hits$/],
    ['History', 'History', /\?tab=history$/],
  ] as const;
  await tab('Policies').focus();
  for (const [name, section, address] of shown) {
    await page
      .getByRole('tabpanel', { name, exact: true })
      .getByRole('region', { name: section, exact: true })
      .waitFor();
    expect(page.url()).toMatch(address);
    expect(await tab(name).getAttribute('aria-selected')).toBe('true');
    expect(await page.evaluate('document.activeElement.textContent')).toBe(name);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('ArrowRight');
  }
  // The last tab leads to the first; only the chosen one is in the order of Tab.
  await tab('Policies').and(page.locator('[aria-selected=true]')).waitFor();
  await page.keyboard.press('End');
  await tab('History').and(page.locator('[aria-selected=true]')).waitFor();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+Tab');
  expect(await page.evaluate('document.activeElement.closest("[role=tablist]")')).toBeNull();
  await tab('Files').click();
  await page.getByRole('link', { name: 'demo.policy' }).click();
  await page.getByText('Whatever is done in a demo.').waitFor();
  await page.goBack();
  await tab('Files').and(page.locator('[aria-selected=true]')).waitFor();
  for (const [size, theme] of [
    [{ width: 1440, height: 900 }, 'light'],
    [{ width: 1024, height: 768 }, 'dark'],
    [{ width: 390, height: 844 }, 'light'],
  ] as const) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: theme });
    for (const name of ['', '?tab=files', '?tab=sentences', '?tab=hits', '?tab=history']) {
      await page.goto(`/policies${name}`);
      await page.getByRole('tabpanel').getByRole('region').first().waitFor();
      expect(await isTooWide(page)).toBe(false);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  }
});

test('the policies are described in sentences, each with its line', async () => {
  const { page } = await open(await world(), { email });
  await page.goto('/policies?tab=sentences');
  const said = page.getByRole('list', { name: 'What the policies do' });
  await said.getByText('Passes at once if').first().waitFor();
  expect(await said.innerText()).toMatch(/demo\.allow[\s\S]*Is refused/);
  expect(await accessibilityFaults(page)).toEqual([]);
  const line = said.getByRole('link').first();
  const [, number = ''] = /:(\d+)$/.exec(await line.innerText()) ?? [];
  await line.click();
  await page.waitForURL(`**/policies/file?path=demo.policy#L${number}`);
});

test('a failed reload and its recovery are shown live, with the errors at their places', async () => {
  const shared = await world();
  const { page } = await open(shared, { email, theme: 'dark' });
  await page.goto('/policies');
  await page.getByText('Active', { exact: true }).waitFor();
  const mistaken = policies.replace('payload.amount > 1_000_000', 'payload.amout > 1_000_000');
  const broken = `${mistaken}\n\n\n\n\n# \u202Eexe.gnp\n`;
  onTestFinished(() => usePolicies(shared, policies));
  writeFileSync(shared.policyFile, broken);
  await page.getByText('Last reload failed', { exact: true }).waitFor();
  await page.getByText('The last valid set still decides').waitFor();
  const line = broken.split('\n').findIndex((text) => text.includes('amout')) + 1;
  const wrong = page.getByRole('region', { name: 'Problems' });
  await wrong.getByText('did you mean').waitFor();
  await wrong.getByRole('link', { name: `Line ${line}`, exact: true }).waitFor();
  expect(await wrong.locator('.policy-source-mark-error').first().innerText()).toBe('amout');
  await wrong.locator('mark', { hasText: 'U+202E' }).first().waitFor();
  await rowOf(page, 'demo').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  // The page shows the file that failed, with its mistake, while the previous set goes on deciding.
  await wrong.getByRole('link', { name: 'demo.policy' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Failed to load', { exact: true }).waitFor();
  await page.getByText('did you mean').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goBack();
  await page.getByText('Last reload failed', { exact: true }).waitFor();

  // Every other page shows the failure, too.
  await page.goto('/overview');
  await page.getByText('The policies on disk are not active').waitFor();
  await page.getByRole('link', { name: 'Policies ! failed to load' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Show the problem' }).click();
  await page.getByText('Last reload failed', { exact: true }).waitFor();

  // The failed text becomes the copy in the playground, where it is fixed.
  const fix = wrong.getByRole('link', { name: 'Fix it in the playground' });
  expect(await fix.getAttribute('href')).toContain(`at=${line}%3A`);
  await fix.click();
  // The cursor is at the mistake.
  await expect.poll(() => page.locator('.cm-activeLine').first().innerText()).toContain('amout');
  expect(page.url()).not.toContain('at=');
  const fixes = page.locator('.playground-diagnostics');
  await fixes.getByRole('button', { name: 'write amount' }).click();
  await fixes.getByText('The policies have 1 error').waitFor();
  expect(page.url()).not.toContain('take=');
  await page.getByRole('button', { name: 'My draft (1)' }).waitFor();
  await page.goto('/policies');
  await page.getByText('Last reload failed', { exact: true }).waitFor();

  writeFileSync(shared.policyFile, policies);
  await page.getByText('Active', { exact: true }).waitFor();
  await wrong.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Policies', exact: true }).waitFor();
});

test('people with the permission reload the directory; others see no button', async () => {
  const shared = await world();
  const admin = await open(shared, { email });
  await admin.page.goto('/policies');
  const again = admin.page.getByRole('button', { name: 'Reload' });
  await again.focus();
  await admin.page.keyboard.press('Enter');
  await admin.page.getByText('The policies are reloaded and active').waitFor();
  const approver = await open(shared, { email: 'ben@example.com' });
  await approver.page.goto('/policies');
  await approver.page.getByText('Active', { exact: true }).waitFor();
  expect(await approver.page.getByRole('button', { name: 'Reload' }).count()).toBe(0);
});

test('a file has a link for each line, a rule links to its text, and a long list is shown in parts', async () => {
  const { page } = await open(await world(), { email, size: sizes.phone, theme: 'dark' });
  await page.goto('/policies?tab=hits');
  await rowOf(page, 'demo/one').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
  await rowOf(page, 'demo/one').getByRole('link').click();
  await page.locator('.policy-source-here').first().waitFor();
  const marked = await page.locator('.policy-source-here > code').allInnerTexts();
  expect(marked.join('\n')).toBe(/ {2}deny one[\s\S]*?<\/script>"/.exec(policies)?.[0]);
  await page.getByText('Whatever is done in a demo.').waitFor();
  expect(await isTooWide(page)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  const line = page.getByRole('link', { name: 'Line 3', exact: true });
  await line.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toMatch(/#L3$/);
  await expect
    .poll(() => page.locator('.policy-source-here > code').allInnerTexts())
    .toEqual(['action demo.allow, demo.deny in shows { amount?: number }']);
  expect(await line.isVisible()).toBe(true);

  await page.goto('/policies/file?path=names.txt#L4321');
  await page.getByText('name 4321', { exact: true }).waitFor();
  expect(await page.getByText('name 3', { exact: true }).count()).toBe(0);
  await page.getByRole('link', { name: 'Lines before' }).first().click();
  await page.getByText('name 2001', { exact: true }).waitFor();
  expect(await page.title()).toBe('names.txt · Writ');
});

test('a missing file is reported, and a deleted one stays visible until then', async () => {
  const shared = await world();
  const { page } = await open(shared, { email, expected: /404/ });
  await page.goto('/policies/file?path=gone.policy');
  await page.getByRole('alert').waitFor();
  const more = join(dirname(shared.policyFile), 'more.policy');
  writeFileSync(more, '# For a while.\nlist brief = ["a"]\n');
  await shared.policies.reload();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.goto('/policies/file?path=more.policy');
  await page.getByText('For a while.').waitFor();
  rmSync(more);
  await shared.policies.reload();
  await page.getByRole('alert').waitFor();
  await page.goto('/policies/file');
  await page.getByText('The address names no policy file').waitFor();
});

test('operators see the replicas with their sets and versions', async () => {
  const own = await startService({ isInFile: true });
  await addPeople(own);
  const { page } = await open(own, { email });
  await page.goto('/policies');
  const row = page.getByRole('row').filter({ hasText: 'the active policies' });
  await row.waitFor();
  expect(await row.innerText()).toMatch(/\(\d+\)\s+Ready\s+the active policies\s+0\.1\.0/);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.setViewportSize(sizes.phone);
  expect(await isTooWide(page)).toBe(false);
});
