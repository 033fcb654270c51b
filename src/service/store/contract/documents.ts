// What people set up, as small documents: accounts, tokens, invitations, switches, webhooks. A store knows
// the kind of a document, its id and two more texts to find it by, and does not read the rest. INVARIANT: a
// document is changed only by a writer that has seen its latest version, several together or none, and with
// the record of who did it.

import type { CanonicalValue } from './canonical-json.ts';

export interface DocumentRow {
  /** A word that names the kind, such as `person`. */
  readonly kind: string;
  /** Unique within the kind. */
  readonly id: string;
  /** 1 at first; grows by 1 with each change. */
  readonly version: number;
  /** A second text that is unique within the kind, without regard to ASCII case; null for none. */
  readonly name: string | null;
  /** What the document belongs to, such as the person of a token; null for nothing. */
  readonly parent: string | null;
  readonly createdAtMs: number;
  /** The document may be deleted from this moment on; null for never. */
  readonly endsAtMs: number | null;
  readonly json: string;
}

/**
 * A document to be written. `seen` is the version that it replaces; 0 when the document must not exist yet.
 */
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

/** What a person did, for the record. Must not hold a secret. */
export interface ManagementChange {
  readonly atMs: number;
  /** The person's name in the record. */
  readonly who: string;
  /** What the person did, such as `person-invited`. */
  readonly what: string;
  /** The id of what was changed. */
  readonly subject: string;
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

/**
 * `conflict`: a document has another version than the one seen. `name-taken`: another document of the kind
 * has the name. After either, nothing was changed.
 */
export type DocumentResult = 'changed' | 'conflict' | 'name-taken';

export interface DocumentPage {
  readonly kind: string;
  /** Only documents of this parent; null for all. */
  readonly parent: string | null;
  /** The last document of the page before, by time and id; null for the first page. */
  readonly after: Pick<DocumentRow, 'createdAtMs' | 'id'> | null;
  readonly countMax: number;
}

export function kindsOf(writes: readonly DocumentWrite[]): readonly string[] {
  return writes.map(({ kind }) => kind);
}

export interface DocumentStore {
  find(kind: string, id: string): Promise<DocumentRow | null>;
  findByName(kind: string, name: string): Promise<DocumentRow | null>;
  /** Returns a page of documents, the latest first. */
  list(page: DocumentPage): Promise<readonly DocumentRow[]>;
  /**
   * A number that grows with every recorded change of a document of the kind, by any process; 0 before the
   * first change.
   */
  generation(kind: string): Promise<number>;
  /**
   * Writes all documents or none. A null `change` writes no record: for changes that matter to nobody else,
   * such as a last use.
   */
  write(writes: readonly DocumentWrite[], change: ManagementChange | null): Promise<DocumentResult>;
  /** Deletes documents that ended before `atMs`, at most `countMax`; returns how many were deleted. */
  removeEnded(kind: string, atMs: number, countMax: number): Promise<number>;
  /**
   * A count that grows when a change of a document of the kind is asked for through this store, and again
   * when the change is done. What was read before it grew may be out of date. Changes by other processes do
   * not count.
   */
  changesHere(kind: string): number;
}
