// Whole policies in the pages compile without diagnostics.

import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkSources } from '../../src/pipeline.ts';

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

it('are some', () => {
  expect(shown.length).toBeGreaterThan(1);
});
