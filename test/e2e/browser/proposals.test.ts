// Proposals in a browser: one from the playground and one from a suggestion, what their pages show, and how another
// admin accepts and rejects them, at the width of a phone, too.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { firstAdmin, personWith, tokenClient } from '../../service/http/person-client.ts';
import { shareService } from '../../service/http/service.ts';
import { ask } from '../../service/http/written-policies.ts';
import { isOnPostgres } from '../../service/store/place.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';

const policies = (limit: number): string => `approvers finance "Finance"
action pay.make { amount: number 0.01.. }
policy p on pay.make {
  allow small when payload.amount <= ${limit} because "Small"
}
guarantee ceiling on pay.make {
  never allow when payload.amount > 10_000
}
`;

const service = shareService({ startsWith: policies(1_000), isInFile: !isOnPostgres });
const open = shareBrowser();
const phone = { width: 390, height: 844 };

test('a change is proposed, looked at and accepted by somebody else', async () => {
  const admin = await firstAdmin(service());
  const bob = await personWith(service(), admin, { email: 'bob@example.com', roles: ['admin'] });
  const { page } = await open(service(), { email: 'ann@example.com' });
  await page.goto('/proposals');
  await page.getByText('No proposals').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  // From a suggestion on the page of a refused request.
  const { request_id: id } = await ask(service(), 'pay.make', { payload: { amount: 1_200 } });
  await page.goto(`/requests/${id}`);
  await page.getByRole('button', { name: 'Suggest a change' }).click();
  await page.getByRole('button', { name: 'Propose… this change' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('The vendor sends larger bills now');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Propose' }).click();
  await page.getByRole('heading', { name: 'The vendor sends larger bills now' }).waitFor();
  await page.getByText('Widens', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Decisions that differ' }).getByText('1 loosened').waitFor();
  await page.getByRole('region', { name: 'About' }).getByRole('link', { name: id }).waitFor();
  expect(await page.getByRole('button', { name: 'Accept…' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Withdraw…' }).click();
  await dialog.getByRole('button', { name: 'Withdraw' }).click();
  await page.getByText('Withdrawn', { exact: true }).first().waitFor();

  // From elsewhere: the list and the page follow.
  const { digest } = service().policies.current();
  const propose = (limit: number) =>
    bob.send('/v1/policies/proposals', {
      method: 'POST',
      body: {
        active_digest: digest,
        reason: `A limit of ${limit}`,
        files: [{ path: 'demo.policy', text: policies(limit) }],
      },
    });
  await propose(20_000);
  await propose(500);
  await page.setViewportSize(phone);
  await page.goto('/proposals?status=pending');
  await page.getByRole('link', { name: 'A limit of 20000' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(phone.width);
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.getByRole('link', { name: 'A limit of 20000' }).click();
  await page.getByText('Breaks a guarantee', { exact: true }).waitFor();
  await page.getByRole('list', { name: 'Broken guarantees' }).getByText('ceiling').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(phone.width);
  await page.getByRole('button', { name: 'Accept…' }).click();
  await dialog.getByLabel('Reason').fill('no');
  expect(await dialog.getByRole('button', { name: 'Accept', exact: true }).isDisabled()).toBe(true);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Reject…' }).click();
  await dialog.getByLabel('Reason').fill('the ceiling stays');
  await dialog.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Rejected', { exact: true }).first().waitFor();
  await page.getByText('the ceiling stays').waitFor();

  await page.goto('/proposals?status=pending');
  await page.getByRole('link', { name: 'A limit of 500' }).click();
  await page.getByText('Narrows', { exact: true }).waitFor();
  await page
    .getByRole('region', { name: 'Changes of demo.policy' })
    .getByText('payload.amount <= 500')
    .waitFor();
  await page.getByRole('button', { name: 'Accept…' }).click();
  await dialog.getByLabel('Reason').fill('agreed');
  await dialog.getByRole('button', { name: 'Accept' }).click();
  await page.getByText('Accepted', { exact: true }).first().waitFor();
  if (isOnPostgres) await page.getByText('apply the patch below').waitFor();
  else {
    await page.getByText('The proposed policies became active').waitFor();
    expect(readFileSync(service().policyFile, 'utf8')).toBe(policies(500));
  }
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('the draft of the playground is proposed', async () => {
  const { page } = await open(service(), { email: 'ann@example.com' });
  const { digest } = service().policies.current();
  const client = await tokenClient(service(), (await firstPerson())!);
  const text = `${readFileSync(service().policyFile, 'utf8')}policy q on pay.make { deny odd when payload.amount == 13 because "Odd" }\n`;
  const saved = await client.send('/v1/policies/draft', {
    method: 'PUT',
    body: { files: [{ path: 'demo.policy', text }], version: 0 },
  });
  expect([saved.status, saved.body.policy_set]).toEqual([200, digest]);
  await page.goto('/playground');
  await page.getByRole('button', { name: 'Open it' }).click();
  await page.getByRole('button', { name: 'My draft (1)' }).click();
  await page.getByRole('button', { name: 'Propose… the draft' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('Thirteen is odd');
  await dialog.getByRole('button', { name: 'Propose' }).click();
  await page.getByRole('heading', { name: 'Thirteen is odd' }).waitFor();
  await page.getByText('Narrows', { exact: true }).waitFor();
});

async function firstPerson() {
  const { createDirectory } = await import('../../../src/service/people/directory.ts');
  const { people } = createDirectory(service().store.documents, Date.now);
  return (await people.findByName('ann@example.com'))?.value;
}
