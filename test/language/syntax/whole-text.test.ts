// The law of texts that are read in one go: each choice of the parser without recovery equals that of the
// parser library, and the tree of a text without errors equals the tree of the parser that recovers.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EOF, type IToken, type TokenType } from 'chevrotain';
import { describe, expect, it } from 'vitest';
import { lookaheadTable } from '../../../grammar/lookahead.ts';
import type { Diagnostic } from '../../../src/language/diagnostic/diagnostic.ts';
import type { SourceText } from '../../../src/language/diagnostic/span.ts';
import committed from '../../../src/language/syntax/parse/lookahead.json' with { type: 'json' };
import type { Choose } from '../../../src/language/syntax/parse/lookahead.ts';
import { PolicyParser } from '../../../src/language/syntax/parse/parser.ts';
import { Text, tokenize, tokenTypes, Word } from '../../../src/language/syntax/parse/tokens.ts';
import {
  documentationBefore,
  type ParserAnalysis,
  parse,
  type Read,
  readRecovering,
  readWhole,
  WholeTextParser,
} from '../../../src/language/syntax/parse.ts';
import { hasForeignSyntax, repair } from '../../../src/language/syntax/repair/repair.ts';

const root = join(import.meta.dirname, '../../..');
const texts = globSync(['test/{syntax,check}/cases/**/*.policy', '{policies,examples}/**/*.policy'], {
  cwd: root,
}).map((path) => readFileSync(join(root, path), 'utf8'));

/** The look-ahead of a parser before these tokens; a parser looks only at the number of a token's type. */
function ahead(types: readonly TokenType[]) {
  const LA = (distance: number) => types[distance - 1] as unknown as IToken;
  return { LA, LA_FAST: LA };
}

describe('choices', () => {
  it('are those of the grammar: run `npm run grammar`', () => {
    expect(committed).toEqual(lookaheadTable());
  });

  const [whole, recovering] = [new WholeTextParser(), new PolicyParser()].map(
    (parser) => parser as unknown as ParserAnalysis,
  ) as [ParserAnalysis, ParserAnalysis];

  it.each(Object.entries(committed))('of %s are what the library finds, at any two tokens', (rule, own) => {
    // `Word` and `Text` are categories of tokens, not tokens.
    const types = [...tokenTypes, EOF].filter((type) => type !== Word && type !== Text);
    const of = ({ lookAheadFuncsCache, fullRuleNameToShort }: ParserAnalysis) =>
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

/** First all alternatives are allowed, then all but one, each in turn. */
function guards(count: number): Guarded[] {
  const all = Array.from({ length: count }, (_, closed) =>
    Array.from({ length: count }, (_, at) => (at === closed ? { GATE: () => false } : {})),
  );
  return [Array.from({ length: count }, () => ({})), ...all];
}

function ask(choose: Choose, gates: Guarded, ...types: readonly TokenType[]) {
  return choose.call(ahead(types), gates);
}

const corpus = texts.flatMap(variants).map((text) => ({ path: 'a.policy', text }));

/** Each line of the common mistakes, alone and as a rule. */
const lines = globSync('test/language/diagnostic/mistakes/*.txt', { cwd: root })
  .flatMap((path) => readFileSync(join(root, path), 'utf8').split('\n'))
  .flatMap((line) => [line, `policy p on a.b {\n${line}\n}\n`, `policy p on a.b {\n  deny x\n${line}\n}\n`])
  .map((text) => ({ path: 'a.policy', text }));

function readBy(by: typeof readWhole, source: SourceText) {
  const reported: Diagnostic[] = [];
  const reader = { source, report: (diagnostic: Diagnostic) => void reported.push(diagnostic) };
  const docBefore = documentationBefore([], source);
  const read: Read<ReturnType<PolicyParser['readFile']>> = (parser, ...run) =>
    parser.readFile(...run, docBefore);
  return { parsed: by(tokenize(source.text).tokens, reader, read), reported };
}

describe('a text that the grammar takes', () => {
  it('is read as the parser that recovers reads it', () => {
    let taken = 0;
    for (const source of corpus) {
      const [whole, recovering] = [readBy(readWhole, source), readBy(readRecovering, source)];
      if (whole.parsed !== null) {
        expect(whole, source.text).toEqual(recovering);
        taken++;
      } else {
        expect(whole.reported).toEqual([]);
        expect(recovering.parsed?.errors, source.text).not.toEqual([]);
      }
    }
    expect(taken).toBeGreaterThan(texts.length / 2);
  });

  it('is repaired where it has foreign syntax, and only there', () => {
    let repairedCount = 0;
    for (const source of [...corpus, ...lines]) {
      if (readBy(readWhole, source).parsed === null) continue;
      const { tokens } = tokenize(source.text);
      const reader = { source, report: () => undefined };
      const isRepaired = repair(tokens, reader) !== tokens;
      expect(hasForeignSyntax(tokens, reader), source.text).toBe(isRepaired);
      if (isRepaired) repairedCount++;
    }
    expect(repairedCount).toBeGreaterThan(20);
  });

  it('may name rules by words that other languages have for operators', () => {
    const rules = ['eq', 'le', 'exceeds', 'xor', 'includes'].map((name) => `deny ${name} when payload.n > 1`);
    const text = `policy p on a.b {\n  ${rules.join('\n  ')}\n}\n`;
    expect(parse({ path: 'a.policy', text }).diagnostics).toEqual([]);
  });
});

/** The text, and the text with parts missing at its end. */
function variants(text: string): readonly string[] {
  return [text, text.slice(0, text.length / 2)];
}
