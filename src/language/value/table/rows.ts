// The rows of a table in one run of bytes, found by the hash of their key. The bytes are sent from thread to
// thread without a copy, and read in place. INVARIANT: the bytes depend on the rows alone, not on the order
// in which they were added.
//
//   rows       bucket after bucket, by the highest bits of the hash; in a bucket by key      `buckets` says where each begins
//   row        length of the rest | key length | key as UTF-16 units | cell ...
//   cell       0 when it is empty, else (`cells.ts`) length | tag | content

import { ByteReader, ByteWriter } from './bytes.ts';
import { readCell, type TableCell, writeCell } from './cells.ts';

export interface TableRows {
  readonly count: number;
  readonly seed: number;
  readonly bytes: Uint8Array;
  /**
   * Where each bucket begins: bucket `n` reaches from `buckets[n]` up to `buckets[n + 1]`. The number of
   * buckets is a power of two.
   */
  readonly buckets: Int32Array;
}

/**
 * Returns a cell of the row with the key; undefined when the cell is empty, null when there is no such row.
 */
export function findCell(rows: TableRows, key: string, column: number): TableCell | undefined | null {
  const reader = find(rows, key);
  return reader === null ? null : readCell(reader, column);
}

export function hasRow(rows: TableRows, key: string): boolean {
  return find(rows, key) !== null;
}

/** Yields every key, in the order of the bytes. */
export function* rowKeys({ bytes }: Pick<TableRows, 'bytes'>): Generator<string> {
  for (let at = 0; at < bytes.length; ) {
    const reader = new ByteReader(bytes, at);
    at = reader.integer() + reader.at;
    yield reader.text();
  }
}

/** Returns a reader in front of the first cell of the row; null when there is no such row. */
function find({ seed, bytes, buckets }: TableRows, key: string): ByteReader | null {
  const bucket = hashOfText(key, seed) >>> shiftOf(buckets.length - 1);
  const end = buckets[bucket + 1]!;
  const reader = new ByteReader(bytes, buckets[bucket]!);
  while (reader.at < end) {
    const length = reader.integer();
    const next = reader.at + length;
    if (isKey(reader, key)) return reader;
    reader.at = next;
  }
  return null;
}

function isKey(reader: ByteReader, key: string): boolean {
  if (reader.integer() !== key.length) return false;
  for (let at = 0; at < key.length; at += 1) if (reader.integer() !== key.charCodeAt(at)) return false;
  return true;
}

/**
 * The longest bucket that is accepted. When a bucket is longer, another seed is tried, so that nobody who
 * chooses the keys makes look-ups slow.
 */
const rowsPerBucketMax = 24;
const seedsMax = 16;

/** Gathers rows into a table. A class, because it grows. */
export class RowsBuilder {
  readonly #bytes = new ByteWriter(4_096);
  readonly #row = new ByteWriter();
  readonly #starts: number[] = [];

  get count(): number {
    return this.#starts.length;
  }

