// A plan in the dashboard: one row of the inbox, approved whole with three touches on a phone, or in part; its requests
// name it, and the agent goes on with each of its steps.

import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { firstAdmin, personWith, send, signedIn } from '../../service/http/person-client.ts';
import { authorize, type Service, startService } from '../../service/http/service.ts';
import { ask } from '../../service/http/written-policies.ts';
import { accessibilityFaults, type Page, shareBrowser, sizes } from './browser.ts';
import { eventually } from './payments.ts';

const open = shareBrowser();

const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.send, pay.risky "Pay {amount} to {vendor}" { amount: money(currency), currency: string, vendor: string }
action doc.sign "Sign {name}" { name: string }
action doc.read { path: string }
policy pay on pay.* {
  allow small for 10m
  escalate large to finance within 2h when payload.amount > 100 USD because "Over 100 USD"
  escalate risky to finance within 3h when action.key == "pay.risky" risk +85
}
policy docs on doc.* {
  allow all
  escalate sign to legal within 1h when action.key == "doc.sign" because "Legal signs"
}
`;

const phone = { width: 390, height: 844 };

interface Step {
  readonly action_key: string;
  readonly payload: object;
}

const pay = (amount: number, vendor: string, action_key = 'pay.send'): Step => ({
  action_key,
  payload: { amount, currency: 'USD', vendor },
});

async function start() {
  const service = await startService({ startsWith: policies, openRequestsMax: 100 });
  const admin = await firstAdmin(service);
  for (const [email, group] of [
    ['ben@example.com', 'finance'],
    ['lea@example.com', 'legal'],
  ] as const)
    await personWith(service, admin, { email, roles: ['approver'], groups: [group] });
  return service;
}

async function submit(service: Service, goal: string, steps: readonly Step[]) {
  const headers = { 'x-agent-api-key': service.apiKey };
  const body = { goal, steps, submit: true };
  const reply = await send(service, '/v1/plans', { method: 'POST', headers, body });
  expect(reply.status).toBe(200);
  return reply.body;
}

async function execute(service: Service, step: Step) {
  const reply = await authorize(service, { body: JSON.stringify(step), headers: { prefer: 'attach' } });
  return (await reply.json()) as { readonly decision: string; readonly request_id: string };
}

/** Keeps a picture when a folder for pictures is named. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.WRIT_PLAN_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth');

test('twelve steps are approved with three touches on a phone, and the agent executes all of them', async () => {
  const service = await start();
  const steps = Array.from({ length: 12 }, (_, at) => pay(200 + at, `Vendor ${at + 1}`));
  const plan = await submit(service, 'Pay the invoices of May', steps);
  const other = await ask(service, 'pay.send', { payload: pay(999, 'Alone').payload });
  const { page } = await open(service, { email: 'ben@example.com', size: phone });
  await page.goto('/approvals');
  const row = page.getByRole('link', { name: 'Pay the invoices of May' });
  await row.waitFor();
  // One row for the plan, and one for the other request.
  expect(await page.locator('a[data-row]').count()).toBe(2);
  await page.getByText('Plan of 12 steps: 12 to decide').waitFor();
  const titles = await page
    .locator('td.approvals-subject:has(a[data-plan]) .approvals-beneath')
    .allTextContents();
  expect(titles.slice(0, 3)).toEqual(
    [1, 2, 3].map((step) => `${step}. Pay ${199 + step}.00 USD to Vendor ${step}`),
  );
  // Nobody presses a key on a phone.
  expect(await page.getByText('for keyboard shortcuts').isVisible()).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  await picture(page, 'inbox-phone');

  await row.click();
  const approve = page.getByRole('button', { name: 'Approve 12…' });
  await approve.waitFor();
  await page.getByText('2,466.00 USD').waitFor();
  expect(await isTooWide(page)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  await picture(page, 'plan-phone');

  // A link opens the page without the inbox before it.
  await page.reload();
  await approve.click();
  const dialog = page.getByRole('dialog', { name: 'Approve 12 requests' });
  await dialog.waitFor();
  expect(await page.evaluate(`getComputedStyle(document.querySelector('dialog li')).display`)).toBe('grid');
  expect(await accessibilityFaults(page)).toEqual([]);
  await picture(page, 'confirm-phone');

  await dialog.getByRole('button', { name: 'Approve 12', exact: true }).click();
  await page.getByRole('dialog', { name: '12 of 12 recorded' }).waitFor();

  for (const [at, step] of steps.entries())
    expect(await execute(service, step)).toMatchObject({
      decision: 'ALLOW',
      request_id: plan.steps[at].request_id,
    });
  expect((await execute(service, pay(200, 'Vendor 1.'))).decision).toBe('ESCALATE');
  expect((await service.store.requests.find(other.request_id))?.status).toBe('pending');
});

test('single steps are excluded or rejected; steps of other approvers, or to be opened first, stay pending', async () => {
  const service = await start();
  const sign: Step = { action_key: 'doc.sign', payload: { name: 'contract' } };
  const read: Step = { action_key: 'doc.read', payload: { path: '/a' } };
  const steps = [
    pay(200, 'Acme'),
    pay(300, 'Bolt'),
    sign,
    pay(50, 'Risk', 'pay.risky'),
    read,
    pay(400, 'Cog'),
  ];
  const plan = await submit(service, 'Close the deal', steps);
  const { page } = await open(service, {
    email: 'ben@example.com',
    size: sizes.laptop,
    expected: /Failed to load/,
  });
  await page.goto('/approvals');
  await page.getByRole('link', { name: 'Close the deal' }).focus();
  // Its steps are in their order, whichever is due first.
  const listed = await page.locator('.approvals-beneath', { hasText: /^\d\. / }).allInnerTexts();
  const numbers = listed.map((text) => Number.parseInt(text, 10));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(numbers.length).toBeGreaterThan(1);
  // A plan has no preview, and the key of a vote opens the vote on its page.
  await page.keyboard.press(' ');
  expect(await page.getByRole('complementary', { name: 'Preview' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Close the deal' }).click();
  await page.getByText('plans 6 steps, of which 5 are pending').waitFor();
  const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]');
  expect(await current.allTextContents()).toEqual([expect.stringMatching(/^Inbox/)]);
  // The nearest deadline of what Ben can decide, as in the inbox.
  await page.getByText(/^1 h 5\d min/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await picture(page, 'plan-laptop');
  // Two others are for legal, or for nobody: they are listed and cannot be chosen.
  expect(await page.getByRole('checkbox').count()).toBe(4);
  await page.getByText('Open it to decide: its risk is high').waitFor();
  await page.getByRole('checkbox', { name: 'Choose step 2' }).uncheck();
  await page.getByText('3 of 4 chosen').waitFor();
  await page.getByRole('button', { name: 'Approve 2…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Approve 2', exact: true }).click();
  await page.getByRole('dialog', { name: '2 of 3 recorded' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('plans 6 steps, of which 3 are pending').waitFor();
  await page.getByRole('checkbox', { name: 'Choose step 4' }).uncheck();
  await page.getByRole('checkbox', { name: 'Choose step 2' }).check();
  await page.getByRole('button', { name: 'Reject 1…' }).click();
  await dialog.getByLabel('Why you reject').fill('not this one');
  await dialog.getByRole('button', { name: 'Reject 1 permanently' }).click();
  await page.getByRole('dialog', { name: '1 of 1 recorded' }).waitFor();
  const statuses = async () =>
    Promise.all(
      plan.steps.map(async ({ request_id: id }: { readonly request_id: string | null }) =>
        id === null ? null : (await service.store.requests.find(id))?.status,
      ),
    );
  await eventually(statuses).toEqual(['approved', 'rejected', 'pending', 'pending', null, 'approved']);
  await page.keyboard.press('Escape');
  // The page of a request links to its plan.
  await page.goto(`/requests/${plan.steps[1].request_id}`);
  await page.getByRole('link', { name: 'Step 2 of 6' }).click();
  await page.getByRole('heading', { name: 'Close the deal' }).waitFor();
  await page.goto(`/approvals/${plan.steps[3].request_id}`);
  await page.getByRole('link', { name: 'Step 4 of 6' }).waitFor();
  await page.goto('/plans/none');
  await page.getByText('no such plan').waitFor();
});

test('all plans are listed by their state, and the menu marks the inbox', async () => {
  const service = await start();
  await submit(service, 'Pay the invoices of May', [pay(200, 'Acme'), pay(300, 'Bolt')]);
  const decided = await submit(service, 'Pay the invoices of June', [pay(400, 'Cog')]);
  const headers = { 'x-agent-api-key': service.apiKey };
  const preview = { goal: 'Look at July', steps: [pay(500, 'Dot')] };
  await send(service, '/v1/plans', { method: 'POST', headers, body: preview });
  const ben = await signedIn(service, 'ben@example.com');
  await ben.send(`/v1/plans/${decided.plan_id}/votes`, {
    method: 'POST',
    body: { vote: 'approve', comment: '' },
  });
  const { page } = await open(service, { email: 'ann@example.com', size: sizes.laptop });
  await page.goto('/approvals');
  await page.getByRole('link', { name: 'Plans', exact: true }).click();
  const rows = page.getByRole('table', { name: 'Plans' }).getByRole('row');
  await page.getByRole('link', { name: 'Look at July' }).waitFor();
  expect(await rows.count()).toBe(4);
  const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]');
  expect(await current.allTextContents()).toEqual([expect.stringMatching(/^Inbox/)]);
  expect(await accessibilityFaults(page)).toEqual([]);
  await picture(page, 'plans-laptop');
  for (const [state, goal, text] of [
    ['pending', 'Pay the invoices of May', 'Pending: 2 steps'],
    ['decided', 'Pay the invoices of June', 'Decided'],
    ['preview', 'Look at July', 'Preview'],
  ] as const) {
    await page.getByLabel('State').selectOption(state);
    await page.getByRole('link', { name: goal }).waitFor();
    await eventually(() => rows.count()).toBe(2);
    await rows.nth(1).getByText(text, { exact: true }).waitFor();
  }
  await page.goto('/standing-approvals');
  await page.getByRole('heading', { name: 'Standing approvals', exact: true }).waitFor();
  expect(await current.allTextContents()).toEqual([expect.stringMatching(/^Inbox/)]);
});
