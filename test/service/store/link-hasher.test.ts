// The fast hash of a record, and its fast text, compared with their definitions.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';
import { type ChainEntry, linkHash } from '../../../src/service/store/contract/chain.ts';
import { createEntryText } from '../../../src/service/store/contract/entry-text.ts';
import { createLinkHasher } from '../../../src/service/store/shared/link-hasher.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 600 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '\n', '\u0000', '\u001f', '\u007f', 'a', 'é', '\u2028', '😀'),
    maxLength: 600,
  }),
  fc.string({ minLength: 199, maxLength: 201 }),
);
const column = fc.oneof(
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constant(null),
);
const entry: fc.Arbitrary<ChainEntry> = fc
  .record({
    kind: fc.constantFrom('request' as const, 'refusal' as const),
    sequence: fc.nat(),
    columns: fc.dictionary(fc.string({ unit: 'binary', maxLength: 12 }), column, { noNullPrototype: true }),
    record: fc.option(column, { nil: undefined }),
  })
  .map(({ columns, kind, sequence, record }) => ({
    ...columns,
    kind,
    sequence,
    ...(record === undefined ? {} : { record_json: record }),
  }));

/** The hash, or a word when the entry is refused. */
function outcome(hashOf: typeof linkHash, previous: string, each: ChainEntry): string {
  try {
    return hashOf(previous, each);
  } catch (error) {
    if (error instanceof RangeError) return 'refused';
    throw error;
  }
}

test('law: the fast hash is that of the definition, whatever came before', () => {
  const fast = createLinkHasher();
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), entry, (previous, each) => {
      expect(outcome(fast, previous, each)).toBe(outcome(linkHash, previous, each));
    }),
    { numRuns: 2_000 },
  );
});

test('law: the fast text is that of the definition, whatever came before', () => {
  const fast = createEntryText({ hasRecordJson: true });
  fc.assert(
    fc.property(entry, (each) => {
      expect(outcome((_, one) => fast(one), '', each)).toBe(
        outcome((_, one) => canonicalJson(one), '', each),
      );
    }),
    { numRuns: 2_000 },
  );
});

test('the long text stands behind the JSON of the other columns', () => {
  const each: ChainEntry = { kind: 'request', sequence: 1, record_json: '{"a":"é"}', id: 'x' };
  const text = 'p{"id":"x","kind":"request","sequence":1}{"a":"é"}';
  expect(linkHash('p', each)).toBe(createHash('sha256').update(text).digest('hex'));
});

test.each([
  ['a text of control characters alone, each of which grows sixfold', '\u0001'.repeat(50_000)],
  ['a text of three bytes a character', '\u2028'.repeat(50_000)],
  ['a text of quotes', '"'.repeat(70_000)],
  ['a lone surrogate', `${'x'.repeat(300)}\ud800`],
])('%s', (_, record) => {
  const fast = createLinkHasher();
  const each: ChainEntry = { kind: 'request', sequence: 1, record_json: record, after: record };
  expect(outcome(fast, 'p', each)).toBe(outcome(linkHash, 'p', each));
});
