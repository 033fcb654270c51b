// The playground: a copy of the policies and a request, tried while one types. Nothing is recorded, the
// keyboard always gets out of the editor, and the content policy holds.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signedIn } from '../../service/http/person-client.ts';
import { type Service, shareService } from '../../service/http/service.ts';
import { ask, usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, addPeople, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';

const policies = `group money
action pay.create in money { amount: number 0.., vendor: string, note?: string, token?: secret string }
action file.read { path: path }
approvers finance "Finance"
meter spent = sum(payload.amount) of pay.create per agent over 24h

policy pay on money {
  allow small when payload.amount <= 100 because "Small"
  allow others when payload.amount > 100
  risk much +5 when spent > 1_000_000
  escalate large to finance when payload.amount > 100 because "Over 100 to {payload.vendor}"
}
policy files on file.read {
  allow workspace when payload.path inside "/workspace"
}
`;

const hostile = {
  amount: 40,
  vendor: '<img src=x onerror="document.title=\'caught\'">\u202Egnp.exe',
  note: `${'long '.repeat(2_000)}😀`,
  token: 'hidden',
};

let asked: Promise<string> | null = null;

/** A service with these policies and one recorded request. */
async function world(): Promise<{ readonly shared: Service; readonly id: string }> {
  const shared = service();
  asked ??= (async () => {
    await addPeople(shared);
    await usePolicies(shared, policies);
    return (await ask(shared, 'pay.create', { payload: hostile })).request_id;
  })();
  return { shared, id: await asked };
}

const policyEditor = (page: Page) => page.getByRole('textbox', { name: /^demo\.policy\./ });
const requestEditor = (page: Page) => page.getByRole('textbox', { name: /^Request as JSON\./ });
const answer = (page: Page) => page.getByRole('complementary', { name: 'Result' });
const diagnostics = (page: Page) => page.locator('.playground-diagnostics');
const offers = (page: Page) => page.locator('.cm-tooltip-autocomplete').getByRole('option');
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');

async function recorded(shared: Service): Promise<number> {
  const person = await signedIn(shared, email);
  return (await person.send('/v1/requests?limit=200')).body.items.length;
}

/** Replaces the whole text of an editor, as if it were typed. */
async function write(page: Page, editor: ReturnType<typeof policyEditor>, text: string): Promise<void> {
  await editor.focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

test('a copy is tried while typing: decision, rules, smallest changes, mistakes with their fixes', async () => {
  const { shared } = await world();
  const before = await recorded(shared);
  const { page } = await open(shared, { email });
  await page.goto('/playground');
  await page.getByText('Nothing is granted or recorded').waitFor();
  // The playground starts with a request that waits for people.
  await answer(page).getByText('Escalate', { exact: true }).waitFor();
  await expect.poll(() => requestEditor(page).innerText()).toContain('"action_key": "pay.create"');
  await page.getByLabel('Example').selectOption('pay.create');
  await answer(page).getByText('Small', { exact: true }).waitFor();
  await answer(page).getByText('Up to date. Nothing was granted').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  await write(page, policyEditor(page), policies.replace('payload.amount <= 100', 'payload.amout <= 100'));
  await diagnostics(page).getByText('The policies have 1 error.').waitFor();
  await answer(page).locator('.playground-state').getByText('so they could not be activated').waitFor();
  // The previous answer is still there, and is marked as previous.
  await answer(page).getByText('Below is the previous result').waitFor();
  expect(await answer(page).getByText('Small', { exact: true }).count()).toBeGreaterThan(0);
  expect(await page.locator('.cm-lintRange-error').innerText()).toBe('amout');
  expect(await page.locator('.cm-lint-marker-error').count()).toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);

  // The diagnostic's code links to the page that explains what to write instead; the copy is kept for the way
  // back.
  await diagnostics(page).getByRole('link', { name: 'unknown-field' }).click();
  await page.getByRole('heading', { name: 'Prefer' }).waitFor();
  expect(await page.title()).toContain('unknown-field');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goBack();
  await diagnostics(page).getByText('The policies have 1 error.').waitFor();

  // The keyboard alone leads to the mistake and fixes it.
  await diagnostics(page)
    .getByRole('button', { name: /^demo\.policy:8:\d+$/ })
    .focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => isFocused(policyEditor(page))).toBe(true);
  await diagnostics(page).getByRole('button', { name: 'write amount' }).focus();
  await page.keyboard.press('Enter');
  await diagnostics(page).getByText('The policies have no errors.').waitFor();
  await page.getByRole('button', { name: 'My draft (0)' }).waitFor();

  await write(
    page,
    policyEditor(page),
    policies.replace('payload.amount <= 100 because', 'payload.amount < 1 because'),
  );
  await answer(page)
    .getByText(/^ALLOW if payload.amount/)
    .waitFor();
  await answer(page).getByText('Deny', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'My draft (1)' }).click();
  await page.locator('.text-diff-new').getByText('payload.amount < 1').waitFor();
  await page.locator('.text-diff-gone').getByText('payload.amount <= 100').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  // The copy is kept in this window until the person discards it.
  await page.reload();
  await page.locator('.text-diff-new').waitFor();
  await page.getByRole('button', { name: 'Discard demo.policy' }).click();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await page.getByText('No changes yet').waitFor();
  await answer(page).getByText('Small', { exact: true }).first().waitFor();
  expect(await recorded(shared)).toBe(before);
  expect(shared.policies.state().failure).toBeNull();
});

