// The policy files that the tests of this folder read: the page of the language design, the golden cases
// without errors, and the conformance files.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceText } from '../../../src/language/diagnostic/span.ts';

/** Every sound policy file. */
export function soundFiles(): readonly SourceText[] {
  const folder = join(import.meta.dirname, '../../features/conformance');
  const conformance = globSync('**/*.policy', { cwd: folder }).sort();
  return [
    ...['page', 'precedence', 'risk-clause', 'words-as-names', 'comments', 'claims'].map(caseFile),
    ...conformance.map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') })),
  ];
}

export function caseFile(name: string): SourceText {
  const path = join(import.meta.dirname, 'cases', `${name}.policy`);
  return { path: `${name}.policy`, text: readFileSync(path, 'utf8') };
}

export function caseNames(): readonly string[] {
  const cwd = join(import.meta.dirname, 'cases');
  return globSync('*.policy', { cwd })
    .sort()
    .map((path) => path.replace(/\.policy$/, ''));
}
