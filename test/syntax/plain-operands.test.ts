// The law of operands that are read without rules: the tree and the diagnostics equal those of the rules, for
// texts as people write them and for the same texts with a piece missing.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { PolicyParser } from '../../src/language/syntax/parse/parser.ts';
import { type ParsedFile, parse } from '../../src/language/syntax/parse.ts';
import { createRandom } from '../../src/language/value/random.ts';

const root = join(import.meta.dirname, '../..');
const texts = globSync(
  ['test/syntax/cases/*.policy', 'test/check/cases/**/*.policy', 'policies/**/*.policy'],
  {
    cwd: root,
  },
).map((path) => readFileSync(join(root, path), 'utf8'));

function parseByRules(text: string): ParsedFile {
  // The methods that read operands without rules are protected, hence the cast.
  const parser = PolicyParser.prototype as unknown as Record<'plainOperand' | 'plainEntry', () => null>;
  const spies = [vi.spyOn(parser, 'plainOperand'), vi.spyOn(parser, 'plainEntry')];
  for (const spy of spies) spy.mockReturnValue(null);
  try {
    return parse({ path: 'a.policy', text });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('operands that are read without rules', () => {
  it('are what the rules give', () => {
    expect(texts.length).toBeGreaterThan(100);
    for (const text of texts) expect(parse({ path: 'a.policy', text })).toEqual(parseByRules(text));
  });

  it('are what the rules give where something is missing', () => {
    const random = createRandom(1);
    for (const text of texts.filter(({ length }) => length < 2_000)) {
      const words = text.split(/(?<=\W)|(?=\W)/);
      words.splice(random.below(words.length), 1 + random.below(2));
      const broken = words.join('');
      expect(parse({ path: 'a.policy', text: broken }), broken).toEqual(parseByRules(broken));
    }
  });
});
