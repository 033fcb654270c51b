// Guarantees in the browser: the playground proves and refutes while one types, and the prover runs in a page
// without any special headers, so without shared memory.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, addPeople, launchBrowser, shareBrowser } from './browser.ts';

const root = join(import.meta.dirname, '../../..');
const blocked = readFileSync(join(root, 'policies/payments/lists/blocked-vendors.txt'), 'utf8');
/** The pack in one file, with the entries of its list written into the text. */
const payments = readFileSync(join(root, 'policies/payments/payments.policy'), 'utf8').replace(
  'from "lists/blocked-vendors.txt"',
  `= ${JSON.stringify(blocked.split('\n').filter((line) => line !== '' && !line.startsWith('#')))}`,
);
const loosened = payments.replace('payload.amount <= 10_000 USD', 'payload.amount <= 20_000 USD');

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';

const sharesMemory = (page: Page): Promise<unknown> =>
  page.evaluate('crossOriginIsolated || typeof SharedArrayBuffer !== "undefined"');

test('the playground proves the guarantees of payments, and refutes one by a request that it tries at once', async () => {
  const shared = service();
  await addPeople(shared);
  await usePolicies(shared, payments);
  const { page } = await open(shared, { email });
  await page.goto('/playground');
  const clauses = page.locator('.playground-clauses');
  await clauses.getByText('Proved for all requests').nth(5).waitFor();
  expect(await clauses.getByRole('listitem').count()).toBe(6);
  expect(await sharesMemory(page)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);

  const editor = page.getByRole('textbox', { name: /^demo\.policy\./ });
  await editor.focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(loosened);
  await clauses.getByText(/^Refuted: a request is decided ALLOW by vendor_payments\/\w+, once/).waitFor();
  await clauses.getByRole('button', { name: 'Try this request' }).click();
  const answer = page.getByRole('complementary', { name: 'Result' });
  await answer.getByText('Up to date.').waitFor();
  // Nobody has approved the request yet.
  await answer
    .getByText(/^It would wait for/)
    .first()
    .waitFor();
  const request = page.getByRole('textbox', { name: /^Request as JSON\./ });
  expect(await request.innerText()).toContain('"action_key": "payment.create"');
});

const entry = `
import { compileToProgram } from '${root}/src/pipeline.ts';
import { proveGuarantees } from '${root}/src/reasoning/prove/prove.ts';
globalThis.verdicts = (text) => {
  const readListFile = () => ({ code: 'list-file-missing', message: '' });
  const { set } = compileToProgram({ files: [{ path: 'payments.policy', text }], readListFile });
  return proveGuarantees(set).map(({ kind, verdicts }) => [kind, verdicts[0].decision?.outcome ?? null]);
};
`;

test('the prover runs unchanged in a page', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.setContent('<!doctype html><title>plain</title>');
  await page.addScriptTag({ content: await bundle() });
  expect(await sharesMemory(page)).toBe(false);
  const verdicts = (text: string): Promise<unknown> => page.evaluate(`verdicts(${JSON.stringify(text)})`);
  const proved = Array.from({ length: 6 }, () => ['proved', null]);
  expect(await verdicts(payments)).toEqual(proved);
  expect(await verdicts(loosened)).toEqual(proved.with(2, ['refuted', 'ALLOW']));
});

/** Bundled like the dashboard. The only part of Node it needs is a digest, which no proof depends on. */
async function bundle(): Promise<string> {
  const modules: Readonly<Record<string, string>> = {
    'proofs-entry': entry,
    'node:crypto': 'export const hash = (_, text) => String(text.length);',
  };
  const made = await build({
    configFile: false,
    root,
    logLevel: 'silent',
    plugins: [
      {
        name: 'proofs',
        enforce: 'pre',
        resolveId: (id) => {
          const name = Object.keys(modules).find((one) => id === one || id.endsWith(`/${one}`));
          return name === undefined ? null : `\0${name}`;
        },
        load: (id) => modules[id.slice(1)] ?? null,
      },
    ],
    build: {
      write: false,
      minify: false,
      lib: { entry: 'proofs-entry', formats: ['iife'], name: 'proofs' },
    },
  });
  const [result] = Array.isArray(made) ? made : [made];
  if (result === undefined || !('output' in result)) throw new Error('nothing was built');
  return result.output[0].code;
}
