// What people set up, as small documents: accounts, tokens, invitations, switches, webhooks. A store knows their kind,
// their id and two words to find them by, and does not look into the rest. INVARIANT: a document is changed only by
// who has seen its latest version, several together or none, and with the record of who did it.

import type { CanonicalValue } from './canonical-json.ts';

export interface DocumentRow {
  /** A word, such as `person`. */
  readonly kind: string;
  /** Unique within its kind. */
  readonly id: string;
  /** 1 at first, one more with each change. */
  readonly version: number;
  /** Another text that is unique within its kind, upper and lower case ASCII letters taken as equal; null for none. */
  readonly name: string | null;
  /** What it belongs to, such as the person of a token; null for nothing. */
  readonly parent: string | null;
  readonly createdAtMs: number;
  /** From this moment it may be deleted; null for never. */
  readonly endsAtMs: number | null;
  readonly json: string;
}

/** A document as it is to be: `seen` is the version that it replaces, 0 where there must be none yet. */
export interface DocumentPut extends Omit<DocumentRow, 'version'> {
  readonly seen: number;
}

export interface DocumentRemoval {
  readonly kind: string;
  readonly id: string;
  readonly seen: number;
  readonly isRemoval: true;
}

export type DocumentWrite = DocumentPut | DocumentRemoval;

/** What a person did, for the record. No secret may be in it. */
export interface ManagementChange {
  readonly atMs: number;
  /** The person, as the record names them. */
  readonly who: string;
  /** Such as `person-invited`. */
  readonly what: string;
  /** The id of what was changed. */
  readonly subject: string;
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

/** `conflict`: a document has another version than the one seen. `name-taken`: another has the name. Nothing was changed. */
export type DocumentResult = 'changed' | 'conflict' | 'name-taken';

export interface DocumentPage {
  readonly kind: string;
  /** Only what belongs to it; null for all. */
  readonly parent: string | null;
  /** The last one of the page before, by time and id; null for the first page. */
  readonly after: Pick<DocumentRow, 'createdAtMs' | 'id'> | null;
  readonly countMax: number;
}

export function kindsOf(writes: readonly DocumentWrite[]): readonly string[] {
  return writes.map(({ kind }) => kind);
}

export interface DocumentStore {
  find(kind: string, id: string): Promise<DocumentRow | null>;
  findByName(kind: string, name: string): Promise<DocumentRow | null>;
  /** The latest first. */
  list(page: DocumentPage): Promise<readonly DocumentRow[]>;
  /** Grows with every change of a document of the kind that is on record, made by whichever process; 0 before the first. */
  generation(kind: string): Promise<number>;
  /** All or none; a change of no consequence to anybody else, such as a last use, is recorded with null. */
  write(writes: readonly DocumentWrite[], change: ManagementChange | null): Promise<DocumentResult>;
  /** Deletes what ended before `atMs`, at most so many; returns how many. */
  removeEnded(kind: string, atMs: number, countMax: number): Promise<number>;
  /**
   * Grows whenever a change of a document of the kind is asked for through this store, and again when it is done: what was found
   * before may be out of date. Changes of other processes do not show here.
   */
  changesHere(kind: string): number;
}
