// How far a destination has the records, as a document of the store, found by the name of the destination. It also says
// which process sends, until when, and what went wrong. INVARIANT: a process changes only the version that it has read,
// so of several processes one alone moves the cursor.

import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import type { ChainStore, Store } from '../store/contract/store.ts';
import type { CursorStart } from './siem-settings.ts';

export interface Cursor {
  /** The name of the destination. */
  readonly id: string;
  readonly createdAtMs: number;
  /** The number of the last record that the receiver has; for syslog, that it should have. */
  readonly sequence: number;
  /**
   * Where the last batch began that may have been lost with the receiver, over a connection without acknowledgements;
   * it is sent again after a failure.
   */
  readonly resendAfter: number;
  /** When the receiver last took a batch; null before the first. */
  readonly deliveredAtMs: number | null;
  /** The process that sends, until `heldUntilMs`; null when none does. */
  readonly holder: string | null;
  readonly heldUntilMs: number;
  /** What has failed since the last delivery; null when nothing has. */
  readonly failure: { readonly reason: string; readonly sinceMs: number } | null;
  /** The record that the receiver refuses and at which the stream has stopped; null when there is none. */
  readonly refused: RefusedRecord | null;
  /** The last records that the receiver did not get; null when it got all. */
  readonly gap: { readonly firstSequence: number; readonly sequence: number; readonly atMs: number } | null;
}

export interface RefusedRecord {
  readonly sequence: number;
  readonly reason: string;
  readonly sinceMs: number;
}

export type StoredCursor = ReadDocument<Cursor>;

export function cursorsIn({ documents }: Pick<Store, 'documents'>): Collection<Cursor> {
  return createCollection<Cursor>(documents, 'siem-cursor', () => ({}));
}

/** The cursor of a destination that has none yet. */
export async function firstCursor(
  chain: Pick<ChainStore, 'segment'>,
  { id, start, nowMs }: { readonly id: string; readonly start: CursorStart; readonly nowMs: number },
): Promise<Cursor> {
  // Beyond the last record, so that no record up to `lastSequence` is still being written.
  const { lastSequence, pruning } = await chain.segment(Number.MAX_SAFE_INTEGER - 1, 1);
  const sequence = start === 'now' ? lastSequence : (pruning?.sequence ?? 0);
  return {
    id,
    createdAtMs: nowMs,
    sequence,
    resendAfter: sequence,
    deliveredAtMs: null,
    holder: null,
    heldUntilMs: 0,
    failure: null,
    refused: null,
    gap: null,
  };
}
