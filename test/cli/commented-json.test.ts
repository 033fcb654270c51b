// Settings files with comments are changed in place: the value is what was wanted, and what stays keeps its text.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCommentedJson, writeCommentedJson } from '../../src/cli/output/commented-json.ts';
import type { Json } from '../../src/language/model/json.ts';

const commented = `\ufeff{
  // the model
  "model": "m", /* kept */
  "hooks": {
    "PreToolUse": [
      // somebody's own
      { "matcher": "Bash" },
      { "matcher": "old" }, // goes
    ],
  },
}
`;

test('comments, marks and trailing commas are read', () => {
  expect(readCommentedJson(commented)).toEqual({
    model: 'm',
    hooks: { PreToolUse: [{ matcher: 'Bash' }, { matcher: 'old' }] },
  });
});

test('unchanged parts keep their text', () => {
  const value = {
    model: 'm',
    hooks: { PreToolUse: [{ matcher: 'Bash' }, { matcher: '*' }], Stop: [] },
    more: 1,
  };
  const text = writeCommentedJson(commented, value);
  expect(readCommentedJson(text)).toEqual(value);
  for (const part of [
    '\ufeff{',
    '// the model',
    '/* kept */',
    '// somebody\'s own\n      { "matcher": "Bash" }',
  ])
    expect(text).toContain(part);
  expect(writeCommentedJson(text, value)).toBe(text);
});

test('a text without comments stays strict JSON', () => {
  const text = '{\n  "a": [\n    1,\n    2\n  ]\n}\n';
  for (const value of [{ a: [1] }, { a: [1, 3] }, { a: [2], b: 1 }, { b: {} }, {}, { a: [] }] as Json[])
    expect(JSON.parse(writeCommentedJson(text, value))).toEqual(value);
});

test.each([
  ['', 'expected a value'],
  ['{"a": 1', 'expected `,` or `}`'],
  ['{"a": 1, "a": 2}', 'the property "a" appears twice'],
  ['{"a" 1}', 'expected `:`'],
  ['{a: 1}', 'expected a value'],
  ['{"a": tru}', 'expected a value'],
  ['{"a": "b\nc"}', 'not a JSON value'],
  ['{"a": 01}', 'not a JSON value'],
  ['{} {}', 'the file should end here'],
  ['{"a": /* never', 'expected a value'],
  ['['.repeat(100), 'nested more than 64 levels deep'],
])('%j is refused', (text, why) => {
  expect(() => readCommentedJson(text)).toThrow(why);
  expect(() => writeCommentedJson(text, {})).toThrow(why);
});

describe('a law', () => {
  const values = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
  const gaps = ['', ' ', '\n', '\t', ' // a " , ]\n', '/* } */', '\r\n'];

  /** The value as a text with a gap between any two tokens. */
  const spread = (value: Json, next: () => string): string => {
    if (Array.isArray(value)) {
      const parts = value.map((one) => next() + spread(one, next) + next());
      return `[${parts.join(',')}${parts.length > 0 && next() === ' ' ? ',' : ''}${next()}]`;
    }
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const parts = Object.entries(value).map(
      ([name, one]) => `${next()}${JSON.stringify(name)}${next()}:${next()}${spread(one, next)}${next()}`,
    );
    return `{${parts.join(',')}${next()}}`;
  };

  test('any value that is written into any text is read back', () => {
    fc.assert(
      fc.property(values, values, fc.infiniteStream(fc.constantFrom(...gaps)), (before, after, stream) => {
        const next = () => stream.next().value;
        const text = next() + spread(before, next) + next();
        expect(readCommentedJson(text)).toEqual(before);
        expect(writeCommentedJson(text, before)).toBe(text);
        const mixed = mix(before, after);
        expect(readCommentedJson(writeCommentedJson(text, mixed))).toEqual(mixed);
        expect(readCommentedJson(writeCommentedJson(text, after))).toEqual(after);
      }),
    );
  });

  /** A value that shares parts with `before`. */
  function mix(before: Json, after: Json): Json {
    if (Array.isArray(before)) return [...before.filter((_, at) => at % 2 === 0), after];
    if (typeof before !== 'object' || before === null) return after;
    const kept = Object.entries(before).filter((_, at) => at % 2 === 0);
    return Object.fromEntries([
      ...kept.map(([name, one]) => [name, mix(one, after)] as const),
      ['added', after],
    ]);
  }
});