test('a worker describes names, completes and formats', async () => {
  const { shared } = await world();
  const { page } = await open(shared, { email });
  await page.goto('/playground');
  const editor = policyEditor(page);
  await editor.waitFor();
  expect(page.workers().map((worker) => new URL(worker.url()).pathname)).toEqual([
    expect.stringMatching(/^\/assets\/policy-thread-/),
  ]);
  await editor.locator('.cm-name-meter:not(.cm-name-declared)').first().hover();
  await page.locator('.cm-said').getByText('meter spent = sum(payload.amount)').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await editor.locator('.cm-name-action', { hasText: 'pay.create' }).first().hover();
  await page.locator('.cm-said').getByText('- escalate `pay/large`').waitFor();
  await page.mouse.move(0, 0);

  await write(page, editor, policies.replace('allow small when', 'allow   small   when'));
  await page.keyboard.press('Shift+Alt+F');
  await expect.poll(() => editor.innerText()).toMatch(/allow small\n+ +when payload\.amount <= 100\n/);
  // A text with a mistake is not reformatted.
  const broken = policies.replace('allow small when', 'allow   small   whem');
  await write(page, editor, broken);
  await diagnostics(page).getByText('The policies have 1 error.').waitFor();
  await page.keyboard.press('Shift+Alt+F');
  await page.getByRole('button', { name: 'My draft (1)' }).waitFor();
  expect(await editor.innerText()).toContain('allow   small   whem');
});

const isFocused = (editor: ReturnType<typeof policyEditor>): Promise<boolean> =>
  editor.evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement === element);

