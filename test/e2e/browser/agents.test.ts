// Agents: registering, looking after and revoking them, and which of these other roles may do.

import { expect, test } from 'vitest';
import { totpAt } from '../../../src/service/people/totp.ts';
import { firstAdmin, personWith, setUpCodes, signedIn } from '../../service/http/person-client.ts';
import { authorize, type Service, shareService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';
const totpSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
let arePeopleThere = false;

async function people(): Promise<void> {
  if (arePeopleThere) return;
  arePeopleThere = true;
  const admin = await firstAdmin(service());
  const olga = await personWith(service(), admin, { email: 'olga@example.com', roles: ['owner'] });
  // A factor that is old enough for a step-up.
  const clock = () => Date.now() - 2 * 60 * 60_000;
  await setUpCodes(service(), olga.person, { secret: totpSecret, clock });
  await personWith(service(), admin, { email: 'otto@example.com', roles: ['operator'] });
  await personWith(service(), admin, { email: 'audrey@example.com', roles: ['auditor'] });
}

interface Registered {
  readonly id: string;
  readonly key: string;
}

async function register(name: string, owner = email): Promise<Registered> {
  const admin = await signedIn(service(), email);
  const body = { name, risk_tier: 'low', control_owner: owner, tags: [] };
  const answer = await admin.send('/v1/agents', { method: 'POST', body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return { id: answer.body.agent.id, key: answer.body.api_key };
}

async function statusOf(shared: Service, key: string): Promise<number> {
  return (await authorize(shared, { key })).status;
}

test('an agent is registered by keyboard, asks with its key, and is found', async () => {
  await people();
  const { page, context } = await open(service(), { email });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/agents');
  await page.getByRole('link', { name: 'Register an agent' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Name').focus();
  const name = '<b>buyer</b> مساعد 🤖';
  await page.keyboard.type(name);
  await page.keyboard.press('Tab');
  await page.keyboard.type('critical');
  await page.keyboard.press('Tab');
  expect(await page.getByLabel('Control owner').inputValue()).toBe(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type('web, <img src=x>, web');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByText('Copy it now').waitFor();
  await page.getByText('X-Agent-API-Key').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Copy key' }).press('Enter');
  await page.getByText('key: copied').waitFor({ state: 'attached' });
  const key = await page.evaluate(() => navigator.clipboard.readText());
  expect(await statusOf(service(), key)).toBe(200);

  await page.getByRole('link', { name: 'Open the agent' }).press('Enter');
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.getByText('Pending', { exact: true }).waitFor();
  const body = await page.getByRole('main').innerText();
  for (const fact of ['critical', 'Ann', '<img src=x>']) expect(body).toContain(fact);
  await page.getByText('As a table').press('Enter');
  const today = (await page.locator('.agent-days tbody tr').first().innerText()).split('\t');
  expect(today.slice(1)).toEqual(['1', '0', '0', '0', '0']);

  await page.goto('/agents?tier=critical&status=active');
  await page.getByLabel('Search').fill('img src');
  await page.waitForURL(/text=img/);
  await page.getByRole('link', { name }).waitFor();
  await page.getByLabel('Search').fill('nobody is called this');
  await page.getByText('No agents match these filters').waitFor();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await page.getByRole('link', { name }).waitFor();
  expect(await page.getByLabel('Search').inputValue()).toBe('');
});

test('a taken name is reported at its field, and the input stays', async () => {
  await people();
  const { page } = await open(service(), { email, expected: /400/ });
  await page.goto('/agents/new');
  await page.getByLabel('Name').fill('buyer');
  await page.getByLabel('Tags').fill('kept');
  await page.getByLabel('Control owner').fill('nobody@example.com');
  await page.getByRole('button', { name: 'Register an agent' }).click();
  await page.locator('.field-problem').first().waitFor();
  expect(await page.getByLabel('Control owner').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Control owner').fill(email);
  await page.getByRole('button', { name: 'Register an agent' }).click();
  await page.getByText('another agent has this name').first().waitFor();
  expect(await page.getByLabel('Tags').inputValue()).toBe('kept');
});

test('keys are rotated, and limits and signatures are set', async () => {
  await people();
  const { id, key } = await register('rotated');
  const { page } = await open(service(), { email, theme: 'dark' });
  await page.goto(`/agents/${id}`);
  await page.getByRole('button', { name: 'Rotate key' }).click();
  await page.getByLabel('Now: requests').check();
  await page.getByRole('button', { name: 'Create a new key' }).click();
  await page.getByText('Copy it now').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  const shown = await page.getByRole('dialog').locator('pre').first().innerText();
  expect(await statusOf(service(), key)).toBe(401);
  expect(await statusOf(service(), shown)).toBe(200);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('Ended').waitFor();
  expect(await page.content()).not.toContain(shown);

  const limits = page.getByRole('region', { name: 'Limits' });
  await limits.getByText("60,000 (the service's)").waitFor();
  await limits.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Requests per minute').fill('600');
  await page.getByLabel('At once').fill('7');
  await page.getByRole('button', { name: 'Save' }).click();
  await limits.getByText('600', { exact: true }).waitFor();
  expect((await service().store.agents.find(id))?.burst).toBe(7);
  await limits.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Requests per minute').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await limits.getByText("60,000 (the service's)").waitFor();

  const signing = page.getByRole('region', { name: 'Signatures' });
  await signing.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel(/^required/).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^writsec_/).waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await signing.getByText('required', { exact: true }).waitFor();
  expect(await statusOf(service(), shown)).toBe(401);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('an agent is stopped, disabled, enabled, and revoked after its name is typed', async () => {
  await people();
  const { id, key } = await register('doomed');
  const { page } = await open(service(), { email });
  await page.goto(`/agents/${id}`);
  const stopBy = async (way: string): Promise<void> => {
    await page.getByRole('button', { name: 'Stop…' }).press('Enter');
    await page.getByRole('dialog', { name: 'Stop doomed' }).getByRole('button', { name: way }).press('Enter');
  };
  await page.getByRole('button', { name: 'Stop…' }).press('Enter');
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Temporarily, with the kill switch…');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await stopBy('Temporarily');
  await page.getByLabel('Reason').fill('it misbehaves');
  await page.getByRole('button', { name: 'Stop: doomed' }).click();
  await page.getByRole('region', { name: 'What is stopped' }).waitFor();
  expect(await statusOf(service(), key)).toBe(403);
  // The page, the list and the palette say so, with who and why.
  await page.locator('header').getByText('Stopped', { exact: true }).waitFor();
  expect(await page.locator('header').getByText('Active', { exact: true }).count()).toBe(0);
  await page.getByText(/^Stopped by Ann, .*: it misbehaves\. Its requests are refused/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('doomed');
  await page.getByRole('option').getByText('Stopped by Ann: it misbehaves').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.goto('/agents?text=doomed');
  const row = page.getByRole('row').filter({ hasText: 'doomed' });
  await row.getByText('Stopped', { exact: true }).waitFor();
  expect(await row.innerText()).toMatch(/by Ann, .*: it misbehaves/);
  for (const size of [sizes.phone, { width: 1024, height: 768 }, { width: 1440, height: 900 }]) {
    await page.setViewportSize(size);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(await accessibilityFaults(page)).toEqual([]);
  }
  await page.goto(`/agents/${id}`);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('it behaves');
  await page.getByRole('dialog').getByRole('button', { name: 'Let act again' }).click();
  await page.getByRole('region', { name: 'What is stopped' }).waitFor({ state: 'detached' });

  await stopBy('Until someone enables it');
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Disabled', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop…' }).click();
  await page.getByRole('button', { name: 'Permanently' }).waitFor();
  // Disabling is not offered for an agent that is disabled already.
  expect(await page.getByRole('button', { name: 'Until someone enables it' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  expect(await statusOf(service(), key)).toBe(403);
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
  await page.locator('header').getByText('Active', { exact: true }).waitFor();
  expect(await statusOf(service(), key)).toBe(200);

  await stopBy('Permanently');
  const revoke = page.getByRole('button', { name: 'Revoke permanently' });
  expect(await revoke.isDisabled()).toBe(true);
  await page.getByLabel('Name of the agent').fill('Doomed');
  await page.keyboard.press('Enter');
  expect(await revoke.isDisabled()).toBe(true);
  await page.getByLabel('Name of the agent').fill('doomed');
  await page.keyboard.press('Enter');
  await page.getByText('Revoked', { exact: true }).waitFor();
  expect((await service().store.agents.find(id))?.status).toBe('revoked');
  for (const name of ['Rotate key', 'Edit', 'Enable', 'Stop…'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
});

test('changes by others are shown without a reload', async () => {
  await people();
  const { id } = await register('watched');
  const { page } = await open(service(), { email });
  await page.goto(`/agents/${id}`);
  await page.locator('header').getByText('Active', { exact: true }).waitFor();
  const otto = await signedIn(service(), 'otto@example.com');
  await otto.send(`/v1/agents/${id}`, { method: 'PATCH', body: { tags: ['fresh'] } });
  await otto.send(`/v1/agents/${id}/disable`, { method: 'POST' });
  await page.getByText('Disabled', { exact: true }).waitFor();
  await page.getByText('fresh', { exact: true }).waitFor();
});

test('an owner sees only their own agents, and can disable them and step up', async () => {
  await people();
  const { id } = await register('of-olga', 'olga@example.com');
  const other = await register('of-ann');
  const { page } = await open(service(), {
    email: 'olga@example.com',
    code: totpAt(totpSecret, Date.now()),
    size: sizes.phone,
    expected: /404|401|403/,
  });
  await page.goto('/agents');
  await page.getByRole('link', { name: 'of-olga' }).waitFor();
  expect(await page.getByRole('link', { name: 'of-ann' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Register an agent' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'of-olga' }).click();
  await page.getByRole('button', { name: 'Stop…' }).click();
  await page.getByRole('button', { name: 'Until someone enables it' }).waitFor();
  for (const name of ['Temporarily', 'Permanently', 'Rotate key', 'Edit', 'Change'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  await page.keyboard.press('Escape');
  // On a laptop the fields stand side by side in one line.
  await page.setViewportSize(sizes.laptop);
  const boxes = await Promise.all(
    ['Current password', 'One-time code'].map((name) => page.getByLabel(name).boundingBox()),
  );
  expect(boxes[0]).toMatchObject({ y: boxes[1]?.y, height: boxes[1]?.height });
  await page.setViewportSize(sizes.phone);
  await page.getByLabel('Current password').fill('wrong password');
  await page.getByLabel('One-time code').fill('123456');
  await page.getByRole('button', { name: 'Step up with password and code' }).click();
  await page.getByRole('alert').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(sizes.phone.width);
  expect(id).not.toBe(other.id);
  await page.goto(`/agents/${other.id}`);
  await page.getByText('Agent not found').waitFor();
});

test('an auditor sees everything and has no buttons', async () => {
  await people();
  const { page } = await open(service(), { email: 'audrey@example.com', theme: 'dark' });
  await page.goto('/agents?text=buyer');
  await page.getByRole('link', { name: 'buyer', exact: true }).click();
  await page.getByRole('region', { name: 'Keys' }).getByText('Active').waitFor();
  for (const name of ['Stop…', 'Rotate key', 'Edit', 'Change', 'Kill switch'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  expect(await page.getByRole('region', { name: 'Step up' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('an agent at its limit of pending requests is marked, with its refusals by code', async () => {
  await people();
  const { id, key } = await register('crowded');
  const escalated = { action_key: 'demo.escalate', payload: { amount: 5 } };
  const ask = () => authorize(service(), { key, body: JSON.stringify(escalated) });
  for (let count = 0; count < 20; count += 1) expect((await ask()).status).toBe(200);
  for (let count = 0; count < 3; count += 1) expect((await ask()).status).toBe(429);
  const { page } = await open(service(), { email });
  await page.goto(`/agents/${id}`);
  await page.getByText('20 of 20 requests are pending: further escalations are refused').waitFor();
  await page.getByText('requests.open_max').waitFor();
  const refused = page.getByRole('listitem').filter({ hasText: 'Too many pending requests' });
  expect(await refused.textContent()).toContain('3');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goto('/overview');
  await page.getByRole('listitem').filter({ hasText: 'Too many pending requests' }).waitFor();
});

test('on a phone an agent takes two lines of the list', async () => {
  await people();
  await register('listed');
  const { page } = await open(service(), { email, size: sizes.phone });
  await page.goto('/agents?text=listed');
  const row = page.getByRole('row').filter({ hasText: 'listed' });
  await row.waitFor();
  expect((await row.boundingBox())?.height).toBeLessThan(90);
  expect(await row.getByText('low risk').isVisible()).toBe(true);
  expect(await row.locator('[data-label="Signs"]').isVisible()).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.setViewportSize(sizes.laptop);
  expect(await row.locator('[data-label="Signs"]').isVisible()).toBe(true);
});
