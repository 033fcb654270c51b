// Each form says each mistake once, at its field, and puts the focus there. The service is made to find something
// wrong with every field of the body that the form sends, so what is checked does not depend on what it accepts.

import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { startService } from '../../service/http/service.ts';
import { accessibilityFaults, addPeople, shareBrowser, sizes } from './browser.ts';

const open = shareBrowser();

/** Answers a change as the service does, with one mistake for each field of its body. */
async function refuseAll(page: Page, refused: string[]): Promise<void> {
  const isSession = (path: string): boolean => path === '/v1/session' || path === '/v1/passwords/check';
  await page.route('**/v1/**', async (route: Route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    const body = request.postDataJSON() as Record<string, unknown> | null;
    if (request.method() === 'GET' || body === null || isSession(pathname)) return await route.continue();
    const fields = Object.keys(body).filter(
      (name) => !['token', 'refusal_hints', 'may_release'].includes(name),
    );
    refused.splice(0, refused.length, ...fields.map((name) => `the value of ${name} is odd`));
    await route.fulfill({
      status: 400,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: 'urn:writ:error:invalid_body',
        title: 'Some fields of the body are missing or invalid',
        status: 400,
        detail: refused[0],
        instance: '7d1e0000-0000-4000-8000-000000000000',
        errors: fields.map((name) => ({ pointer: `/${name}`, detail: `the value of ${name} is odd` })),
      }),
    });
  });
}

interface FormCase {
  readonly name: string;
  readonly address: string;
  /** Whether nobody is signed in. */
  readonly isPublic?: boolean;
  readonly fill: (page: Page) => Promise<void>;
  /** The text on the button that sends. */
  readonly send: string;
}

const fillAll = async (page: Page, values: Readonly<Record<string, string>>): Promise<void> => {
  for (const [label, value] of Object.entries(values))
    await page.getByLabel(label, { exact: true }).fill(value);
};
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const person = { 'Your name': 'Eve', 'E-mail address': 'eve@example.com' };
const strong = 'seven quiet harbours at dusk';

const cases: readonly FormCase[] = [
  {
    name: 'set-up',
    address: '/setup#token=abc',
    isPublic: true,
    fill: (page) => fillAll(page, { ...person, Password: strong }),
    send: 'Create account',
  },
  {
    name: 'application',
    address: '/apply',
    isPublic: true,
    fill: (page) => fillAll(page, { ...person, Reason: 'work' }),
    send: 'Apply',
  },
  {
    name: 'invitation',
    address: '/access?tab=invitations',
    fill: (page) => fillAll(page, { Name: 'Eve', 'E-mail address': 'eve@example.com' }),
    send: 'Create invitation',
  },
  {
    name: 'agent',
    address: '/agents/new',
    fill: (page) => fillAll(page, { Name: 'mailer' }),
    send: 'Register an agent',
  },
  {
    name: 'webhook',
    address: '/alerts?tab=webhooks',
    fill: async (page) => {
      await press(page, 'Add a webhook or chat');
      await fillAll(page, { Address: 'https://example.com/hook' });
    },
    send: 'Add the webhook',
  },
  {
    name: 'alert rule',
    address: '/alerts?tab=rules',
    fill: async (page) => {
      await press(page, 'Add a rule');
      await fillAll(page, { Name: 'Odd' });
    },
    send: 'Save',
  },
  {
    name: 'kill switch',
    address: '/account',
    fill: async (page) => {
      await press(page, 'Kill switch');
      await fillAll(page, { Agent: 'buyer', Reason: 'a test' });
    },
    send: 'Stop: one agent',
  },
  {
    name: 'enforcement point',
    address: '/enforcement-points',
    fill: async (page) => {
      await press(page, 'Register an enforcement point');
      await fillAll(page, { Name: 'gateway' });
    },
    send: 'Register',
  },
  {
    name: 'password',
    address: '/account',
    fill: (page) => fillAll(page, { 'New password': strong, 'Current password': 'correct horse battery' }),
    send: 'Change the password',
  },
  {
    name: 'token',
    address: '/account',
    fill: async (page) => {
      await press(page, 'Create a token');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('script');
      await dialog.getByLabel('Current password').fill('correct horse battery');
    },
    send: 'Create the token',
  },
];

test.each(cases)('the form of $name', async ({ address, isPublic = false, fill, send }) => {
  const service = await startService();
  await addPeople(service);
  const refused: string[] = [];
  const { page } = await open(service, {
    ...(isPublic ? {} : { email: 'ann@example.com' }),
    expected: /400|401/,
    size: sizes.laptop,
  });
  await page.goto(address);
  await refuseAll(page, refused);
  await fill(page);
  await press(page, send);
  await page.locator('.field-problem').first().waitFor();
  const shown = await page.locator('.field-problem').allInnerTexts();
  const sentences = refused.map((detail) => `${detail[0]?.toUpperCase()}${detail.slice(1)}.`);
  expect([...shown].sort()).toEqual([...sentences].sort());
  const text = await page.locator('body').innerText();
  for (const sentence of sentences) expect(text.split(sentence).length - 1, sentence).toBe(1);
  expect(text).not.toMatch(/(^|\s)\/[a-z_]+\b/);
  expect(await page.getByRole('alert').count()).toBe(0);
  const isAtField = await page.evaluate(
    `document.activeElement.matches('[aria-invalid="true"], [data-invalid] input')`,
  );
  expect(isAtField).toBe(true);
  expect(await accessibilityFaults(page)).toEqual([]);
});
