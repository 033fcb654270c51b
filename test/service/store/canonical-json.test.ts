// The rules of RFC 8785, each with the smallest value that shows it.

import { expect, test } from 'vitest';
import { type CanonicalValue, canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';

test.each<[string, CanonicalValue, string]>([
  ['no white space', { a: [1, true, null] }, '{"a":[1,true,null]}'],
  [
    'names by UTF-16 code unit',
    { ﬀ: 1, '😀': 2, b: 3, B: 4, '10': 5, '9': 6 },
    '{"10":5,"9":6,"B":4,"b":3,"😀":2,"ﬀ":1}',
  ],
  ['names inside of lists', [{ b: 1, a: 2 }], '[{"a":2,"b":1}]'],
  [
    'numbers as JavaScript writes them',
    [1e30, 4.5, 0.002, 1e-27, -0, 1e21],
    '[1e+30,4.5,0.002,1e-27,0,1e+21]',
  ],
  ['only what must be escaped is', '\u0000\n"\\/é\u007f', '"\\u0000\\n\\"\\\\/é\u007f"'],
  ['any name is data', JSON.parse('{"__proto__":1,"constructor":2}'), '{"__proto__":1,"constructor":2}'],
  ['nothing', {}, '{}'],
])('%s', (_, value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test.each<[string, CanonicalValue]>([
  ['a number that is not finite', [Number.NaN]],
  ['an infinite number', { a: Infinity }],
  ['a lone surrogate', '\ud800'],
  ['a name with a lone surrogate', { '\udc00': 1 }],
])('%s has no canonical text', (_, value) => {
  expect(() => canonicalJson(value)).toThrow(RangeError);
});