test('the editor completes by the action, follows the content security policy, and can be left with the keyboard', async () => {
  const { shared } = await world();
  const { page } = await open(shared, { email, theme: 'dark' });
  await page.goto('/playground');
  const editor = policyEditor(page);
  await editor.waitFor();
  await answer(page).getByText('Up to date.').waitFor();
  await editor.focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('policy more on file.read {\n  deny secrets when payload.');
  await offers(page).filter({ hasText: /^path/ }).waitFor();
  expect(await offers(page).count()).toBe(1);
  await page.waitForTimeout(100);
  await page.keyboard.press('Enter');
  await page.keyboard.type(' like "*.pem"');
  await page.getByLabel('Example').selectOption('file.read');
  await write(
    page,
    requestEditor(page),
    '{ "action_key": "file.read", "payload": { "path": "/workspace/a.pem" } }',
  );
  await answer(page).getByText('Deny', { exact: true }).waitFor();
  await answer(page).getByRole('button', { name: 'more/secrets' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => isFocused(editor)).toBe(true);

  // Tab indents; after Escape, Tab leaves the editor until something is typed.
  const text = await editor.innerText();
  await page.keyboard.press('Tab');
  expect(await editor.innerText()).not.toBe(text);
  await page.keyboard.press('Control+Z');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  expect(await isFocused(editor)).toBe(false);
  await page.keyboard.press('Shift+Tab');
  expect(await isFocused(editor)).toBe(true);
  expect(await page.evaluate('document.querySelectorAll("style").length')).toBe(0);
  expect(await page.locator('.cm-editor style').count()).toBe(0);
  const colour = await page
    .locator('.cm-line span', { hasText: /^deny$/ })
    .first()
    .evaluate((element) => getComputedStyle(element).color);
  expect(colour).toBe('rgb(255, 157, 148)');
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('errors of a request are shown at their place, and the active policies can change meanwhile', async () => {
  const { shared } = await world();
  const { page } = await open(shared, { email, expected: /400/ });
  await page.goto('/playground');
  const issues = page.locator('.playground-request .playground-diagnostic-list');
  await requestEditor(page).waitFor();
  await write(
    page,
    requestEditor(page),
    '{ "action_key": "pay.create", "payload": { "amount": 40, "vendr": "x" } ',
  );
  await issues.getByText('a comma or } is expected here').waitFor();
  await answer(page).locator('.playground-state').getByText('The request is not JSON yet.').waitFor();
  await page.keyboard.type('}');
  await issues.getByText('did you mean').first().waitFor();
  await answer(page).getByText('Deny', { exact: true }).waitFor();
  await write(
    page,
    requestEditor(page),
    '{ "action_key": "pay.create", "payload": { "amount": 40, "vendor": "x" }, "agnt": {} }',
  );
  await issues.getByText('unknown field').first().waitFor();
  await write(
    page,
    requestEditor(page),
    '{ "action_key": "pay.create", "payload": { "amount": 400, "vendor": "x" } }',
  );
  await answer(page).locator('strong').getByText('Over 100 to x').waitFor();
  await answer(page).getByText('It would wait for 1 approval by finance').waitFor();

  // The copy applies on top of the policies that are active at the moment.
  await usePolicies(shared, policies.replace('Over 100 to', 'More than 100 to'));
  await answer(page).locator('strong').getByText('More than 100 to x').waitFor();
  await page.locator('.cm-line', { hasText: 'More than 100' }).waitFor();
  await page.getByRole('button', { name: 'My draft (0)' }).waitFor();
  const changed = policies.replace('Over 100 to', 'Much more than 100 to');
  await write(page, policyEditor(page), changed);
  await page.getByRole('button', { name: 'My draft (1)' }).waitFor();
  await usePolicies(shared, changed);
  await page.getByRole('button', { name: 'My draft (0)' }).waitFor();
  await usePolicies(shared, policies);
  // The copy equalled the active policies, so it was dropped, and does not come back by itself.
  await page.locator('.cm-line', { hasText: 'Over 100' }).waitFor();

  await page.getByRole('button', { name: 'New file' }).click();
  await page.getByLabel('Name').fill('../x');
  await page.getByRole('button', { name: 'Add the file' }).click();
  await page.getByText('is a path such as').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Name').fill('more/limits.policy');
  await page.keyboard.press('Enter');
  const added = page.getByRole('textbox', { name: /^more\/limits\.policy\./ });
  await added.waitFor();
  await write(page, added, 'policy limits on pay.create { deny all because "Not today" }\n');
  await answer(page).locator('strong').getByText('Not today').waitFor();
});

test('a recorded request is tried with its recorded facts, whatever it contains, also on a phone', async () => {
  const { shared, id } = await world();
  const { page } = await open(shared, { email, size: sizes.phone, theme: 'dark' });
  await page.goto(`/playground?request=${id}`);
  await answer(page).getByText('Small', { exact: true }).waitFor();
  await answer(page).getByText('A digest replaces the secret at /payload/token').waitFor();
  await page.getByText('U+202E').first().waitFor();
  expect(await isTooWide(page)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Edit a copy' }).click();
  await requestEditor(page).waitFor();
  expect(page.url()).not.toContain('request=');
  expect(await requestEditor(page).innerText()).toContain('"action_key": "pay.create"');
  expect(await isTooWide(page)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.getByRole('button', { name: 'Logged request' }).click();
  const search = page.getByLabel('Search logged requests');
  await search.fill('nowhere');
  await page.getByText('No requests match').waitFor();
  await search.fill('create');
  await page.getByText('Latest requests that match').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('region', { name: 'Latest requests' }).getByRole('button').first().click();
  await expect.poll(() => page.url()).toContain(`request=${id}`);
  expect(await page.title()).toBe('Playground · Writ');
});

test('a plain field replaces an editor that cannot be loaded', async () => {
  const { shared } = await world();
  const { page } = await open(shared, { email, expected: /Failed to load resource/ });
  await page.route(/\/assets\/editor-/, (route) => route.abort());
  await page.goto('/playground');
  await page.getByText('The editor could not be loaded').first().waitFor();
  await page
    .getByLabel('Request as JSON')
    .fill('{ "action_key": "pay.create", "payload": { "amount": 101, "vendor": "y" } }');
  await answer(page).locator('strong').getByText('Over 100 to y').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});

const draftView = (page: Page) => page.getByRole('region', { name: 'My draft', exact: true });

test('a draft is saved on the service, opens in another window, and never becomes active', async () => {
  const { shared } = await world();
  const { page } = await open(shared, { email });
  await page.goto('/playground');
  await policyEditor(page).waitFor();
  const changed = policies.replace('payload.amount <= 100 because', 'payload.amount <= 90 because');
  await write(page, policyEditor(page), changed);
  await page.getByRole('button', { name: 'My draft (1)' }).click();
  await draftView(page).getByText('Not saved yet').waitFor();
  await draftView(page).getByText('no errors', { exact: true }).waitFor();
  await draftView(page).getByRole('link', { name: '0 loosened · 1 stricter · 0 undecided' }).waitFor();
  // The patch is one that Git applies (test/language/assist/git-patch.test.ts).
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    draftView(page).getByRole('button', { name: 'Download .patch' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('draft.patch');
  const patch = readFileSync(await download.path(), 'utf8');
  expect(patch).toContain('--- a/demo.policy\n+++ b/demo.policy\n@@ -');
  expect(patch).toContain('+  allow small when payload.amount <= 90 because "Small"\n');
  await draftView(page).getByText('Patch as text').click();
  expect(await draftView(page).locator('pre').textContent()).toBe(patch);
  expect(await accessibilityFaults(page)).toEqual([]);
  await draftView(page).getByRole('button', { name: 'Save draft' }).focus();
  await page.keyboard.press('Enter');
  await draftView(page).getByText('on the service, only for you. It is not active.').waitFor();
  await shared.policies.reload();
  expect((await ask(shared, 'pay.create', { payload: { amount: 95, vendor: 'x' } })).decision).toBe('ALLOW');

  // Another window of the same person opens it; another person has none.
  const other = await open(shared, { email, size: sizes.phone, theme: 'dark' });
  await other.page.goto('/playground');
  await other.page.getByText('You saved a draft of 1 file').waitFor();
  expect(await accessibilityFaults(other.page)).toEqual([]);
  await other.page.getByRole('button', { name: 'Open it' }).click();
  await other.page.getByRole('button', { name: 'My draft (1)' }).click();
  await draftView(other.page).getByText('It is not active.').waitFor();
  expect(await isTooWide(other.page)).toBe(false);
  await write(other.page, policyEditor(other.page), policies.replace('"Small"', '"Tiny"'));
  await draftView(other.page).getByRole('button', { name: 'Save draft' }).click();
  await draftView(other.page).getByText('on the service, only for you').waitFor();
  const ben = await open(shared, { email: 'ben@example.com' });
  await ben.page.goto('/playground?view=changes');
  await draftView(ben.page).getByText('Nothing is changed in this window.').waitFor();
  expect(
    await draftView(ben.page)
      .getByRole('button', { name: /^Delete/ })
      .count(),
  ).toBe(0);
});

test('a draft that another window has saved is not overwritten silently, and can be deleted', async () => {
  const { shared } = await world();
  const { page } = await open(shared, { email: 'cleo@example.com', expected: /409/ });
  await page.goto('/playground?view=changes');
  await policyEditor(page).waitFor();
  await write(page, policyEditor(page), policies.replace('"Small"', '"Mine"'));
  const cleo = await signedIn(shared, 'cleo@example.com');
  const files = [{ path: 'demo.policy', text: policies.replace('"Small"', '"Theirs"') }];
  await cleo.send('/v1/policies/draft', { method: 'PUT', body: { files, version: 0 } });
  await draftView(page).getByRole('button', { name: 'Save draft' }).click();
  await page.getByRole('alert').getByText('another window has saved or deleted your draft').waitFor();
  await draftView(page).getByText('Opening it replaces the changes').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await draftView(page).getByRole('button', { name: 'Open it' }).click();
  await page.locator('.text-diff-new').getByText('"Theirs"').waitFor();
  await draftView(page).getByRole('button', { name: 'Delete saved draft…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await draftView(page).getByText('Not saved yet').waitFor();
  expect((await cleo.send('/v1/policies/draft')).body.draft).toBeNull();
});

test('the playground shows no request or policies before they are loaded', async () => {
  const { shared } = await world();
  const { page } = await open(shared, { email });
  const held: (() => void)[] = [];
  const examples: (() => void)[] = [];
  await page.route(
    '**/v1/policies/first-request',
    (route) => void examples.push(() => void route.continue()),
  );
  await page.route('**/v1/policies/try', (route) => void held.push(() => void route.continue()));
  await page.goto('/playground');
  await policyEditor(page).waitFor();
  await answer(page).locator('.loading').waitFor();
  // Until there is a request, nothing is tried.
  await page.getByRole('region', { name: 'Request', exact: true }).locator('.loading').waitFor();
  await expect.poll(() => examples.length).toBeGreaterThan(0);
  expect(held).toEqual([]);
  for (const release of examples) release();
  await expect.poll(() => held.length).toBeGreaterThan(0);
  expect(await page.locator('.playground-state').count()).toBe(0);
  expect(await diagnostics(page).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  for (const release of held) release();
  await answer(page).getByText('Up to date.').waitFor();
  await diagnostics(page).getByText('The policies have no errors.').waitFor();
});
