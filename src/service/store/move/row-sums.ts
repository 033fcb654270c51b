// Turns rows into values that two databases can compare. For rows that change: a count, and a sum over a
// digest of each row; a large table is summed in buckets, so that only buckets that differ are copied again.
// For records: a digest over the digests of all rows in their order. INVARIANT: both databases make the same
// text of the same row.

import { hash } from 'node:crypto';

export interface BucketSum {
  readonly count: number;
  /** `high` sums the first 24 bits of the digests, `low` the second 24. */
  readonly high: number;
  readonly low: number;
}

/** A value of a row as it is read and sent. */
export type CopiedValue = string | number | bigint | null;

const hexDigits = 6;

export function addRow(sum: BucketSum, values: readonly CopiedValue[]): BucketSum {
  const digest = rowDigest(values);
  return {
    count: sum.count + 1,
    high: sum.high + Number.parseInt(digest.slice(0, hexDigits), 16),
    low: sum.low + Number.parseInt(digest.slice(hexDigits, 2 * hexDigits), 16),
  };
}

export const noRows: BucketSum = { count: 0, high: 0, low: 0 };

function rowDigest(values: readonly CopiedValue[]): string {
  let text = '';
  for (const value of values) {
    const valueText = value === null ? '' : String(value);
    text += value === null ? 'N' : `V${Buffer.byteLength(valueText)}:${valueText}`;
  }
  return hash('md5', text);
}

/** Returns the digest of rows in their order; null when there are none. */
export function digestOfRows(rows: readonly (readonly CopiedValue[])[]): string | null {
  return rows.length === 0 ? null : hash('md5', rows.map(rowDigest).join(''));
}

/** SQL for the digest over rows with `digest` and `sequence`. */
export const digestOfDigests = `md5(string_agg(digest, '' ORDER BY sequence)) AS digest`;

/** Returns SQL for the digest of a row; `texts` are the SQL texts of its columns. */
export function digestColumn(texts: readonly string[]): string {
  const row = texts.map((text) => `coalesce('V' || octet_length(${text}) || ':' || ${text}, 'N')`);
  return `md5(${row.join(' || ')}) AS digest`;
}

function partOfDigest(from: number): string {
  return `sum(('x' || substr(digest, ${from}, ${hexDigits}))::bit(24)::int4)::int8`;
}

/** SQL for the sums over digests of rows. */
export const sumColumns = `count(*) AS count, ${partOfDigest(1)} AS high, ${partOfDigest(hexDigits + 1)} AS low`;

/** Returns the buckets that differ between the two. */
export function differing(
  a: ReadonlyMap<string, BucketSum>,
  b: ReadonlyMap<string, BucketSum>,
): readonly string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((bucket) => {
    const [one, other] = [a.get(bucket) ?? noRows, b.get(bucket) ?? noRows];
    return one.count !== other.count || one.high !== other.high || one.low !== other.low;
  });
}
