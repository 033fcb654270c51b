// Our own bodies for the strict reading, beyond public collections: what RFC 8259 accepts and RFC 7493 or
// this service refuses, and edge cases of either. Each is a value for `payload`, or a whole body.

export interface JsonCase {
  readonly name: string;
  /** The bytes of a JSON text. */
  readonly bytes: Buffer;
  readonly isTaken: boolean;
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const deepObject = (depth: number, inner: string) => `${'{"a":'.repeat(depth)}${inner}${'}'.repeat(depth)}`;

/** Values, and whether they are accepted at any depth that leaves room for them. */
const values: readonly (readonly [text: string, isTaken: boolean])[] = [
  ['{"a":1,"a":1}', false],
  ['{"a":1,"b":{"c":[{"d":1,"d":2}]}}', false],
  [deepObject(20, '{"k":1,"k":1}'), false],
  ['{"a":1,"\\u0061":1}', false],
  ['{"":1,"":2}', false],
  ['{"é":1,"e\\u0301":2}', true],
  ['{"A":1,"a":2}', true],
  ['{"__proto__":1,"__proto__":2}', false],
  ['{"__proto__":{"x":1},"constructor":{"prototype":{}},"hasOwnProperty":1,"toString":2}', true],
  ['{"__proto__":null}', true],
  ['1e400', false],
  ['-1e400', false],
  ['1e-400', false],
  ['0e400', true],
  ['1.7976931348623157e308', true],
  ['1.7976931348623158e308', false],
  ['0.30000000000000004', true],
  ['0.30000000000000003', false],
  ['1.79769313486231e308', true],
  ['1e309', false],
  ['123456789012345', true],
  ['1234567890123456', true],
  ['0.123456789012345', true],
  ['0.1234567890123456', true],
  ['0.12345678901234567890', false],
  ['100000000000000000000', true],
  ['100000000000000000001', false],
  ['1.00000000000000000000', true],
  ['9007199254740993', false],
  ['-0', true],
  ['-0.0', true],
  ['-0e-400', true],
  ['01', false],
  ['-', false],
  ['+1', false],
  ['.5', false],
  ['1.', false],
  ['0x1', false],
  ['1_000', false],
  ['NaN', false],
  ['Infinity', false],
  ['"\\ud800"', false],
  ['"\\udc00\\ud800"', false],
  ['"\\ud83c\\udf31"', true],
  ['"\\ud83c \\udf31"', false],
  ['{"\\ud800":1}', false],
  ['"\\u0000"', true],
  ['"a\u0000b"', false],
  ['"\u0001"', false],
  ['"\u007f\u0085\u2028\u2029\ufffe\uffff"', true],
  ['"\ufeff"', true],
  ['"\\v"', false],
  ["'a'", false],
  ['undefined', false],
  ['True', false],
  ['[1,]', false],
  ['{"a":1,}', false],
  ['[1 2]', false],
  ['{"a":1 "b":2}', false],
  ['// c\n1', false],
  ['/* c */1', false],
  ['{a:1}', false],
  ['\u00a01', false],
  ['\u20281', false],
  ['\t\r\n 1 \t\r\n', true],
  ['[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]', true],
  ['"\\/\\b\\f\\n\\r\\t\\"\\\\\\u00e9"', true],
];

const bytesOf = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

/** Bytes that no text in a source file can hold. */
const binary: readonly (readonly [name: string, bytes: Buffer, isTaken: boolean])[] = [
  ['a byte order mark', bytesOf([0xef, 0xbb, 0xbf], '1'), false],
  ['two byte order marks', bytesOf([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], '1'), false],
  ['half a byte order mark', bytesOf([0xef, 0xbb], '1'), false],
  ['UTF-16, little end first', Buffer.from('\ufeff{"a":1}', 'utf16le'), false],
  ['UTF-16, big end first', Buffer.from('\ufeff{"a":1}', 'utf16le').swap16(), false],
  ['UTF-32', bytesOf([0x5b, 0, 0, 0, 0x5d, 0, 0, 0]), false],
  ['a lone byte of continuation', bytesOf('"', [0x80], '"'), false],
  ['a sequence cut short', bytesOf('"', [0xe2, 0x82], '"'), false],
  ['an overlong slash', bytesOf('"', [0xc0, 0xaf], '"'), false],
  ['an overlong NUL', bytesOf('"', [0xc0, 0x80], '"'), false],
  ['a surrogate as three bytes', bytesOf('"', [0xed, 0xa0, 0x80], '"'), false],
  ['a pair of surrogates as six bytes', bytesOf('"', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], '"'), false],
  ['beyond U+10FFFF', bytesOf('"', [0xf4, 0x90, 0x80, 0x80], '"'), false],
  ['U+10FFFF', bytesOf('"', [0xf4, 0x8f, 0xbf, 0xbf], '"'), true],
  ['Latin-1', bytesOf('"', [0xe9], '"'), false],
  ['a NUL behind the value', bytesOf('1', [0]), false],
  ['a form feed', bytesOf([0x0c], '1'), false],
  ['nothing', Buffer.alloc(0), false],
  ['white space alone', bytesOf(' \n'), false],
  ['32 levels', bytesOf(nested(32)), true],
  ['33 levels', bytesOf(nested(33)), false],
  ['33 levels of objects', bytesOf(deepObject(33, '1')), false],
  ['100,000 levels', bytesOf(nested(100_000)), false],
  ['100,000 openings', bytesOf('['.repeat(100_000)), false],
  ['256 KiB', bytesOf(`"${'a'.repeat(256 * 1024 - 2)}"`), true],
  ['256 KiB and a byte', bytesOf(`"${'a'.repeat(256 * 1024 - 1)}"`), false],
  ['256 KiB and a white space', bytesOf(`"${'a'.repeat(256 * 1024 - 2)}" `), false],
];

export const ownCases: readonly JsonCase[] = [
  ...values.map(([text, isTaken]) => ({ name: JSON.stringify(text), bytes: Buffer.from(text), isTaken })),
  ...binary.map(([name, bytes, isTaken]) => ({ name, bytes, isTaken })),
];
