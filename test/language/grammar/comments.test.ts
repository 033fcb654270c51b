// The comment above each rule of the parser is its production, equal to the grammar that was derived from the
// rule.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { productions } from '../../../grammar/generate.ts';
import { alternativesOf } from '../../../grammar/productions.ts';

const folder = join(import.meta.dirname, '../../../src/language/syntax/parse');
const sources = globSync('*-rules.ts', { cwd: folder }).map((file) =>
  readFileSync(join(folder, file), 'utf8'),
);

/** The comment lines directly above the rule of this name, as one line; empty when there are none. */
function commentAbove(rule: string): string {
  const property = new RegExp(`((?: {2}// .*\\n)*) {2}${rule}(?:: ParserRule<[^=]*>)? = this\\.`);
  const comments = sources.flatMap((source) => property.exec(source)?.[1] ?? []);
  expect(comments, `one property for the rule ${rule}`).toHaveLength(1);
  return (comments[0] ?? '')
    .replaceAll(/^ {2}\/\/ */gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

test.each(productions().map((rule) => [rule.name ?? '', rule] as const))('%s', (name, rule) => {
  expect(commentAbove(name)).toBe(`${name} = ${alternativesOf(rule).join(' | ')}`);
});
