// Changes the marks that people leave in the inbox, and tries again when another window has written in
// between. INVARIANT: a change is made on what is stored at that time, and never overwrites what somebody
// else has just written.

import { type Collection, createCollection, type Facets } from '../../store/contract/collection.ts';
import type { DocumentResult, DocumentStore } from '../../store/contract/documents.ts';

/** Kinds of documents that an open inbox shows; none of them decides anything. */
export const inboxKinds = ['claim', 'assignment', 'snooze'] as const;

export interface Step<Result> {
  /** What to write; null changes nothing. */
  readonly write: Parameters<DocumentStore['write']>[0][number] | null;
  readonly result: Result;
}

/** A value that ends at a given moment. */
interface ExpiringItem {
  readonly id: string;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

const triesMax = 5;

export interface InboxKind<T extends ExpiringItem> {
  readonly kind: (typeof inboxKinds)[number];
  readonly parentOf: (value: T) => string;
}

/** Calls `next` until what it wants to write is stored. Throws when that fails `triesMax` times. */
export async function untilChanged<T extends ExpiringItem, Result>(
  documents: DocumentStore,
  { kind, parentOf }: InboxKind<T>,
  next: (values: Collection<T>) => Promise<Step<Result>>,
): Promise<Result> {
  const facets = (value: T): Facets => ({ parent: parentOf(value), endsAtMs: value.endsAtMs });
  const values = createCollection<T>(documents, kind, facets);
  let last: DocumentResult = 'conflict';
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { write, result } = await next(values);
    last = write === null ? 'changed' : await documents.write([write], null);
    if (last === 'changed') return result;
  }
  throw new Error(`a ${kind} could not be stored: ${last}`);
}

/** Returns the marks that count at a moment, the latest first; reads at most `countMax` stored marks. */
export async function inboxMarksAt<T extends ExpiringItem>(
  documents: Pick<DocumentStore, 'list'>,
  { kind }: InboxKind<T>,
  { nowMs, countMax, parent = null }: CountingPage,
): Promise<readonly T[]> {
  const rows = await documents.list({ kind, parent, after: null, countMax });
  return rows.map(({ json }) => JSON.parse(json) as T).filter(({ endsAtMs }) => endsAtMs > nowMs);
}

interface CountingPage {
  readonly nowMs: number;
  readonly countMax: number;
  readonly parent?: string | null;
}
