// A clone stands alone: no file reads or names a path outside of the repository.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const files = globSync(['**/*', '.ci/*', '.github/**/*', '.*.{json,yaml}', '.npmrc'], {
  exclude: [
    '**/node_modules/**',
    '**/dist/**',
    'var/**',
    'build/**',
    'coverage/**',
    '**/package-lock.json',
    '**/*.{png,db,svg}',
  ],
  withFileTypes: true,
})
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => normalize(join(parentPath, name)))
  .filter((file) => file !== 'test/docs/stands-alone.test.ts');

/** Texts that look like a path outside but are none: what tests refuse, and paths inside a folder that is made. */
const notRead = new Set([
  'CONTRIBUTING.md ../../messages/problem.ts',
  'CONTRIBUTING.md ../engine/rule-subjects.ts',
  'bench/layout.ts ../../',
  'grammar/generate.ts ../../diagrams/vendor/railroad-diagrams.js',
  'test/language/check/model.test.ts ../../../y.txt',
  'test/cli/types.test.ts ../../../integrations/typescript/client.ts',
  'test/cli/types.test.ts ../../../tsconfig.json',
  'test/service/policies/bundled-policies.test.ts ../../../b.policy',
]);

/** Relative paths that begin with `..` and end outside, seen from the file's folder. */
function pathsOutside(file: string, text: string): readonly string[] {
  const paths = [...text.matchAll(/(?<![\w./])(?:\.\.\/)+[\w.@/-]*/g)].map(([path]) => path);
  return paths.filter((path) => normalize(join(dirname(file), path)).startsWith('..'));
}

it('by every path of every file', () => {
  expect(files.length).toBeGreaterThan(2_000);
  const found = files.flatMap((file) =>
    pathsOutside(file, readFileSync(file, 'utf8')).map((path) => `${file} ${path}`),
  );
  expect(found.filter((one) => !notRead.has(one))).toEqual([]);
});

it('by the paths of scripts, which start at the root', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const outside = Object.values(scripts).filter((script) => /(?<![\w/])\.\.(?:\/|\s|$)/.test(script));
  expect(outside).toEqual([]);
});
