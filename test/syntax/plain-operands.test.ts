// The law of operands that are read without rules, lists of texts among them: the tree and the diagnostics
// equal those of the rules, for texts as people write them and for the same texts with a piece missing.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { PolicyParser } from '../../src/language/syntax/parse/parser.ts';
import { type ParsedFile, parse } from '../../src/language/syntax/parse.ts';
import type { TextListExpression } from '../../src/language/syntax/tree/tree.ts';
import { writtenEntries } from '../../src/language/syntax/tree/visit.ts';
import { createRandom } from '../../src/language/value/random.ts';

const root = join(import.meta.dirname, '../..');
const texts = globSync(
  ['test/syntax/cases/*.policy', 'test/check/cases/**/*.policy', 'policies/**/*.policy'],
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

/** The parsed file with each list of texts as a list of entries. */
function withEntries(text: string): { readonly parsed: ParsedFile; readonly lists: number } {
  let lists = 0;
  const inFull = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null || part instanceof Set) return part;
    if (Array.isArray(part)) return part.map(inFull);
    const node = part as Partial<TextListExpression>;
    if (node.kind !== 'text-list')
      return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, inFull(inner)]));
    lists++;
    return { kind: 'list-literal', entries: writtenEntries(node as TextListExpression), span: node.span };
  };
  return { parsed: inFull(parse({ path: 'a.policy', text })) as ParsedFile, lists };
}

describe('operands that are read without rules', () => {
  it('are what the rules give', () => {
    expect(texts.length).toBeGreaterThan(100);
    let lists = 0;
    for (const text of texts) {
      const read = withEntries(text);
      expect(read.parsed).toEqual(parseByRules(text));
      lists += read.lists;
    }
    expect(lists).toBeGreaterThan(30);
  });

  it.each([
    ['payload.s in ["a", "b"]', 1],
    ['payload.s not in\t[ "a" ,\n\r"b"\n]', 1],
    ['some x in ["a", "b"] (x == payload.s)', 0],
    ['some x in payload.xs, ["a", "b"] (x == payload.s)', 0],
    ['(payload.s in ["", " ] \u2028"] or payload.t in ["ä", "😀"]) and not payload.u in ["a","b"]', 3],
    [`${'('.repeat(62)}payload.s in ["a", "b"]${')'.repeat(62)}`, 1],
    [`${'('.repeat(63)}payload.s in ["a", "b"]${')'.repeat(63)}`, 0],
    ['payload.s in ["a", "b"] + payload.xs', 0],
    ['payload.s in ["a", "b"] else ["c", "d"]', 0],
    ['payload.s in ["a", "b"]..["c", "d"]', 1],
    ['payload.s in ["a", "b"].x', 0],
    ['payload.s in ["a", "b"]["c"]', 0],
    ['payload.in ["a", "b"]', 0],
    ['payload has in ["a", "b"]', 0],
    ['payload.s in ["a"]', 0],
    ['payload.s in []', 0],
    ['payload.s in ["a", "b",]', 0],
    ['payload.s in ["a", "b", , "c"]', 0],
    ['payload.s in ["a" "b"]', 0],
    ['payload.s in ["a", \'b\']', 0],
    ['payload.s in ["a", "b\\n"]', 0],
    ['payload.s in ["a", "b"', 0],
    ['payload.s in ["a", "b', 0],
    ['payload.s in ["a", # why\n "b"]', 0],
    ['payload.s in ["a", ["b", "c"]]', 0],
    ['payload.s in any of ["a", "b"]', 0],
    ['payload.s == any of ["a", "b"]', 0],
    ['payload.s in ["a", "b"] or "c"', 1],
    ['payload.s in ["a", "b"] because "in [\\"a\\", \\"b\\"]"', 1],
  ])('are what the rules give in `%s`', (condition, lists) => {
    const text = `policy p on a.b {\n  deny r when ${condition}\n}\n`;
    const read = withEntries(text);
    expect(read.parsed).toEqual(parseByRules(text));
    expect(read.lists).toBe(lists);
  });

  it('are what the rules give where something is missing', () => {
    const random = createRandom(1);
    for (const text of texts.filter(({ length }) => length < 2_000)) {
      const words = text.split(/(?<=\W)|(?=\W)/);
      words.splice(random.below(words.length), 1 + random.below(2));
      const broken = words.join('');
      expect(withEntries(broken).parsed, broken).toEqual(parseByRules(broken));
    }
  });
});
