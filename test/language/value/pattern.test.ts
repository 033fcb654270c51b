/**
 * Patterns of `like` compared with a recursive matcher, and patterns of `matches` at the points where
 * dialects differ.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, globLiteralParts } from '../../../src/language/value/glob.ts';
import { compileRegex } from '../../../src/language/value/regex.ts';

describe('like', () => {
  test.each([
    ['inv-*', 'inv-1', true],
    ['inv-*', 'inv-', true],
    ['inv-*', 'Inv-1', false],
    ['*.pem', '/tls/server.pem', true],
    ['*.pem', '/tls/server.pem.txt', false],
    ['a*a', 'a', false],
    ['a*b', 'a\nb', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['a\\\\b', 'a\\b', true],
    ['a\\b', 'a\\b', true],
    ['a\\', 'a\\', true],
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['**a**', 'bab', true],
  ])('%j like %j: %s', (pattern, text, expected) => {
    expect(compileGlob(pattern)(text)).toBe(expected);
  });

  test('agrees with a recursive matcher', () => {
    const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*', '\\'), maxLength: 8 });
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '*', '\\'), maxLength: 8 });
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        expect(compileGlob(pattern)(text)).toBe(matchesNaively(pattern, text));
      }),
      { numRuns: 2_000 },
    );
  });

  function matchesNaively(pattern: string, text: string): boolean {
    if (pattern === '') return text === '';
    if (pattern.startsWith('*')) {
      return (
        matchesNaively(pattern.slice(1), text) || (text !== '' && matchesNaively(pattern, text.slice(1)))
      );
    }
    const isEscape = pattern.startsWith('\\*') || pattern.startsWith('\\\\');
    const rest = pattern.slice(isEscape ? 2 : 1);
    return text[0] === pattern[isEscape ? 1 : 0] && matchesNaively(rest, text.slice(1));
  }

  test('literal parts stand between the stars', () => {
    expect(globLiteralParts('a*b\\*c*')).toEqual(['a', 'b*c', '']);
    expect(globLiteralParts('*')).toEqual(['', '']);
    expect(globLiteralParts('a')).toEqual(['a']);
  });

  test('many stars take no long time', () => {
    const started = performance.now();
    expect(compileGlob(`${'*a'.repeat(50)}*b`)('a'.repeat(500_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('matches', () => {
  function matches(source: string, text: string): boolean {
    const regex = compileRegex(source);
    return typeof regex === 'function' ? regex(text) : expect.unreachable(regex.error);
  }

  test.each([
    ['[A-Z]{2}-[0-9]{4}', 'AB-1234', true],
    ['[A-Z]{2}-[0-9]{4}', 'AB-12345', false],
    ['[A-Z]{2}-[0-9]{4}', 'AB-1234\n', false],
    ['AB$', 'AB\n', false],
    ['BEGIN.*END', 'BEGIN\nmiddle\nEND', false],
    ['(?s)BEGIN.*END', 'BEGIN\nmiddle\nEND', true],
    ['(?s)BEGIN.*END', 'x\nBEGIN END', false],
    ['git log .*', 'git log -p\nrm -rf /', false],
    ['git log .*', 'git log -p\n', false],
    // RE2 knows one line end, the line feed.
    ['.', '\r', true],
    ['.', '\u2028', true],
    ['(?s:.).', 'a\n', false],
    ['(?s:.).', '\na', true],
    ['(?s)(?-s:.)', '\n', false],
    ['[^x]', '\n', true],
    ['\\s\\D\\W\\PL', '\n\n\n\n', true],
    ['\\S', '\n', false],
    ['\\s', '\v', false],
    ['\\w', 'é', false],
    ['\\d', '٣', false],
    ['a$', 'a\n', false],
    ['(?m)a$', 'a\n', false],
    ['(?m)a$\\n^b', 'a\nb', true],
    ['a$\\n^b', 'a\nb', false],
    ['\\Aa\\z', 'a', true],
    ['(?m)\\Aa\\z', 'a\n', false],
    ['(?i)k', '\u212a', true],
    ['(?i)ss', 'ß', false],
    ['(?U)a+', 'aa', true],
    ['\\Q.*\\E', '.*', true],
    ['(?P<name>a)(?<other>b)', 'ab', true],
    ['a|ab', 'ab', true],
    ['^a|b$', 'ab', false],
    ['(?i)ab', 'AB', true],
    ['.', '😀', true],
    ['\\p{Greek}+', 'αβγ', true],
    ['', '', true],
    ['\\bAB\\b', 'AB', true],
  ])('%j matches %j: %s', (source, text, expected) => {
    expect(matches(source, text)).toBe(expected);
  });

  test.each([
    ['(a', 'missing closing ): `(a`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(a)\\1', 'invalid escape sequence: `\\1`'],
    ['a\\Z', 'invalid escape sequence: `\\Z`'],
    ['(?<=a)b', 'invalid named capture: `(?<=a)b`'],
    ['(?x)a', 'invalid or unsupported Perl syntax: `(?x`'],
    ['a++', 'invalid nested repetition operator: `++`'],
    ['((a{100}){100}){100}', 'invalid repeat count: `{100}`'],
  ])('%j is no pattern', (source, error) => {
    expect(compileRegex(source)).toEqual({ error });
  });

  test('nesting without end is refused, not fatal', () => {
    expect(compileRegex('('.repeat(100_000) + ')'.repeat(100_000))).toHaveProperty('error');
  });

  test('patterns that blow up elsewhere take no long time', () => {
    const started = performance.now();
    expect(matches('(a|a)*(x+x+)+y', `${'a'.repeat(50_000)}${'x'.repeat(50_000)}`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