  /** The key of the row with this number. */
  keyAt(row: number): string {
    const reader = new ByteReader(this.#bytes.take(), this.#starts[row]!);
    reader.integer();
    return reader.text();
  }

  add(key: string, cells: readonly (TableCell | undefined)[]): void {
    this.#row.clear();
    this.#row.text(key);
    for (const cell of cells) writeCell(this.#row, cell);
    this.#starts.push(this.#bytes.length);
    this.#bytes.append(this.#row);
  }

  /** Returns the finished rows; or, when two rows have the same key, their numbers, counted from 0. */
  finish(): TableRows | { readonly twice: readonly [number, number] } {
    const bytes = this.#bytes.take();
    const starts = Int32Array.from([...this.#starts, bytes.length]);
    for (let seed = 0; ; seed += 1) {
      const filed = file(bytes, starts, seed);
      const twice = twiceIn(bytes, starts, filed);
      if (twice !== null) return { twice };
      if (filed.longest <= rowsPerBucketMax || seed === seedsMax - 1)
        return joined(bytes, starts, filed, seed);
    }
  }
}

/** The numbers of the rows in the order of their buckets, and where each bucket begins in that order. */
interface HashBuckets {
  readonly order: Int32Array;
  readonly from: Int32Array;
  readonly longest: number;
}

function file(bytes: Uint8Array, starts: Int32Array, seed: number): HashBuckets {
  const count = starts.length - 1;
  const buckets = bucketsFor(count);
  const shift = shiftOf(buckets);
  const fileRows = new Int32Array(count);
  const from = new Int32Array(buckets + 1);
  let longest = 0;
  for (let row = 0; row < count; row += 1) {
    fileRows[row] = hashOfRow(bytes, starts[row]!, seed) >>> shift;
    from[fileRows[row]! + 1]! += 1;
    longest = Math.max(longest, from[fileRows[row]! + 1]!);
  }
  for (let bucket = 0; bucket < buckets; bucket += 1) from[bucket + 1]! += from[bucket]!;
  const order = new Int32Array(count);
  const next = from.slice();
  for (let row = 0; row < count; row += 1) order[next[fileRows[row]!]!++] = row;
  return { order, from, longest };
}

/** Sorts each bucket by key. Returns two rows with the same key, or null when there are none. */
function twiceIn(
  bytes: Uint8Array,
  starts: Int32Array,
  { order, from }: HashBuckets,
): readonly [number, number] | null {
  const keyAt = (row: number): string => {
    const reader = new ByteReader(bytes, starts[row]!);
    reader.integer();
    return reader.text();
  };
  for (let bucket = 0; bucket + 1 < from.length; bucket += 1) {
    const [first, end] = [from[bucket]!, from[bucket + 1]!];
    if (end - first < 2) continue;
    const keyed = [...order.subarray(first, end)].map((row) => [keyAt(row), row] as const);
    keyed.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x - y));
    for (const [at, [key, row]] of keyed.entries()) {
      if (keyed[at - 1]?.[0] === key) return [keyed[at - 1]![1], row];
      order[first + at] = row;
    }
  }
  return null;
}

function joined(
  bytes: Uint8Array,
  starts: Int32Array,
  { order, from }: HashBuckets,
  seed: number,
): TableRows {
  const sorted = new Uint8Array(bytes.length);
  const buckets = new Int32Array(from.length);
  let end = 0;
  let bucket = 0;
  for (const [index, row] of order.entries()) {
    while (from[bucket]! <= index) buckets[bucket++] = end;
    sorted.set(bytes.subarray(starts[row]!, starts[row + 1]!), end);
    end += starts[row + 1]! - starts[row]!;
  }
  buckets.fill(end, bucket);
  return { count: order.length, seed, bytes: sorted, buckets };
}

/** The number of buckets: a power of two, at least one bucket for each row. */
function bucketsFor(rows: number): number {
  let buckets = 2;
  while (buckets < rows) buckets *= 2;
  return buckets;
}

function shiftOf(buckets: number): number {
  return Math.clz32(buckets) + 1;
}

const basis = 0x811c9dc5;
const prime = 0x01000193;

/** FNV-1a over the code units, with the bits mixed once more. */
function hashOfText(text: string, seed: number): number {
  let hash = basis ^ seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  return mixed(hash, seed);
}

function hashOfRow(bytes: Uint8Array, start: number, seed: number): number {
  const reader = new ByteReader(bytes, start);
  reader.integer();
  let hash = basis ^ seed;
  for (let left = reader.integer(); left > 0; left -= 1) hash = Math.imul(hash ^ reader.integer(), prime);
  return mixed(hash, seed);
}

/**
 * Mixes the bits of a hash. Texts that collide under one seed may collide under all seeds before the mixing,
 * so the mixing depends on the seed, too.
 */
function mixed(hash: number, seed: number): number {
  const first = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d + 2 * seed);
  return first ^ (first >>> 13);
}
