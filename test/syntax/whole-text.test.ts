// The law of texts that are read in one go: each choice of the parser without recovery is what the parser library finds out, and the
// tree of a text without errors is that of the parser that recovers.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EOF, type IToken, type TokenType } from 'chevrotain';
import { describe, expect, it } from 'vitest';
import { lookaheadTable } from '../../grammar/lookahead.ts';
import type { Diagnostic } from '../../src/language/diagnostic/diagnostic.ts';
import { documentationBefore } from '../../src/language/syntax/parse/comments.ts';
import committed from '../../src/language/syntax/parse/lookahead.json' with { type: 'json' };
import type { Choose } from '../../src/language/syntax/parse/lookahead.ts';
import { PolicyParser } from '../../src/language/syntax/parse/parser.ts';
import { Text, tokenize, tokenTypes, Word } from '../../src/language/syntax/parse/tokens.ts';
import { type Analysed, readFile, WholeTextParser } from '../../src/language/syntax/parse/whole-text.ts';

const root = join(import.meta.dirname, '../..');
const texts = globSync(['test/{syntax,check}/cases/**/*.policy', '{policies,examples}/**/*.policy'], {
  cwd: root,
}).map((path) => readFileSync(join(root, path), 'utf8'));

/** What a parser looks at where these tokens are next: of a token it looks at the number of its type alone. */
function ahead(types: readonly TokenType[]) {
  const LA = (distance: number) => types[distance - 1] as unknown as IToken;
  return { LA, LA_FAST: LA };
}

describe('choices', () => {
  it('are those of the grammar: run `npm run grammar`', () => {
    expect(committed).toEqual(lookaheadTable());
  });

  const [whole, recovering] = [new WholeTextParser(), new PolicyParser()].map(
    (parser) => parser as unknown as Analysed,
  ) as [Analysed, Analysed];

  it.each(Object.entries(committed))('of %s are what the library finds, at any two tokens', (rule, own) => {
    // `Word` and `Text` are no tokens but what several belong to.
    const types = [...tokenTypes, EOF].filter((type) => type !== Word && type !== Text);
    const of = ({ lookAheadFuncsCache, fullRuleNameToShort }: Analysed) =>
      lookAheadFuncsCache[fullRuleNameToShort[rule]!]!;
    expect(Object.keys(of(recovering))).toEqual(Object.keys(own));
    for (const [key, { kind, begin }] of Object.entries(own)) {
      const [ours, theirs] = [of(whole)[Number(key)]!, of(recovering)[Number(key)]!];
      const guarded = kind === 'guarded alternatives' ? guards(begin.length) : [undefined];
      for (const gates of guarded) {
        const differ = types.flatMap((first) =>
          types
            .filter((second) => ask(ours, gates, first, second) !== ask(theirs, gates, first, second))
            .map((second) => `${key}: ${first.name} ${second.name}`),
        );
        expect(differ).toEqual([]);
      }
    }
  });
});

type Guarded = Parameters<Choose>[0];

/** All may be taken, then all but one. */
function guards(count: number): Guarded[] {
  const all = Array.from({ length: count }, (_, closed) =>
    Array.from({ length: count }, (_, at) => (at === closed ? { GATE: () => false } : {})),
  );
  return [Array.from({ length: count }, () => ({})), ...all];
}

function ask(choose: Choose, gates: Guarded, ...types: readonly TokenType[]) {
  return choose.call(ahead(types), gates);
}

describe('a text without errors', () => {
  it('is read as the parser that recovers reads it', () => {
    const recovering = new PolicyParser();
    let whole = 0;
    for (const text of texts.flatMap(variants)) {
      const source = { path: 'a.policy', text };
      const readBy = (read: typeof readFile) => {
        const reported: Diagnostic[] = [];
        const reader = { source, report: (diagnostic: Diagnostic) => void reported.push(diagnostic) };
        return { ...read(tokenize(text).tokens, reader, documentationBefore([], source)), reported };
      };
      const one = readBy(readFile);
      expect(one, text).toEqual(readBy((...args) => recovering.readFile(...args)));
      if (one.errors.length === 0) whole++;
    }
    expect(whole).toBeGreaterThan(texts.length / 2);
  });
});

/** The text, and what it is where something is missing at its end. */
function variants(text: string): readonly string[] {
  return [text, text.slice(0, text.length / 2)];
}
