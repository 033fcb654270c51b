// The policy sets that mutations start from: random sets, the examples, the policies of the feature tests, and
// the golden cases of the parser and the checker, each with its files of lists and tables.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SourceText } from '../../src/language/diagnostic/span.ts';
import { createRandom } from '../../src/language/value/random.ts';
import type { CaseFiles } from './cases.ts';
import { randomSet } from './policies.ts';

const root = join(import.meta.dirname, '../..');
const roots = ['policies', 'test/features', 'test/language/syntax/cases', 'test/language/check/cases'];
const randomSetsCount = 10;

/** All sets, each as one policy file that a mutation changes. */
export function corpus(): readonly CaseFiles[] {
  const folders = roots.map((folder) => join(root, folder));
  const written = folders.flatMap((folder) =>
    globSync('**/*.policy', { cwd: folder })
      .sort()
      .map((path): CaseFiles => setOf(join(folder, path))),
  );
  const drawn = Array.from({ length: randomSetsCount }, (_, seed): CaseFiles => {
    const { files, lists } = randomSet(createRandom(seed + 1));
    return { files: [joined(files)], lists };
  });
  return [...drawn, ...written];
}

function setOf(path: string): CaseFiles {
  const folder = dirname(path);
  const lists = globSync('*/*.{txt,csv,json,jsonl,yaml}', { cwd: folder }).map((list) => [
    list,
    readFileSync(join(folder, list), 'utf8'),
  ]);
  return {
    files: [{ path: 'mutant.policy', text: readFileSync(path, 'utf8') }],
    lists: Object.fromEntries(lists),
  };
}

function joined(files: readonly SourceText[]): SourceText {
  return { path: 'mutant.policy', text: files.map(({ text }) => text).join('\n') };
}
