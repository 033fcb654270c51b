// The walk meets every nested expression once, in the order of the text, outer ones before inner ones.

import { expect, test } from 'vitest';
import { parse } from '../../../src/language/syntax/parse.ts';
import { printExpression } from '../../../src/language/syntax/print/print.ts';
import type { ExpressionNode } from '../../../src/language/syntax/tree/tree.ts';
import { walkExpression } from '../../../src/language/syntax/tree/visit.ts';
import { soundFiles } from './files.ts';
import { nodesOf } from './nodes.ts';

/** The values of the `let` declarations of a text and the conditions of its rules and claims. */
function expressionsIn(source: Parameters<typeof parse>[0]): readonly ExpressionNode[] {
  return nodesOf(parse(source).file).flatMap((node) => {
    const { value, condition, when } = node as { value?: unknown; condition?: unknown; when?: unknown };
    return [value, condition, when].filter(
      (one) => typeof one === 'object' && one !== null,
    ) as ExpressionNode[];
  });
}

test('an expression and all within it, with depths', () => {
  const text = 'let x = not a in [1, -b] and some i in xs (i has c)';
  const met: [string, number][] = [];
  for (const expression of expressionsIn({ path: 'x', text })) {
    walkExpression(expression, (inner, depth) => met.push([printExpression(inner), depth]));
  }
  expect(met).toEqual([
    ['not (a in [1, -b]) and some i in xs (i has c)', 1],
    ['not (a in [1, -b])', 2],
    ['a in [1, -b]', 3],
    ['a', 4],
    ['[1, -b]', 4],
    ['1', 5],
    ['-b', 5],
    ['b', 6],
    ['some i in xs (i has c)', 2],
    ['xs', 3],
    ['i has c', 3],
    ['i', 4],
  ]);
});

test.each(soundFiles())('no path of an expression of $path is missed', (source) => {
  for (const expression of expressionsIn(source)) {
    const met = new Set<unknown>();
    walkExpression(expression, (inner) => met.add(inner));
    const paths = nodesOf(expression).filter(({ kind }) => kind === 'path');
    expect(paths.filter((path) => !met.has(path))).toEqual([]);
  }
});
