// The law of operands that are read without rules, lists of texts among them: the tree and the diagnostics
// equal those of the rules, for texts as people write them and for the same texts with a piece missing.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { PolicyParser } from '../../../src/language/syntax/parse/parser.ts';
import { type ParsedFile, parse } from '../../../src/language/syntax/parse.ts';
import { createRandom } from '../../../src/language/value/random.ts';

const root = join(import.meta.dirname, '../../..');
const texts = globSync(
  ['test/language/syntax/cases/*.policy', 'test/language/check/cases/**/*.policy', 'policies/**/*.policy'],
  {
    cwd: root,
  },
).map((path) => readFileSync(join(root, path), 'utf8'));

const plainRules = ['plainOperand', 'plainEntry'] as const;

function parseByRules(text: string): ParsedFile {
  // The methods that read operands without rules are protected, hence the cast.
  const parser = PolicyParser.prototype as unknown as Record<(typeof plainRules)[number], () => null>;
  const spies = plainRules.map((rule) => vi.spyOn(parser, rule));
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

  it.each([
    'payload.s in ["a", "b"]',
    'payload.s not in\t[ "a" ,\n\r"b"\n]',
    'some x in ["a", "b"] (x == payload.s)',
    'some x in payload.xs, ["a", "b"] (x == payload.s)',
    '(payload.s in ["", " ] \u2028"] or payload.t in ["ä", "😀"]) and not payload.u in ["a","b"]',
    `${'('.repeat(62)}payload.s in ["a", "b"]${')'.repeat(62)}`,
    `${'('.repeat(63)}payload.s in ["a", "b"]${')'.repeat(63)}`,
    'payload.s in ["a", "b"] + payload.xs',
    'payload.s in ["a", "b"] else ["c", "d"]',
    'payload.s in ["a", "b"]..["c", "d"]',
    'payload.s in ["a", "b"].x',
    'payload.s in ["a", "b"]["c"]',
    'payload.in ["a", "b"]',
    'payload has in ["a", "b"]',
    'payload.s in ["a"]',
    'payload.s in []',
    'payload.s in ["a", "b",]',
    'payload.s in ["a", "b", , "c"]',
    'payload.s in ["a" "b"]',
    'payload.s in ["a", \'b\']',
    'payload.s in ["a", "b\\n"]',
    'payload.s in ["a", "b"',
    'payload.s in ["a", "b',
    'payload.s in ["a", # why\n "b"]',
    'payload.s in ["a", ["b", "c"]]',
    'payload.s in any of ["a", "b"]',
    'payload.s == any of ["a", "b"]',
    'payload.s in ["a", "b"] or "c"',
    'payload.s in ["a", "b"] because "in [\\"a\\", \\"b\\"]"',
  ])('are what the rules give in `%s`', (condition) => {
    const text = `policy p on a.b {\n  deny r when ${condition}\n}\n`;
    expect(parse({ path: 'a.policy', text })).toEqual(parseByRules(text));
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
