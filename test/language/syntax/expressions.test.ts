// How expressions are read: precedence, and the forms that share words with names.

import { expect, test } from 'vitest';
import { parse } from '../../../src/language/syntax/parse.ts';
import { shapeOf } from './shape.ts';

function read(text: string): string {
  const { file, diagnostics } = parse({ path: 'x.policy', text: `let x = ${text}` });
  expect(diagnostics).toEqual([]);
  const [declaration] = file.declarations;
  if (declaration?.kind !== 'let') throw new Error('not a let');
  return shapeOf(declaration.value);
}

test.each([
  ['a or b and not c == d', '(a or (b and (not (c == d))))'],
  ['a and b and c or d or e', '((((a and b) and c) or d) or e)'],
  ['not not a', '(not (not a))'],
  ['1 - 2 - 3 * 4 / 5', '((1 - 2) - ((3 * 4) / 5))'],
  ['-a + -5 - - 5', '(((- a) + -5) - -5)'],
  ['-x else 5', '(- (x else 5))'],
  ['-5 else 6', '(- (5 else 6))'],
  ['x else y else -1', '((x else y) else -1)'],
  ['x else (1 + 2) * 3', '((x else (1 + 2)) * 3)'],
  ['-(5)', '(- 5)'],
  ['a - -(5 USD)', '(a - (- 5 USD))'],
  ['x in 1 + 2..3', '(x in ((1 + 2)..3))'],
  ['x not in [1, 2,]', '(x not in [1, 2])'],
  ['a + 1 < b * 2', '((a + 1) < (b * 2))'],
  ['payload has a.b and c', '((payload has a.b) and c)'],
  ['today in "UTC" in holidays', '(today in "UTC" in holidays)'],
  ['today in holidays', '(today in holidays)'],
  ['t mentions any of ws or t starts with "a"', '((t mentions any of ws) or (t starts with "a"))'],
  ['not a.b is single_script and c', '((not (a.b is single_script)) and c)'],
  ['(a else "x") is single_script', '((a else "x") is single_script)'],
  ['some x in xs, links(t) (x == 1) and b', '((some x in xs, links(t): (x == 1)) and b)'],
  ['some x in xs (some y in x (y > 1))', '(some x in xs: (some y in x: (y > 1)))'],
  ['count x in xs (x) + sum(1)', '((count x in xs: x) + sum(1))'],
  ['count == sum', '(count == sum)'],
  ['min(1, 2) in (3)', '(min(1, 2) in 3)'],
  ['payload.list.when."a b" == risk', '(payload.list.when."a b" == risk)'],
])('%s', (text, shape) => {
  expect(read(text)).toBe(shape);
});
