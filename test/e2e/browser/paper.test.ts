// Pages on paper: what is printed and what is left out, whatever the screen looks like.

import { expect, test } from 'vitest';
import { shareService } from '../../service/http/service.ts';
import { shareBrowser } from './browser.ts';
import { hostile, type Payments, payments } from './payments.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';
let scene: Promise<Payments> | null = null;

function world(): Promise<Payments> {
  scene ??= payments(service());
  return scene;
}

test('a printed request and audit page are complete, light and exact, without buttons', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', hostile);
  const { page } = await open(service(), { email, theme: 'dark' });
  await page.goto(`/requests/${id}`);
  await page.getByText('1 part is folded').waitFor();
  expect(await page.locator('.printed').count()).toBe(0);
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 718, height: 1_046 });
  await page.getByText('Unfolded: everything is shown').waitFor();
  await page.getByText('Printed').getByText(`/requests/${id}`).waitFor();
  const whole = await page.locator('.copy pre:visible').allTextContents();
  expect(whole).toEqual([
    id,
    expect.stringMatching(/^[0-9a-f]{64}$/),
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ]);
  expect(await page.locator('button:visible, nav:visible, .button:visible, form:visible').count()).toBe(0);
  expect(await page.evaluate(lookOfPaper)).toEqual({
    ground: 'rgb(255, 255, 255)',
    ink: 'rgb(22, 24, 29)',
    // Paper shows the time of an event, and not how long ago it was.
    ago: '0px',
    exact: expect.stringMatching(/20\d\d, \d/),
    isTooWide: false,
    ofLine: 'avoid-page',
  });
  await page.goto('/audit?who=ann');
  const rest = page.locator('.audit-rest dl').first();
  await rest.waitFor();
  expect(await rest.isVisible()).toBe(true);
  expect(await page.locator('button:visible, .button:visible, input:visible, select:visible').count()).toBe(
    0,
  );
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.getByText('Printed').getByText('/audit?who=ann').waitFor();
  await page.emulateMedia({ media: 'screen' });
  expect(await rest.isVisible()).toBe(false);
  await page.locator('.printed').waitFor({ state: 'detached' });
  // The browser prints right after the event `beforeprint`.
  const shown = "Promise.resolve().then(() => document.querySelectorAll('.printed').length)";
  expect(await page.evaluate(`dispatchEvent(new Event('beforeprint')), ${shown}`)).toBe(1);
});

/** Runs in the page. */
function lookOfPaper() {
  const ago = document.querySelector('.ago') ?? document.body;
  const html = getComputedStyle(document.documentElement);
  return {
    ground: html.backgroundColor,
    ink: html.color,
    ago: getComputedStyle(ago).fontSize,
    exact: getComputedStyle(ago, '::after').content,
    isTooWide: document.documentElement.scrollWidth > innerWidth,
    ofLine: getComputedStyle(document.querySelector('main li') ?? document.body).breakInside,
  };
}
