// The walk meets every expression of a file once, in the order of the text, outer ones before inner ones.

import { expect, test } from 'vitest';
import { parse } from '../../src/language/syntax/parse.ts';
import { printExpression } from '../../src/language/syntax/print/print.ts';
import { expressionsOf, walkExpression } from '../../src/language/syntax/tree/visit.ts';
import { soundFiles } from './files.ts';
import { nodesOf } from './nodes.ts';

test('expressions of all declarations, in order', () => {
  const text = `
    let l = a
    meter m = sum(b) in USD of x.y when c per agent, payload.d over 1h
    policy p on x.y when e {
      deny r when f unless g risk +1 because "{h} and {i}"
    }
    guarantee g on x.y { never allow when j always deny }
    list k = ["z"]
  `;
  const { declarations } = parse({ path: 'x', text }).file;
  const printed = declarations.flatMap(expressionsOf).map(printExpression);
  expect(printed).toEqual(['a', 'b', 'c', 'agent', 'payload.d', 'e', 'f', 'g', 'h', 'i', 'j']);
});

test('an expression and all within it, with depths', () => {
  const { declarations } = parse({
    path: 'x',
    text: 'let x = not a in [1, -b] and some i in xs (i has c)',
  }).file;
  const met: [string, number][] = [];
  for (const expression of declarations.flatMap(expressionsOf)) {
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

test.each(soundFiles())('no path of $path is missed', (source) => {
  const { file } = parse(source);
  const met = new Set<unknown>();
  for (const expression of file.declarations.flatMap(expressionsOf)) {
    walkExpression(expression, (inner) => met.add(inner));
  }
  const paths = nodesOf(file).filter(({ kind }) => kind === 'path');
  expect(paths.filter((path) => !met.has(path))).toEqual([]);
});
