// Laws of the formatter: its output parses to the same tree, printing is idempotent, no comment is lost, and
// no comment moves to another declaration.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from '../../../src/language/syntax/parse.ts';
import { printExpression, printFile } from '../../../src/language/syntax/print/print.ts';
import type { ExpressionNode } from '../../../src/language/syntax/tree/tree.ts';
import { anyExpression } from './any-expression.ts';
import { caseFile, soundFiles } from './files.ts';
import { withoutPlaces } from './nodes.ts';

describe.each(soundFiles())('$path', (source) => {
  const first = parse(source).file;
  const printed = printFile(first);
  const second = parse({ ...source, text: printed });

  test('is printed to a text that is read as the same tree, comments included', () => {
    expect(second.diagnostics).toEqual([]);
    expect(withoutPlaces(second.file)).toEqual(withoutPlaces(first));
  });

  test('is printed once and for all', () => {
    expect(printFile(second.file)).toBe(printed);
  });
});

test('the page of the language is in canonical form', () => {
  const page = caseFile('page');
  expect(printFile(parse(page).file)).toBe(page.text);
});

test('comments stay where they were', () => {
  const { file } = parse(caseFile('comments'));
  const path = join(import.meta.dirname, 'cases/comments.formatted');
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, printFile(file));
  expect(printFile(file)).toBe(readFileSync(path, 'utf8'));
});

test('long conditions and lists are broken up', () => {
  const condition = Array.from({ length: 12 }, (_, index) => `payload.field_${index} == ${index}`).join(
    ' and ',
  );
  const entries = Array.from({ length: 30 }, (_, index) => `"entry ${index}"`).join(', ');
  const text = `list x = [${entries}]\npolicy p on a.b { deny d when ${condition} or x }`;
  const printed = printFile(parse({ path: 'x', text }).file);
  expect(Math.max(...printed.split('\n').map((line) => line.length))).toBeLessThanOrEqual(330);
  expect(printed.split('\n').length).toBeGreaterThan(32);
  expect(printFile(parse({ path: 'x', text: printed }).file)).toBe(printed);
});

test.each([
  ['comments alone', () => '#\n'.repeat(500_000)],
  ['documentation', () => `${'# a\n'.repeat(200_000)}let x = 1\n`],
  [
    'comments between lines',
    () => Array.from({ length: 20_000 }, (_, at) => `# ${at}\nlet x${at} = ${at}\n`).join(''),
  ],
  [
    'comments behind lines',
    () => Array.from({ length: 40_000 }, (_, at) => `let x${at} = 1 # ${at}\n`).join(''),
  ],
  [
    'fields',
    () => `action a.b {\n${Array.from({ length: 60_000 }, (_, at) => `  f${at}: text\n`).join('')}}\n`,
  ],
  ['members', () => `type t = ${Array.from({ length: 60_000 }, (_, at) => `"${at}"`).join(' | ')}\n`],
])('a file full of %s is printed soon, and once and for all', (_, write) => {
  const printed = printFile(parse({ path: 'x', text: write() }).file);
  expect(printFile(parse({ path: 'x', text: printed }).file) === printed).toBe(true);
});

function readExpression(text: string): ExpressionNode {
  const { file, diagnostics } = parse({ path: 'x', text: `let x = ${text}` });
  expect(diagnostics, text).toEqual([]);
  const [declaration] = file.declarations;
  if (declaration?.kind !== 'let') throw new Error(`not read: ${text}`);
  return declaration.value;
}

/**
 * `count within in lines (...)` counts: only a field can be named `count`, and a field is written after a dot.
 */
