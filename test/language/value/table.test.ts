// The rows of a table compared with a `Map` of the same rows, on random rows; and how far chosen keys can
// slow down look-ups.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { parseIp } from '../../../src/language/value/ip.ts';
import type { TableCell } from '../../../src/language/value/table/cells.ts';
import {
  findCell,
  hasRow,
  RowsBuilder,
  rowKeys,
  type TableRows,
} from '../../../src/language/value/table/rows.ts';

type Row = readonly [key: string, cells: readonly (TableCell | undefined)[]];

function rowsOf(rows: readonly Row[]): TableRows {
  const builder = new RowsBuilder();
  for (const [key, cells] of rows) builder.add(key, cells);
  const made = builder.finish();
  if ('twice' in made) throw new Error(`rows ${made.twice.join(' and ')} have one key`);
  return made;
}

const anyScalar: fc.Arbitrary<TableCell> = fc.oneof(
  fc.boolean(),
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(fromNumber),
  fc.record({
    amount: fc.integer().map(fromNumber),
    currency: fc.constantFrom('USD', 'JPY'),
  }),
  fc.constantFrom(parseIp('10.1.2.3')!, parseIp('2001:db8::1')!),
);
const anyCell = fc.option(fc.oneof(anyScalar, fc.array(anyScalar, { maxLength: 4 })), { nil: undefined });
const anyRows = fc.uniqueArray(
  fc.tuple(fc.string({ unit: 'binary', maxLength: 12 }), fc.array(anyCell, { minLength: 3, maxLength: 3 })),
  { selector: ([key]) => key, maxLength: 40 },
);

describe('rows of a table', () => {
  it('are found as in a map', () => {
    fc.assert(
      fc.property(anyRows, fc.string({ unit: 'binary', maxLength: 3 }), (rows, other) => {
        const map = new Map(rows);
        const made = rowsOf(rows);
        expect(made.count).toBe(map.size);
        expect(new Set(rowKeys(made))).toEqual(new Set(map.keys()));
        for (const key of [...map.keys(), other, `${other}x`]) {
          expect(hasRow(made, key)).toBe(map.has(key));
          for (const column of [0, 1, 2])
            expect(findCell(made, key, column)).toEqual(map.has(key) ? map.get(key)![column] : null);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are the same bytes whatever their order', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        expect(rowsOf(rows.toReversed())).toEqual(rowsOf(rows));
      }),
      { numRuns: 100 },
    );
  });

  it('name two that have one key', () => {
    const builder = new RowsBuilder();
    for (const key of ['a', 'b', 'a']) builder.add(key, []);
    expect(builder.finish()).toEqual({ twice: [0, 2] });
    expect(builder.keyAt(2)).toBe('a');
  });

  it('take 20 bytes a row beside its text', () => {
    const rows = Array.from({ length: 10_000 }, (_, at): Row => [`order-${at}`, ['owner', 'open', 'eu']]);
    const { bytes, buckets } = rowsOf(rows);
    const text = rows.reduce((sum, [key, cells]) => sum + key.length + cells.join('').length, 0);
    expect((bytes.byteLength + buckets.byteLength - text) / rows.length).toBeLessThan(20);
  });

  it('stay in short buckets though keys are chosen to share one', () => {
    const keys = keysOfOneBucket(64);
    const { seed, buckets, ...rows } = rowsOf(keys.map((key): Row => [key, [key]]));
    expect(seed).toBeGreaterThan(0);
    const sizes = Array.from({ length: buckets.length - 1 }, (_, at) => {
      const bytes = rows.bytes.subarray(buckets[at], buckets[at + 1]);
      return [...rowKeys({ bytes })].length;
    });
    expect(Math.max(...sizes)).toBeLessThanOrEqual(24);
    for (const key of keys) expect(findCell({ seed, buckets, ...rows }, key, 0)).toBe(key);
  });
});

/** This many keys that all fall into the first bucket of a table with as many rows. */
function keysOfOneBucket(count: number): readonly string[] {
  const found: string[] = [];
  for (let from = 0; found.length < count; from += count) {
    const { bytes, buckets } = rowsOf(Array.from({ length: count }, (_, at): Row => [`k${from + at}`, []]));
    found.push(...rowKeys({ bytes: bytes.subarray(0, buckets[1]) }));
  }
  return found.slice(0, count);
}
