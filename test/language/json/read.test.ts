// Tables of what the strict reader accepts and refuses, and the law that both of its lanes agree.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/language/json/parse.ts';
import { jsonLimits, type ReadJson, readJson } from '../../../src/language/json/read-json.ts';

const read = (text: string): ReadJson => readJson(Buffer.from(text));
const issueOf = (bytes: Uint8Array | string) => {
  const result = readJson(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  return result.ok ? null : result.issue;
};

describe('numbers', () => {
  test.each([
    ['0', 0],
    ['-0', 0],
    ['-0.0e7', 0],
    ['0e400', 0],
    ['120', 120],
    ['-0.5', -0.5],
    ['123456789012345', 123456789012345],
    ['123456789012345.000', 123456789012345],
    ['0.000000123456789012345', 1.23456789012345e-7],
    ['1000000000000000000000', 1e21],
    ['1E2', 100],
    ['1e308', 1e308],
    ['5e-324', 5e-324],
    ['9007199254740991', 9007199254740991],
    ['1234567890123456', 1234567890123456],
    ['0.1234567890123456', 0.1234567890123456],
    ['1.000000000000001', 1.000000000000001],
    ['0.30000000000000004', 0.30000000000000004],
    ['-52.520006599999995', -52.520006599999995],
    ['3.0000000000000004e-1', 0.30000000000000004],
    ['9007199254740994', 9007199254740994],
    ['123456789012345680000', 123456789012345680000],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['2.2250738585072014e-308', 2.2250738585072014e-308],
    ['9007199254740993', null],
    ['0.30000000000000003', null],
    ['0.1000000000000000055511151231257827', null],
    ['123456789012345678', null],
    ['4.9e-324', null],
    ['1.7976931348623158e308', null],
    ['1234567890123456.', null],
    ['00000000000000001', null],
    [`1${'0'.repeat(40)}`, 1e40],
    [`0.${'0'.repeat(40)}1`, 1e-41],
    ['1e309', null],
    ['1e400', null],
    ['-1e400', null],
    ['1e-400', null],
    ['1.23456e-323', null],
    ['01', null],
    ['+1', null],
    ['.5', null],
    ['1.', null],
    ['1e', null],
    ['-', null],
    ['NaN', null],
    ['0x10', null],
  ])('%s', (text, expected) => {
    const result = read(`{"n": ${text}}`);
    expect(result.ok ? result.value : null).toStrictEqual(expected === null ? null : { n: expected });
    if (!result.ok)
      expect(result.issue.pointer).toBe(
        /^(01|1\.|1e|0x10|1234567890123456\.|0{16}1)$/.test(text) ? '' : '/n',
      );
  });

  test('the time is linear in the digits', () => {
    const elapsed = (count: number): number => {
      const body = Buffer.from(`[1${'0'.repeat(count)}1]`);
      const started = performance.now();
      expect(readJson(body).ok).toBe(false);
      return performance.now() - started;
    };
    // Other work of the machine only makes a run longer.
    const fastest = (count: number): number => Math.min(...Array.from({ length: 5 }, () => elapsed(count)));
    // Quadratic time would be a hundred times as long.
    expect(fastest(200_000)).toBeLessThan(30 * Math.max(1, fastest(20_000)));
  });

  test('-0 is the same value as 0', () => {
    const result = read('[-0]');
    expect(result.ok && Array.isArray(result.value) && Object.is(result.value[0], 0)).toBe(true);
  });
});

describe('refused, with the place', () => {
  test.each([
    ['', '', 0, 'empty'],
    ['  ', '', 2, 'empty'],
    ['{"a":1,"a":2}', '/a', 7, 'duplicated'],
    ['{"a":1,"\\u0061":2}', '/a', 7, 'duplicated'],
    ['{"x":[{"a":1},{"b":{"c":1,"c":1}}]}', '/x/1/b/c', 26, 'duplicated'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__', 15, 'duplicated'],
    ['{"a/b~":{"k":1,"k":2}}', '/a~1b~0/k', 15, 'duplicated'],
    ['{"é":1,"é":2}', '/é', 8, 'duplicated'],
    ['{"a":1,}', '', 7, 'comma'],
    ['[1,]', '', 3, 'comma'],
    ['[,1]', '', 1, 'value'],
    ['[1 2]', '', 3, 'is expected'],
    ['{"a" 1}', '/a', 5, 'is expected'],
    ['{a:1}', '', 1, 'member name'],
    ["{'a':1}", '', 1, 'member name'],
    ['{"a":1} x', '', 8, 'follows'],
    ['{"a":1}{}', '', 7, 'follows'],
    ['{"a":// c\n1}', '/a', 5, 'value'],
    ['{"a":/* c */1}', '/a', 5, 'value'],
    ['{"a":', '/a', 5, 'ends'],
    ['{"a":tru}', '/a', 5, 'value'],
    ['{"a":"x', '/a', 5, 'no end'],
    ['{"a":"x\ny"}', '/a', 7, 'control'],
    ['{"a":"x\0y"}', '/a', 7, 'control'],
    ['{"a":"\\x41"}', '/a', 6, 'escape'],
    ['{"a":"\\u12g4"}', '/a', 6, 'hexadecimal'],
    ['{"a":"\\ud800"}', '/a', 5, 'surrogate'],
    ['{"a":"\\uDC00\\uD800"}', '/a', 5, 'surrogate'],
    ['{"\\udfff":1}', '', 1, 'surrogate'],
    ['\0{}', '', 0, 'value'],
    ['\ufeff{}', '', 0, 'byte order mark'],
    ['{\u00a0}', '', 1, 'member name'],
  ])('%j', (text, pointer, offset, word) => {
    const issue = issueOf(text);
    expect(issue).toMatchObject({ pointer, detail: expect.stringContaining(word) });
    // In the two escape cases the offset is that of the backslash or of the next character.
    expect(Math.abs((issue?.offset ?? -9) - offset)).toBeLessThanOrEqual(word === 'hexadecimal' ? 1 : 0);
  });

  test.each([
    [[0x22, 0xff, 0x22], 1],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    [[0x22, 0xc0, 0x80, 0x22], 1],
    [[0x22, 0xef, 0xbf, 0xbd, 0xe2, 0x82, 0x22], 4],
    [[0x22, 0xf8, 0x22], 1],
  ])('invalid UTF-8 %j', (bytes, offset) => {
    expect(issueOf(Uint8Array.from(bytes))).toEqual({
      pointer: '',
      offset,
      detail: 'the body is not valid UTF-8',
    });
  });
});

describe('limits', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  test('32 levels are read, 33 are not', () => {
    expect(read(nested(32)).ok).toBe(true);
    expect(read(`{"a":${nested(31)}}`).ok).toBe(true);
    expect(issueOf(nested(33))).toMatchObject({ pointer: '/0'.repeat(32), offset: 32 });
    expect(issueOf(`{"a":${nested(32)}}`)).not.toBeNull();
  });

  test('a deep body ends no stack', () => {
    expect(issueOf('['.repeat(jsonLimits.bytesMax))).toMatchObject({ offset: 32 });
    expect(issueOf('{"a":'.repeat(40_000))).toMatchObject({ offset: 160 });
  });

  test('256 KiB are read, a byte more is not', () => {
    const text = `"${'a'.repeat(jsonLimits.bytesMax - 2)}"`;
    expect(read(text).ok).toBe(true);
    expect(issueOf(`${text} `)).toMatchObject({ offset: jsonLimits.bytesMax });
  });

  test('limits can be given', () => {
    expect(readJson(Buffer.from('[[]]'), { bytesMax: 4, depthMax: 1 }).ok).toBe(false);
    expect(readJson(Buffer.from('[[]]'), { bytesMax: 4, depthMax: 2 }).ok).toBe(true);
  });
});

test('names that mean something to JavaScript are ordinary data', () => {
  const text = '{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":null}';
  const slow = text.replace('{', '{"n":1e0,');
  for (const source of [text, slow]) {
    const result = read(source);
    const value = result.ok ? (result.value as Record<string, unknown>) : {};
    expect(Object.keys(value)).toContain('__proto__');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('admin' in value).toBe(false);
    expect(JSON.stringify(Object.getOwnPropertyDescriptor(value, '__proto__')?.value)).toBe('{"admin":true}');
  }
});

test('reads a part of a larger buffer', () => {
  const bytes = Buffer.from('xx{"a":"ü"}yy').subarray(2, -2);
  expect(readJson(bytes)).toEqual({ ok: true, value: { a: 'ü' } });
});

describe('laws', () => {
  const options = { numRuns: 2_000 };
  const number = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => Number(value.toFixed(2))),
  );
  const finite = number.filter(Number.isFinite).map((value) => value + 0);
  const text = fc.string({ unit: 'binary' });
  const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'a', 'b', '0', '1'));
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.oneof(finite, text, fc.boolean(), fc.constant(null)),
      fc.array(tie('json'), { maxLength: 4 }),
      fc
        .array(fc.tuple(key, tie('json')), { maxLength: 4 })
        .map((entries) => Object.fromEntries(entries) as unknown),
    ),
  }));

  test('a valid document reads as JSON.parse reads it, in both lanes', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1), (value, indent) => {
        const source = JSON.stringify(value, null, indent);
        const expected: unknown = JSON.parse(source);
        // Not toStrictEqual, which takes a member named `constructor` for more than data.
        expect(isDeepStrictEqual(read(source), { ok: true, value: expected })).toBe(true);
        expect(isDeepStrictEqual(parseJson(source, 32), { ok: true, value: expected })).toBe(true);
      }),
      options,
    );
  });

  test('both lanes agree on damaged documents, and take nothing that JSON.parse refuses', () => {
    const damage = fc.record({
      at: fc.nat(200),
      cut: fc.nat(3),
      put: fc.oneof(
        fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', 'e9', '.', '\\ud83d', '\\u00e9'),
        fc.constantFrom('"a":1,', '"a":1,"a":1', '9999999999999999', '-0', '1e999', ' ', '\n', '\0', '//'),
      ),
    });
    fc.assert(
      fc.property(json, fc.array(damage, { minLength: 1, maxLength: 3 }), (value, damages) => {
        let source = JSON.stringify(value);
        for (const { at, cut, put } of damages) {
          const place = at % (source.length + 1);
          source = source.slice(0, place) + put + source.slice(place + cut);
        }
        source = source.toWellFormed();
        const both = { fast: read(source), slow: parseJson(source, 32) };
        expect(both.fast.ok).toBe(both.slow.ok);
        if (both.fast.ok && both.slow.ok) {
          expect(isDeepStrictEqual(both.fast.value, both.slow.value)).toBe(true);
          expect(() => JSON.parse(source)).not.toThrow();
        }
      }),
      options,
    );
  });

  test('any bytes are read or refused, never thrown at', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const result = readJson(bytes);
        if (!result.ok) expect(result.issue.offset).toBeLessThanOrEqual(bytes.length);
      }),
      options,
    );
  });
});
