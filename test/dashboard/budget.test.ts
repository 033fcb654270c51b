// The byte budget of the dashboard, checked on the latest build: what a page loads before any interaction.
// `node bench/dashboard.ts` measures times.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  chunksOf,
  distFolder,
  firstLoadBytesMax,
  neededFiles,
  pageKeys,
  readManifest,
  scriptsAmong,
  stylesAmong,
  weightOf,
} from '../../bench/dashboard/bytes.ts';

const manifest = readManifest();
const pages = pageKeys(manifest);

/** Parts that load by themselves a moment after the page; they belong to its first load. */
const drawnAtOnce: Readonly<Record<string, readonly string[]>> = {
  'pages/overview/overview.tsx': ['pages/overview/draw.ts'],
};

function firstFiles(page: string): readonly string[] {
  return neededFiles(manifest, ['index.html', page, ...(drawnAtOnce[page] ?? [])]);
}

test('each page that the dashboard names is a part of its own', () => {
  const source = readFileSync(join(distFolder, '../pages.ts'), 'utf8');
  const named = [...source.matchAll(/import\('\.\/(.*?)'\)/g)].map((match) => match[1]);
  expect([...pages].sort()).toEqual([...new Set(named)].sort());
});

describe('a page', () => {
  test.each(pages)('%s loads no more JavaScript than the budget', (page) => {
    const { gzip } = weightOf(['theme-early.js', ...scriptsAmong(firstFiles(page))]);
    expect(gzip).toBeLessThanOrEqual(firstLoadBytesMax);
  });

  test.each(pages)('%s has styles of 20 KB at most', (page) => {
    expect(weightOf(stylesAmong(firstFiles(page))).gzip).toBeLessThanOrEqual(20 * 1024);
  });
});

test('the start is small, and has neither the editor nor the plots nor any page', () => {
  const files = neededFiles(manifest, ['index.html']);
  expect(weightOf(scriptsAmong(files)).gzip).toBeLessThanOrEqual(40 * 1024);
  const code = scriptsAmong(files)
    .map((file) => readFileSync(join(distFolder, file), 'utf8'))
    .join('');
  // Class names of CodeMirror and of uPlot.
  expect(code).not.toMatch(/cm-editor|u-over/);
});

test('the plots are a part of their own', () => {
  const parts = chunksOf(manifest).filter(({ file }) =>
    readFileSync(join(distFolder, file), 'utf8').includes('u-over'),
  );
  expect(parts).toEqual([expect.objectContaining({ source: 'pages/overview/draw.ts', isLoadedLate: true })]);
});

test('no part has the code or the paths of a build for development', () => {
  const root = process.cwd();
  const found = chunksOf(manifest).filter(({ file }) => {
    const code = readFileSync(join(distFolder, file), 'utf8');
    return code.includes(root) || /fileName:\w+,lineNumber:/.test(code);
  });
  expect(found).toEqual([]);
});
