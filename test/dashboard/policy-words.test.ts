// The colours of sources follow the grammar: the same words, the same tokens, nothing lost.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPieces } from '../../src/dashboard/parts/policy/source-marks.ts';
import { type PieceKind, piecesOf, words } from '../../src/language/assist/policy-words.ts';
import {
  contextualWords,
  isReservedToken,
  literal,
  reservedWords,
  Text,
  tokenize,
} from '../../src/language/syntax/parse/tokens.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync(['policies/**/*.policy', 'test/**/*.policy', 'bench/**/*.policy'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
});

describe('words', () => {
  it('are those of the grammar', () => {
    expect(Object.values(words).flat().toSorted()).toEqual([...reservedWords, ...contextualWords].toSorted());
  });

  it('fall into the same groups as in other editors', () => {
    const grammar = JSON.parse(
      readFileSync(join(root, 'grammar/generated/policy.tmLanguage.json'), 'utf8'),
    ) as {
      readonly patterns: readonly { readonly name: string; readonly match?: string }[];
    };
    const groupOf = (name: string): readonly string[] =>
      /\(\?:([a-z_|]+)\)/
        .exec(grammar.patterns.find((one) => one.name === name)?.match ?? '')?.[1]
        ?.split('|') ?? [];
    expect(words.declaration).toEqual(groupOf('storage.type.policy'));
    expect(words.outcome).toEqual(groupOf('keyword.control.policy'));
    expect(words.constant).toEqual(groupOf('constant.language.policy'));
    expect(words.word).toEqual(groupOf('keyword.operator.word.policy'));
  });
});

describe('pieces', () => {
  it('are the tokens of the grammar in every policy of the house', () => {
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const text = readFileSync(join(root, file), 'utf8');
      const kinds = kindsByOffset(text);
      const { tokens, comments } = tokenize(text);
      for (const token of comments) expect(kinds[token.startOffset]).toBe('comment');
      for (const token of tokens) {
        const place = `${file}:${token.startOffset} ${token.image}`;
        const kind = kinds[token.startOffset];
        const { CATEGORIES: categories = [] } = token.tokenType;
        if (categories.includes(Text)) expect(kind, place).toMatch(/^(text|escape|value)$/);
        else if (Object.values(literal).includes(token.tokenType)) expect(kind, place).toBe('number');
        else if (isReservedToken(token)) expect(kind, place).toMatch(/^(declaration|outcome|constant|word)$/);
      }
    }
  });

  it('take a word of the language for a name where the grammar does', () => {
    const kindOf = (line: string, word: string): PieceKind | undefined =>
      piecesOf(line).find(({ text }) => text === word)?.kind;
    expect(kindOf('  to: string', 'to')).toBe('name');
    expect(kindOf('  type?: string', 'type')).toBe('name');
    expect(kindOf('when payload.list in xs', 'list')).toBe('name');
    expect(kindOf('when payload has type', 'type')).toBe('name');
    expect(kindOf('escalate large to finance', 'to')).toBe('word');
    expect(kindOf('when x in 1..risk', 'risk')).toBe('outcome');
  });

  it('are the line, whatever it is, also where marks cut it', () => {
    const mark = fc.record({
      from: fc.integer({ min: 1, max: 30 }),
      to: fc.integer({ min: 1, max: 40 }),
      tone: fc.constantFrom('here' as const, 'error' as const, 'warning' as const),
    });
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.array(mark, { maxLength: 4 }),
        (line, marks) => {
          const joined = (pieces: readonly { readonly text: string }[]) =>
            pieces.map(({ text }) => text).join('');
          expect(joined(piecesOf(line))).toBe(line);
          expect(joined(cutPieces(piecesOf(line), line, marks))).toBe(line);
        },
      ),
    );
  });

  it('are cut at code points, and show the gravest of the marks over each other', () => {
    const line = '# 😀 late';
    const parts = cutPieces(piecesOf(line), line, [
      { from: 5, to: 9, tone: 'warning' },
      { from: 7, to: 8, tone: 'error' },
    ]);
    expect(parts.map(({ text, tone }) => [text, tone])).toEqual([
      ['# 😀 ', null],
      ['la', 'warning'],
      ['t', 'error'],
      ['e', 'warning'],
    ]);
  });
});

function kindsByOffset(text: string): readonly PieceKind[] {
  return text
    .split('\n')
    .flatMap((line) => [
      ...piecesOf(line).flatMap(({ text: piece, kind }) => Array.from({ length: piece.length }, () => kind)),
      'other' as const,
    ]);
}
