// What makes records a chain: records are numbered, and each carries a hash over the record before it in its
// lane and over itself. A process that alone writes a lane leaves no gaps; each of several processes has its
// own lane, and knots tie the lanes together. INVARIANT: a person who changes, removes, adds or moves a
// record must change every hash after it in its lane, so the last hashes stand for all records.

import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** The kinds of record, which share one chain. A `knot` names the end of every lane except its own. */
export type RecordKind = 'request' | 'refusal' | 'change' | 'event' | 'knot';

/** A place in the chain: the number of a record and its hash, 64 hexadecimal digits. */
export interface Link {
  readonly sequence: number;
  readonly hash: string;
}

/** The place before the first record. */
export const chainStart: Link = { sequence: 0, hash: '0'.repeat(64) };

/** All columns of a record except its hash; times are milliseconds since 1970-01-01T00:00Z. */
export interface ChainEntry {
  readonly kind: RecordKind;
  readonly sequence: number;
  /**
   * `lane` is absent in lane 0. `follows` is the number of the record before in the lane; absent in lane 0
   * when that number is `sequence - 1`.
   */
  readonly [name: string]: string | number | null;
}

/** A stored record, with the hash that was stored for it. */
export interface ChainRecord {
  readonly entry: ChainEntry;
  readonly hash: string;
  /** The seal that was stored for it; absent for records that the store does not seal. */
  readonly seal?: string;
  /** How a request stands after its events; null for all other records. */
  readonly later: LaterStates | null;
}

/**
 * How a request stands after its events, as the store holds it in two places. The two states are equal unless
 * someone tampered with the store.
 */
export interface LaterStates {
  /** The state in the row of the request, by which queries find it. */
  readonly stored: LaterState;
  /** The state in the last event of the request. */
  readonly byEvents: LaterState;
}

/** A lifecycle state as stored; all fields are null when the request has no event. */
export interface LaterState {
  readonly status: string | null;
  readonly decidedAtMs: number | null;
  readonly expiresAtMs: number | null;
}

/**
 * Returns SHA-256, in hexadecimal, over three texts in a row: the previous hash, the canonical JSON of the
 * entry without `record_json`, and `record_json` unchanged. JSON shows where it ends, so no two entries give
 * the same row of texts. Throws RangeError when `record_json` is not well-formed text.
 */
export function linkHash(previousHash: string, entry: ChainEntry): string {
  const { record_json: _, ...columns } = entry;
  return hash('sha256', previousHash + canonicalJson(columns) + longText(entry));
}

/**
 * Returns `record_json`, the one column that is long and already JSON, which requests alone have; empty for
 * other entries. Throws RangeError when the column is not well-formed text.
 */
export function longText({ record_json: text = '' }: ChainEntry): string {
  if (typeof text !== 'string' || !text.isWellFormed()) throw new RangeError('a record is well-formed text');
  return text;
}
