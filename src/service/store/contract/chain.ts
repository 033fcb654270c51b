// What makes records a chain: they are numbered, and each carries a hash over the one before it in its lane and over
// itself. One process alone writes one lane, without gaps; of several, each has its own, and knots tie them together.
// INVARIANT: a person who changes, removes, adds or moves a record must change every hash after it in its lane; the last
// ones stand for them all.

import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** Every record is of one of these kinds; they share one chain. A `knot` names the end of each lane but its own. */
export type RecordKind = 'request' | 'refusal' | 'change' | 'event' | 'knot';

/** A place in the chain: the number of a record and its hash, 64 hexadecimal digits. */
export interface Link {
  readonly sequence: number;
  readonly hash: string;
}

/** Before the first record. */
export const chainStart: Link = { sequence: 0, hash: '0'.repeat(64) };

/** All that a record holds, but for its hash; its times are milliseconds since 1970-01-01T00:00Z. */
export interface ChainEntry {
  readonly kind: RecordKind;
  readonly sequence: number;
  /** Among them `lane`, absent in lane 0; `follows`, the record before in the lane, absent in lane 0 where it is the one before. */
  readonly [name: string]: string | number | null;
}

/** A record as it is stored, with the hash that it was given. */
export interface ChainRecord {
  readonly entry: ChainEntry;
  readonly hash: string;
  /** Of a request, which events may have changed since; null for all other records. */
  readonly later: LaterStates | null;
}

/** How a request stands after its events. Both say the same unless someone tampered. */
export interface LaterStates {
  /** As the row of the request has it, by which queries find it. */
  readonly stored: LaterState;
  /** As its last event says. */
  readonly byEvents: LaterState;
}

/** As it is stored; all null where nothing has become of the request. */
export interface LaterState {
  readonly status: string | null;
  readonly decidedAtMs: number | null;
  readonly expiresAtMs: number | null;
}

/**
 * SHA-256 over texts, in hexadecimal: the previous hash, the canonical JSON of the entry without `record_json`, and
 * `record_json` as it is. Where JSON ends is seen in it, so no two entries have the same texts one after the other.
 */
export function linkHash(previousHash: string, entry: ChainEntry): string {
  const { record_json: _, ...columns } = entry;
  return hash('sha256', previousHash + canonicalJson(columns) + longText(entry));
}

/** The one column that is long and JSON already: that of a request. Empty where the entry has none. */
export function longText({ record_json: text = '' }: ChainEntry): string {
  if (typeof text !== 'string' || !text.isWellFormed()) throw new RangeError('a record is well-formed text');
  return text;
}
