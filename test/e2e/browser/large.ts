// `node test/e2e/browser/large.ts [--requests 100000]`: how long the list of requests takes in a browser with
// this many requests stored, compared with the management API. Measures the time from the address to usable
// rows, and from a filter to its rows.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { createApp } from '../../../src/service/http/app.ts';
import { tokenDigest } from '../../../src/service/http/resources/policies/plants.ts';
import { openPolicies } from '../../../src/service/policies/policy-host.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { firstAdmin, password } from '../../service/http/person-client.ts';
import { launchBrowser, signInAs, sizes } from './browser.ts';
import { appendCopies } from './many-requests.ts';

const { values: options } = parseArgs({ options: { requests: { type: 'string', default: '100000' } } });
const rounds = 9;

interface Measured {
  readonly name: string;
  readonly screenMs: readonly number[];
  readonly callMs: readonly number[];
}

const directory = mkdtempSync(join(tmpdir(), 'writ-large-'));
const store = await openStore({ path: join(directory, 'writ.db') });
const policies = await openPolicies({ directory: join(import.meta.dirname, '../../../policies') });
const app = createApp({
  store,
  policies,
  sandboxTokenDigest: tokenDigest('large'),
  bodyBytesMax: 256 * 1024,
  rate: { perMinute: 60_000, burst: 10_000 },
  log: { level: 'warn', stream: { write: (line) => console.error(line) } },
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
try {
  await fill(Number(options.requests));
  for (const measured of await measure()) print(measured);
} finally {
  await app.close();
  await policies.close();
  await store.close();
  rmSync(directory, { recursive: true, force: true });
}

async function fill(count: number): Promise<void> {
  const draft = { name: 'buyer', riskTier: 'low', controlOwner: 'ann@example.com', tags: [] } as const;
  const added = await addAgent(store, draft);
  if (added.kind !== 'added') throw new Error(added.kind);
  const ask = async (payload: object): Promise<string> => {
    const reply = await fetch(`${url}/v1/authorize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-api-key': added.apiKey },
      body: JSON.stringify({ action_key: 'payment.create', payload }),
    });
    return ((await reply.json()) as { request_id: string }).request_id;
  };
  const denied = await ask({ amount: 50_000, currency: 'USD', vendor: 'Nobody' });
  const granted = await ask({ amount: 120, currency: 'USD', vendor: 'Staples', description: 'paper' });
  await appendCopies(store, granted, Math.floor(count / 2));
  await appendCopies(store, denied, 60);
  await appendCopies(store, granted, Math.ceil(count / 2));
}

async function measure(): Promise<readonly Measured[]> {
  const { email } = await firstAdmin({ store } as Parameters<typeof firstAdmin>[0]);
  const browser = await launchBrowser();
  const context = await browser.newContext({ baseURL: url, viewport: sizes.laptop });
  await signInAs(context, { url } as Parameters<typeof signInAs>[1], { email, password });
  const page = await context.newPage();
  const results = [
    await timed(page, {
      name: 'opened: rows stand there and answer to keys',
      query: 'limit=50',
      run: async () => {
        await page.goto('/requests');
        await page.locator('a[data-row]').nth(49).waitFor();
        await page.keyboard.press('j');
        await page.locator('a[data-row]:focus').waitFor();
      },
    }),
    await timed(page, {
      name: 'filter set: rows of another decision',
      query: 'limit=50&decision=ALLOW',
      before: () => settled(page, '/requests?policy=vendor_payments'),
      run: async () => {
        await page.getByLabel('Decision').selectOption('ALLOW');
        await page.locator('[aria-busy=false] a[data-row]').first().waitFor();
      },
    }),
    await timed(page, {
      name: 'filter taken away',
      query: 'limit=50',
      before: () => settled(page, '/requests?agent=buyer'),
      run: async () => {
        await page.getByRole('button', { name: 'Remove the filter' }).click();
        await page.locator('[aria-busy=false] a[data-row]').first().waitFor();
      },
    }),
    await timed(page, {
      name: 'found in the middle of all, page by page',
      query: 'limit=50&decision=DENY',
      before: () => settled(page, '/requests'),
      run: async () => {
        await page.getByLabel('Decision').selectOption('DENY');
        await page.locator('tbody .badge-deny').first().waitFor();
      },
    }),
  ];
  await browser.close();
  return results;
}

async function settled(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('[aria-busy=false] a[data-row]').first().waitFor();
}

interface Timing {
  readonly name: string;
  readonly query: string;
  readonly before?: () => Promise<unknown>;
  readonly run: () => Promise<void>;
}

async function timed(page: Page, { name, query, before, run }: Timing): Promise<Measured> {
  const screenMs: number[] = [];
  const callMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await before?.();
    const begun = performance.now();
    await run();
    screenMs.push(performance.now() - begun);
    const text = `(async () => {
      const begun = performance.now();
      await (await fetch('/v1/requests?${query}')).json();
      return performance.now() - begun;
    })()`;
    callMs.push(Number(await page.evaluate(text)));
  }
  return { name, screenMs, callMs };
}

function print({ name, screenMs, callMs }: Measured): void {
  const [screen, call] = [middle(screenMs), middle(callMs)];
  const worst = Math.max(...screenMs);
  console.log(
    `${name}: ${screen.toFixed(0)} ms (worst ${worst.toFixed(0)}), the call alone ${call.toFixed(1)} ms, ratio ${(screen / call).toFixed(1)}`,
  );
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
