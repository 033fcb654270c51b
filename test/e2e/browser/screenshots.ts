// `node test/e2e/browser/screenshots.ts [--out FOLDER] [--only NAME,...] [--docs]`: takes pictures of every page
// of a service with a week of history, in both themes at three sizes and on paper, as PNG files for people to
// look at. With `--docs` it also replaces those of docs/pictures, and the clip. Prints console messages, pages that
// are too wide and the findings of axe; any of these ends it with exit code 1.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { type Demo, openDemo } from '../../../src/packaging/demo/demo.ts';
import { accessibilityFaults, launchBrowser, signInAs, sizes } from './browser.ts';
import { takeClip } from './clip.ts';

const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'var/screenshots' },
    only: { type: 'string', default: '' },
    docs: { type: 'boolean', default: false },
  },
});

/** A page to photograph, and what to wait for if some of it comes late. */
interface Shot {
  readonly name: string;
  readonly address: string;
  readonly isPublic?: boolean;
  readonly waitFor?: string;
}

function shotsOf({ shown }: Demo): readonly Shot[] {
  return [
    { name: 'overview', address: '/overview', waitFor: '.overview-canvas canvas' },
    { name: 'overview-week', address: '/overview?range=7d&hide=allow', waitFor: '.overview-canvas canvas' },
    { name: 'requests', address: '/requests' },
    { name: 'request', address: `/requests/${shown.request}` },
    { name: 'approvals', address: '/approvals' },
    { name: 'approval', address: `/approvals/${shown.approval}` },
    { name: 'agents', address: '/agents' },
    { name: 'agent-new', address: '/agents/new' },
    { name: 'agent', address: `/agents/${shown.agent}` },
    { name: 'policies', address: '/policies' },
    { name: 'policies-sentences', address: '/policies?tab=sentences' },
    { name: 'policies-hits', address: '/policies?tab=hits' },
    { name: 'policies-history', address: '/policies?tab=history' },
    { name: 'policy-file', address: '/policies/file?path=payments%2Fpayments.policy' },
    {
      name: 'playground',
      address: `/playground?request=${shown.request}&file=payments%2Fpayments.policy`,
      waitFor: '.cm-content',
    },
    { name: 'diff', address: '/diff' },
    { name: 'proposals', address: '/proposals' },
    { name: 'alerts', address: '/alerts' },
    { name: 'alert-rules', address: '/alerts?tab=rules' },
    { name: 'webhooks', address: '/alerts?tab=webhooks' },
    { name: 'points', address: '/enforcement-points' },
    { name: 'access', address: '/access' },
    { name: 'applications', address: '/access?tab=applications' },
    { name: 'invitations', address: '/access?tab=invitations' },
    { name: 'audit', address: '/audit' },
    { name: 'account', address: '/account' },
    { name: 'welcome', address: '/welcome' },
    { name: 'nothing-here', address: '/no/such/page' },
    { name: 'sign-in', address: '/overview', isPublic: true },
    { name: 'setup', address: '/setup', isPublic: true },
    { name: 'invitation', address: '/invitation', isPublic: true },
    { name: 'reset', address: '/reset', isPublic: true },
    { name: 'apply', address: '/apply', isPublic: true },
  ];
}

const docsFolder = join(import.meta.dirname, '../../../docs/pictures');
const documented = [
  'overview-light',
  'overview-dark',
  'approval-light',
  'request-dark',
  'playground-light',
  'approval-phone',
];

const looks = [
  { name: 'light', theme: 'light', size: { width: 1440, height: 900 } },
  { name: 'dark', theme: 'dark', size: { width: 1440, height: 900 } },
  { name: 'tablet', theme: 'light', size: sizes.tablet },
  { name: 'tablet-dark', theme: 'dark', size: sizes.tablet },
  { name: 'phone', theme: 'light', size: sizes.phone },
  { name: 'phone-dark', theme: 'dark', size: sizes.phone },
  // A sheet of A4 within its margins; paper is light even with a dark screen.
  { name: 'print', theme: 'dark', size: { width: 718, height: 1_046 }, media: 'print' },
] as const;

async function picture(browser: Browser, demo: Demo, look: (typeof looks)[number]): Promise<number> {
  let faults = 0;
  const signedIn = await openContext(browser, demo, look);
  await signInAs(signedIn, demo.server, demo.account);
  const stranger = await openContext(browser, demo, look);
  for (const { name, address, isPublic = false, waitFor } of shotsOf(demo)) {
    if (options.only !== '' && !options.only.split(',').includes(name)) continue;
    const page = await (isPublic ? stranger : signedIn).newPage();
    const say = (text: string): void => {
      faults += 1;
      console.error(`${look.name} ${name}: ${text}`);
    };
    page.on('pageerror', (error) => say(error.message));
    page.on('console', (message) => {
      const isExpected = isPublic ? message.text().includes('401') : message.text().includes('404');
      if (['error', 'warning'].includes(message.type()) && !isExpected) say(message.text());
    });
    await openAt(page, address);
    await page.locator('h1').waitFor();
    for (let tries = 0; (await page.locator('.loading').count()) > 0; tries += 1) {
      if (tries === 100) say('is still loading');
      if (tries === 100) break;
      await page.waitForTimeout(100);
    }
    if (waitFor !== undefined) await page.locator(waitFor).first().waitFor();
    if ('media' in look) await page.emulateMedia({ media: look.media });
    await page.waitForTimeout(400);
    if (!('media' in look)) for (const fault of await accessibilityFaults(page)) say(fault);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if (Number(overflow) > 0) say(`is ${overflow} px too wide`);
    await page.screenshot({ path: join(options.out, `${name}-${look.name}.png`), fullPage: true });
    if (options.docs && documented.includes(`${name}-${look.name}`))
      await page.screenshot({ path: join(docsFolder, `${name}-${look.name}.png`) });
    await page.close();
  }
  await signedIn.close();
  await stranger.close();
  return faults;
}

/** Navigates inside of the page to an address that the service does not serve as a page. */
async function openAt(page: Page, address: string): Promise<void> {
  const answer = await page.goto(address);
  if (answer?.status() !== 404) return;
  await page.goto('/account');
  await page.evaluate(
    `history.pushState(null, '', '${address}'); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

async function openContext(
  browser: Browser,
  { server: { url } }: Demo,
  { theme, size }: (typeof looks)[number],
) {
  const context = await browser.newContext({
    baseURL: url,
    viewport: size,
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  context.setDefaultTimeout(10_000);
  return context;
}

mkdirSync(options.out, { recursive: true });
if (options.docs) mkdirSync(docsFolder, { recursive: true });
const demo = await openDemo({ port: '0', count: 1_400, isLive: false, isMarked: false });
if (demo === null) process.exit(1);
const browser = await launchBrowser();
try {
  let faults = 0;
  for (const look of looks) faults += await picture(browser, demo, look);
  if (options.docs) await takeClip(browser, demo, join(docsFolder, 'approval-clip.png'));
  console.log(`pictures are in ${options.out}; ${faults} faults`);
  if (faults > 0) process.exitCode = 1;
} finally {
  await browser.close();
  await demo.server.stop();
}
