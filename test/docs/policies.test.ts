// Whole policies in the pages compile without diagnostics, and the tests that a page shows for a policy pass.

import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkSources } from '../../src/pipeline.ts';
import { runTestFiles } from '../../src/testing/run.ts';
import { createFolder } from '../service/policies/folder.ts';

/** Pages with policies in parts, or with diagnostics on purpose; other tests check them. */
const elsewhere = ['docs/FIRST-POLICY.md', 'docs/LANGUAGE.md'];

const shown = globSync('docs/{.,cli,integrations,service}/*.md')
  .filter((page) => !elsewhere.includes(page))
  .flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
      .map(([, language = '', text = '']) => ({ page, language, text }))
      .filter(({ language }) => language === '' || language === 'writ')
      .filter(({ text }) => /^action /m.test(text) && /^policy /m.test(text)),
  );

it.each(shown)('$page', ({ text }) => {
  const { diagnostics } = checkSources({
    files: [{ path: 'shown.policy', text }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  expect(diagnostics).toEqual([]);
});

/** Tests that follow a policy. */
const tested = [
  ...readFileSync('docs/cli/tests.md', 'utf8').matchAll(
    /^```writ\n([\s\S]*?)^```\n\n```yaml\n([\s\S]*?)^```/gm,
  ),
].map(([, policy = '', tests = '']) => ({ policy, tests }));

it.each(tested)('the tests of docs/cli/tests.md pass', async ({ policy, tests }) => {
  const folder = createFolder({ 'a.policy': policy, 'a.test.yaml': tests });
  const [file] = (await runTestFiles([folder])).files;
  expect(file?.failure).toBeNull();
  expect(file?.cases.length).toBeGreaterThan(5);
  expect(file?.cases.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
});

it('are some', () => {
  expect([shown.length > 1, tested.length]).toEqual([true, 1]);
});
