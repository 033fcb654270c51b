// A real browser on a real service: one Chromium per worker, a separate window for each person. INVARIANT: an
// error in the page, a violation of the content policy or a message on its console fails the test that caused
// it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { cookieOf, firstAdmin, password, personWith, send } from '../../service/http/person-client.ts';
import type { Service } from '../../service/http/service.ts';
import { findChromium } from './chromium.ts';

// For benchmarks, which have no packages of their own for browsers.
export type { Browser, CDPSession, Page } from 'playwright-core';

export const sizes = {
  laptop: { width: 1280, height: 800 },
  tablet: { width: 820, height: 1180 },
  phone: { width: 360, height: 740 },
} as const;

export interface WindowOptions {
  /** The person who is signed in; nobody when absent. */
  readonly email?: string;
  /** The person's one-time code, if codes are set up. */
  readonly code?: string;
  readonly theme?: 'light' | 'dark';
  readonly size?: { readonly width: number; readonly height: number };
  readonly hasTouch?: boolean;
  /** Console messages that the test causes, such as failed loads. */
  readonly expected?: RegExp;
}

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
}

const args = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Each window has a process of its own in any case; the limit avoids a spare process for the next window.
  '--renderer-process-limit=1',
];

/** Closed when the worker that runs the tests ends. */
let browser: Browser | null = null;

/** Returns a function that opens a window, which closes with its test. */
export function shareBrowser(): (service: Pick<Service, 'url'>, options?: WindowOptions) => Promise<Window> {
  beforeAll(async () => {
    if (browser?.isConnected() !== true) browser = await launchBrowser();
  });
  return async (service, options = {}) => {
    if (browser === null) throw new Error('only for use inside a test');
    return await openWindow(browser, service, options);
  };
}

export async function launchBrowser(): Promise<Browser> {
  const found = findChromium();
  if (found === null) throw new Error('there is no Chromium: run `node test/e2e/browser/install.ts`');
  return await chromium.launch({ executablePath: found.path, env: { ...process.env, ...found.env }, args });
}

async function openWindow(
  browser: Browser,
  service: Pick<Service, 'url'>,
  { email, code, theme = 'light', size = sizes.laptop, hasTouch = false, expected }: WindowOptions,
): Promise<Window> {
  const context = await browser.newContext({
    baseURL: service.url,
    viewport: size,
    hasTouch,
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  context.setDefaultTimeout(90_000);
  if (email !== undefined)
    await signInAs(context, service, { email, password, ...(code === undefined ? {} : { code }) });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`${error.message}\n${error.stack}`));
  page.on('console', (message) => {
    const isBad = message.type() === 'error' || message.type() === 'warning';
    const isExpected = expected?.test(message.text()) === true;
    if (isBad && !isExpected) faults.push(`${message.text()} (${message.location().url})`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  return { page, context };
}

/** Puts the cookie of a new session into the window. */
export async function signInAs(
  context: BrowserContext,
  service: Pick<Service, 'url'>,
  account: { readonly email: string; readonly password: string; readonly code?: string },
): Promise<void> {
  const { email, password: own, code } = account;
  const answer = await send(service, '/v1/session', {
    method: 'POST',
    body: { email, password: own, ...(code && { code }) },
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  const [name = '', value = ''] = cookieOf(answer).split('=');
  await context.addCookies([{ name, value, url: service.url, httpOnly: true, sameSite: 'Strict' }]);
}

const require = createRequire(import.meta.url);
let axeSource: string | null = null;

/**
 * The faults that axe finds on the page, as text; empty when there are none. WCAG 2.2 AA and best practices.
 */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  axeSource ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  // A page keeps the script until it loads another address.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(axeSource);
  const violations = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )) as readonly { id: string; help: string; nodes: readonly { html: string; failureSummary?: string }[] }[];
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
  );
}

/** Adds an admin, and two approvers of finance, each named by an address; all have the same password. */
export async function addPeople(service: Service): Promise<void> {
  const admin = await firstAdmin(service);
  const approver = { roles: ['approver'] as const, groups: ['finance'] };
  await personWith(service, admin, { email: 'ben@example.com', ...approver });
  await personWith(service, admin, { email: 'cleo@example.com', ...approver });
}