const countsWithin = /(?<![.\w"])count within\b/;

test('any expression is printed to a text that is read as the same expression', () => {
  fc.assert(
    fc.property(anyExpression, (expression) => {
      const text = printExpression(expression);
      fc.pre(!countsWithin.test(text));
      expect(withoutPlaces(readExpression(text))).toEqual(withoutPlaces(expression));
    }),
    { numRuns: 1500 },
  );
});

test('any expression with comments in it is laid out once and for all, and loses none', () => {
  fc.assert(
    fc.property(anyExpression, fc.infiniteStream(fc.nat(5)), (expression, dice) => {
      const text = printExpression(expression);
      fc.pre(!countsWithin.test(text));
      let count = 0;
      const marked = text.replaceAll(/ (?:and|or) (?=[^"']*$)/g, (operator) => {
        const { value } = dice.next();
        if (value === 0) return `${operator}# ${++count}\n`;
        return value === 1 ? `\n# ${++count}\n${operator}` : operator;
      });
      const once = printFile(parse({ path: 'x', text: `let x = ${marked}\n` }).file);
      const { file, diagnostics } = parse({ path: 'x', text: once });
      expect(diagnostics).toEqual([]);
      expect(file.comments).toHaveLength(count);
      expect(printFile(file)).toBe(once);
    }),
    { numRuns: 500 },
  );
});

test('what stands between parentheses is indented where it takes lines', () => {
  const text = `policy p on a.b {
  allow a
    when every c in commands(payload.command) ( # of each
      c.program == "a" and (c.subcommand in ["b", "c"] or every o in c.options (o in short_options or o == "--"))
      # or
      or c.program == "d")
    and not (payload.cwd == "/a/very/long/path" or payload.cwd == "/and/another/one" or payload.cwd == "/c/d/e/f")
}`;
  const printed = printFile(parse({ path: 'x', text }).file);
  expect(printed).toBe(`policy p on a.b {
  allow a
    when every c in commands(payload.command) ( # of each
      c.program == "a"
        and (c.subcommand in ["b", "c"] or every o in c.options (o in short_options or o == "--"))
      # or
      or c.program == "d"
    )
      and not (
        payload.cwd == "/a/very/long/path" or payload.cwd == "/and/another/one" or payload.cwd == "/c/d/e/f"
      )
}
`);
});

test.each([
  ['else', 'let a = if b then c else payload # of d\n.d\n', 'let a = if b then c else payload.d # of d\n'],
  ['then', 'let a = if b then payload # of c\n.c\n', 'let a = if b then payload.c # of c\n'],
  ['then (...)', 'let a = if b then (c else # of d\nd)\n', 'let a = if b then (c else d) # of d\n'],
  [
    'then before else',
    'let a = if b then payload # of c\n.c else d\n',
    'let a = if b\n  then payload.c # of c\n  else d\n',
  ],
])('a comment within the last branch of an if goes behind it: %s', (_, text, expected) => {
  const printed = printFile(parse({ path: 'x', text }).file);
  expect(printed).toBe(expected);
  expect(printFile(parse({ path: 'x', text: printed }).file)).toBe(printed);
});

test.each([
  ['not (payload has x)', 'not (payload has x)'],
  ['(payload.x else "a") == "b"', '(payload.x else "a") == "b"'],
  ['((a and b)) or (c)', 'a and b or c'],
  ['a and (b or c)', 'a and (b or c)'],
  ['a - (b - c) - (d)', 'a - (b - c) - d'],
  ['-(5) - (-5)', '-(5) - -5'],
  ['if c then 0 > -(x else 5) else y', 'if c then (0 > -x else 5) else y'],
  ['if c then 0 > -(x else 5)', 'if c then (0 > -x else 5)'],
  ['if c then b in 3..(x else 5) else y', 'if c then (b in 3..x else 5) else y'],
  ['if c then (x else 5) > 0 else y', 'if c then (x else 5) > 0 else y'],
  ['x matches "\\\\d\\u0007"', 'x matches "\\\\d\\u0007"'],
  ['x == "\\u202e\\u0007\\t"', 'x == "\\u202e\\u0007\\t"'],
])('%s', (text, expected) => {
  expect(printExpression(readExpression(text))).toBe(expected);
});
