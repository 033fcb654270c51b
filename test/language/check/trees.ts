// Trees of the policy sets for tests of the checker: the conformance sets, the packs, and the
// golden cases without errors.

import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { check } from '../../../src/language/check/check.ts';
import type { CheckedSet } from '../../../src/language/check/incremental/state.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import type { PolicyFile } from '../../../src/language/syntax/tree/tree.ts';

export interface NamedSet {
  readonly name: string;
  readonly folder: string;
  readonly files: readonly PolicyFile[];
}

const conformance = 'test/features/conformance';

/** Sets that check without errors, by folder. */
export function soundSets(): readonly NamedSet[] {
  const folders = [...globSync([`${conformance}/*/*.policy`, 'policies/*/*.policy'])].map(dirname);
  const sets = [...new Set(folders)].sort().map((folder) => ({
    name: basename(folder),
    folder,
    files: globSync(`${folder}/*.policy`).sort().map(parseFile),
  }));
  const cases = globSync('test/language/check/cases/ok-*.policy').sort();
  return [
    ...sets,
    ...cases.map((path) => ({ name: basename(path), folder: dirname(path), files: [parseFile(path)] })),
  ];
}

function parseFile(path: string): PolicyFile {
  return parse({ path: basename(path), text: readFileSync(path, 'utf8') }).file;
}

export function checkSet(folder: string, files: readonly PolicyFile[]): CheckedSet {
  return check(files, (path) => {
    const file = `${folder}/${path}`;
    if (!existsSync(file)) return { code: 'list-file-missing', message: `there is no file \`${path}\`` };
    return { text: readFileSync(file, 'utf8') };
  });
}

/** The set of one file's text; throws when the text has errors. */
export function setOf(text: string): NonNullable<CheckedSet['set']> {
  const { file, diagnostics } = parse({ path: 'test.policy', text });
  const checked = check([file], () => ({ code: 'list-file-missing', message: 'no files here' }));
  if (checked.set === null) throw new Error(JSON.stringify([...diagnostics, ...checked.diagnostics]));
  return checked.set;
}

/** The data as text without places, with maps as their entries in order. */
export function withoutSpans(data: unknown): string {
  return JSON.stringify(
    data,
    (key, value) => {
      if (key === 'span') return undefined;
      if (value instanceof Map) return [...value];
      return typeof value === 'bigint' ? `${value}n` : value;
    },
    1,
  );
}
