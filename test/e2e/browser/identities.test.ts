// The identities on an agent's page: adding and removing one, what the service refuses, and who sees them.

import { expect, test } from 'vitest';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { shareService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';

const issuer = 'https://issuer.example.com';
const service = shareService({
  agentIssuers: [
    {
      issuer,
      audience: 'https://writ.example.com',
      keys: 'https://issuer.example.com/keys',
      lifetimeSeconds: 900,
    },
  ],
});
const open = shareBrowser();

test('an identity is added and removed on the page of the agent', async () => {
  const admin = await firstAdmin(service());
  await personWith(service(), admin, { email: 'audrey@example.com', roles: ['auditor'] });
  const { page } = await open(service(), { email: 'ann@example.com', expected: /status of 400/ });
  await page.goto(`/agents/${service().agent.id}`);
  const section = page.getByRole('region', { name: 'Identities' });
  await section.getByText('known by its keys only').waitFor();
  await section.getByRole('button', { name: 'Add' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Issuer').fill('https://evil.example.com');
  await dialog
    .getByLabel('Required token claims')
    .fill('sub=spiffe://example.org/ns/pay/*\nref=main\nref=test');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText('names `https://issuer.example.com`').first().waitFor();
  await dialog.getByLabel('Issuer').fill(issuer);
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add' }).click();
  await section.getByText('main or test').waitFor();
  await section.getByText('Active').waitFor();
  await section.getByText('never').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  if (process.env.WRIT_PICTURE !== undefined)
    await page.screenshot({ path: process.env.WRIT_PICTURE, fullPage: true });
  const auditor = await open(service(), { email: 'audrey@example.com' });
  await auditor.page.goto(`/agents/${service().agent.id}`);
  const seen = auditor.page.getByRole('region', { name: 'Identities' });
  await seen.getByText('main or test').waitFor();
  expect(await seen.getByRole('button').count()).toBe(0);
  await section.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await section.getByText('Ended').waitFor();
});
