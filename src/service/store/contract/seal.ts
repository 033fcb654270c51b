// A seal over stored rows: each row has a tag under a key derived from the master key, the tags of a table
// add up to one sum, and one code covers all sums and the last record. INVARIANT: a sum does not depend on
// the order of the rows, so a write changes a sum only by the rows that it changes, and nobody without the
// key can tell by how much.

import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import type { Link } from './chain.ts';

/** A value of a column. Numbers are whole; those that are read are exact as `bigint`. */
export type StoredValue = string | number | bigint | null;

/** How many rows a table has, and the sum of their tags in hexadecimal. */
export interface TableSum {
  readonly count: number;
  readonly sum: string;
}

/** The state of the store that a seal covers. */
export interface SealedState {
  /** The last record of the chain. */
  readonly end: Link;
  /** The version of the schema. */
  readonly version: number;
  readonly tables: Readonly<Record<string, TableSum>>;
}

const emptySum: TableSum = { count: 0, sum: '0' };

/**
 * Keys of one SHA-256 block each. Two plain hashes over `inner` and `outer` make a message code (NMAC);
 * `record` is the key of record seals.
 */
export interface SealKey {
  readonly inner: string;
  readonly outer: string;
  readonly record: string;
}

export function sealKeyOf(masterKey: Uint8Array): SealKey {
  const derived = (purpose: string) => createHmac('sha256', masterKey).update(purpose).digest('hex');
  return {
    inner: derived('writ state seal, inner'),
    outer: derived('writ state seal, outer'),
    record: derived('writ record seal'),
  };
}

/**
 * Returns the seal of a record, 64 hexadecimal digits, from the hash of its link. The hash covers all that the
 * record says and its number, so a seal fits one record at one place. Every message has the length of a hash,
 * so one plain hash behind a key of one block is a message code.
 */
export function recordSeal({ record }: SealKey, linkHash: string): string {
  return hash('sha256', record + linkHash);
}

/** Whether a record has its seal. */
export function isSealed(key: SealKey, { hash: linkHash, seal }: { hash: string; seal: string }): boolean {
  return linkHash.length === 64 && seal === recordSeal(key, linkHash);
}

/**
 * Returns 64 hexadecimal digits. The library's own HMAC makes an object for each code and costs ten times as
 * much.
 */
export function keyedCode({ inner, outer }: SealKey, text: string): string {
  return hash('sha256', outer + hash('sha256', inner + text));
}

/**
 * Returns 64 hexadecimal digits. Columns are in the order of the schema, so the tag needs no column names.
 */
export function rowTag(key: SealKey, table: string, values: readonly StoredValue[]): string {
  return keyedCode(key, rowText(table, values));
}

/** Returns a text that no other row has: digits outside of quotation marks are a number. */
function rowText(table: string, values: readonly StoredValue[]): string {
  let text = `row ${table}`;
  for (const value of values) text += typeof value === 'string' ? `,${JSON.stringify(value)}` : `,${value}`;
  return text;
}

/**
 * A sum that grows and shrinks row by row. Its text costs more than an addition, so it is made only when it
 * is read.
 */
export interface RunningSum {
  /** Adds a row with this tag. A null tag adds 1 to the count and nothing to the sum. */
  add(tag: string | null): void;
  remove(tag: string): void;
  /** Adds what another sum adds up to. */
  addAll(other: TableSum): void;
  value(): TableSum;
}

export function createSum(from: TableSum = emptySum): RunningSum {
  let { count } = from;
  let total = BigInt(`0x${from.sum}`);
  /** Null when the sum has changed since the text was made. */
  let read: TableSum | null = from;
  return {
    add(tag) {
      count += 1;
      if (tag !== null) total += BigInt(`0x${tag}`);
      read = null;
    },
    remove(tag) {
      count -= 1;
      total -= BigInt(`0x${tag}`);
      read = null;
    },
    addAll(other) {
      count += other.count;
      total += BigInt(`0x${other.sum}`);
      read = null;
    },
    value() {
      total = BigInt.asUintN(256, total);
      read ??= { count, sum: total.toString(16) };
      return read;
    },
  };
}

export function isSameSum(a: TableSum, b: TableSum): boolean {
  return a.count === b.count && a.sum === b.sum;
}

/** The columns of the row in `state_seal`. */
export interface SealColumns extends Link {
  readonly sums_json: string;
  readonly mac: string;
}

export function sealColumns(key: SealKey, { end, version, tables }: SealedState): SealColumns {
  const { sequence, hash } = end;
  const sumsJson = canonicalJson({
    version,
    tables: Object.fromEntries(
      Object.entries(tables).map(([name, { count, sum }]) => [name, { count, sum }]),
    ),
  });
  return { sequence, hash, sums_json: sumsJson, mac: sealCode(key, { sequence, hash, sums_json: sumsJson }) };
}

/** Returns the sealed state; null when the seal is not genuine. */
export function openSeal(key: SealKey, columns: SealColumns): SealedState | null {
  const { sequence, hash, sums_json: sumsJson } = columns;
  const [expected, stored] = [Buffer.from(sealCode(key, columns)), Buffer.from(columns.mac)];
  if (expected.length !== stored.length || !timingSafeEqual(expected, stored)) return null;
  // The code matches, so `sealColumns` wrote this.
  const { version, tables } = JSON.parse(sumsJson) as Omit<SealedState, 'end'>;
  return { end: { sequence, hash }, version, tables };
}

/** Returns the code over the columns of a seal. */
export function sealCode(
  key: SealKey,
  { sequence, hash: end, sums_json: sumsJson }: Omit<SealColumns, 'mac'>,
): string {
  return keyedCode(key, `seal ${sequence} ${end} ${sumsJson}`);
}
