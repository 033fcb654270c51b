// docs/COOKBOOK.md: each wish has a policy that compiles without diagnostics, and tests that pass and expect at
// least two different decisions.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkSources } from '../../src/pipeline.ts';
import { answerQuestion, type PlaygroundQuestion } from '../../src/site/browser/decide.ts';
import { recipesOf, startOf } from '../../src/site/pages/cookbook.ts';
import { runTestFiles } from '../../src/testing/run.ts';
import { createFolder } from '../service/policies/folder.ts';

const source = readFileSync('docs/COOKBOOK.md', 'utf8');
const recipes = recipesOf(source);

it('has as many recipes as it says', () => {
  const [, count] = /^(\d+) wishes/m.exec(source) ?? [];
  expect(recipes.length).toBe(Number(count));
  expect(new Set(recipes.map(({ title }) => title)).size).toBe(recipes.length);
});

it.each(recipes)('$title', async ({ policy, cases }) => {
  const { diagnostics } = checkSources({
    files: [{ path: 'recipe.policy', text: policy }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  expect(diagnostics).toEqual([]);
  const folder = createFolder();
  writeFileSync(join(folder, 'recipe.policy'), policy);
  writeFileSync(join(folder, 'recipe.test.yaml'), cases);
  const { files } = await runTestFiles([folder]);
  const results = files.flatMap((file) => file.cases);
  expect(files.map(({ failure }) => failure)).toEqual([null]);
  expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  expect(new Set(results.map(({ decision }) => decision?.outcome)).size).toBeGreaterThan(1);
});

it.each(recipes)('the playground decides as its first test says: $title', async (recipe) => {
  const folder = createFolder();
  writeFileSync(join(folder, 'recipe.policy'), recipe.policy);
  writeFileSync(join(folder, 'recipe.test.yaml'), recipe.cases);
  const { files } = await runTestFiles([folder]);
  const [first] = files.flatMap((file) => file.cases);
  const { policy, request } = startOf(recipe);
  // The cookbook's requests have the form of a given request, as the diagnostics of the answer would say.
  const answer = answerQuestion({ policy, request: request as PlaygroundQuestion['request'] });
  expect(answer.issues).toEqual([]);
  expect([answer.decided?.outcome, answer.decided?.by]).toEqual([
    first?.decision?.outcome,
    first?.decision?.by,
  ]);
});
