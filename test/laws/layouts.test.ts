// The layout of a text does not change its tree; `writ fmt` keeps the tree and every comment, and its output
// formats to itself. WRIT_LAYOUTS sets the number of layouts.

import { expect, it } from 'vitest';
import { tries } from '../support/tries.ts';
import { formatKeepsTrees } from './format.ts';
import { layoutsKeepTrees } from './layouts.ts';
import { writtenConstructs } from './required.ts';

const count = Number(process.env.WRIT_LAYOUTS ?? tries(60));
const seed = Number(process.env.WRIT_LAYOUTS_SEED ?? (count > 1_000 ? Date.now() % 1e9 : 1));

it('any layout is read as one tree, and printed with its tree and its comments, once and for all', {
  timeout: 30_000 + count * 100,
}, () => {
  const { layouts, refused, comments, features, findings } = layoutsKeepTrees(count, seed);
  console.log(
    `seed ${seed}: ${layouts} layouts with ${comments} comments, ${refused} texts refused, ${findings.length} failures`,
  );
  expect(findings.slice(0, 3)).toEqual([]);
  expect(layouts).toBeGreaterThanOrEqual(count);
  expect(comments).toBeGreaterThan(layouts);
  expect(writtenConstructs.filter((construct) => !features.has(construct))).toEqual([]);
});

it('random sets are printed with their trees', () => {
  const { files, findings } = formatKeepsTrees(tries(60), 1);
  expect(findings.slice(0, 3)).toEqual([]);
  expect(files).toBeGreaterThan(tries(60));
});
