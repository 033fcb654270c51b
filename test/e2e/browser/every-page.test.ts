// Every entry of the dashboard's page table, on a phone in light and on a desk in dark colours: it loads, fits the
// window and has no accessibility fault.

import type { Page as BrowserPage } from 'playwright-core';
import { expect, test } from 'vitest';
import { firstAdmin, signedIn } from '../../service/http/person-client.ts';
import { type Service, shareService } from '../../service/http/service.ts';
import { ask } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';

/** Imported by its address, so that the components that it names are not type-checked here. */
const tableUrl = new URL('../../../src/dashboard/pages.ts', import.meta.url).href;
const { pages } = (await import(tableUrl)) as {
  readonly pages: readonly { readonly pattern: string; readonly access: string }[];
};

test('no page has an accessibility fault or is wider than the window', async () => {
  await firstAdmin(service());
  const address = await addresses(service());
  const looks = [
    { theme: 'light', size: { width: 390, height: 844 } },
    { theme: 'dark', size: { width: 1440, height: 900 } },
  ] as const;
  for (const look of looks) {
    const person = await open(service(), { ...look, email });
    const nobody = await open(service(), { ...look, expected: /401/ });
    for (const { pattern, access } of pages) {
      const { page } = access === 'public' ? nobody : person;
      const faults = await faultsAt(page, address(pattern));
      expect(faults, `${pattern} at ${look.size.width} px, ${look.theme}`).toEqual([]);
    }
  }
});

/** Opens the address and returns what is wrong with the page once it has loaded. */
async function faultsAt(page: BrowserPage, address: string): Promise<readonly string[]> {
  await page.goto(address);
  await page.locator('h1').waitFor();
  await expect.poll(() => page.locator('.loading').count(), { timeout: 30_000 }).toBe(0);
  const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...(isTooWide ? ['wider than the window'] : []), ...(await accessibilityFaults(page))];
}

/** The address of a page that shows something, by the pattern of the page. */
async function addresses(service: Service): Promise<(pattern: string) => string> {
  const ann = await signedIn(service, email);
  const { request_id: request } = await ask(service, 'demo.escalate');
  const point = await ann.send('/v1/enforcement-points', {
    method: 'POST',
    body: { name: 'proxy', agents: [service.agent.id] },
  });
  const [file] = (await ann.send('/v1/policies/files')).body.items;
  const withIds: Readonly<Record<string, string>> = {
    '/requests/:id': `/requests/${request}`,
    '/approvals/:id': `/approvals/${request}`,
    '/agents/:id': `/agents/${service.agent.id}`,
    '/enforcement-points/:id': `/enforcement-points/${point.body.point.id}`,
    '/policies/file': `/policies/file?${new URLSearchParams({ path: file.path })}`,
  };
  return (pattern) => {
    const address = withIds[pattern] ?? pattern;
    if (address.includes(':')) throw new Error(`no address for ${pattern}`);
    return address;
  };
}
