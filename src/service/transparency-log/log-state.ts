// What the transparency log has signed, as one document: its newest checkpoint, the checkpoint that it publishes,
// and what each witness last answered. INVARIANT: a checkpoint is signed only when the tree still has the root
// of the newest one at that one's size, so no two signed checkpoints contradict each other.

import { type Collection, createCollection } from '../store/contract/collection.ts';
import type { DocumentStore } from '../store/contract/documents.ts';

export interface WitnessState {
  /** The size of the tree that the witness last cosigned; 0 when none is known. */
  readonly size: number;
  /** When the witness first did not cosign a newer checkpoint, in milliseconds since 1970; null when it did. */
  readonly failingSinceMs: number | null;
  /** Why it does not cosign, in one sentence; null when it cannot be reached, or cosigns. */
  readonly refusal: string | null;
}

export interface LogState {
  readonly id: 'log';
  readonly createdAtMs: number;
  /** The newest checkpoint, with the cosignatures it has so far. */
  readonly newest: string;
  /** The checkpoint that is published; null until enough witnesses have cosigned one. */
  readonly published: string | null;
  /** When one of the processes last asked the witnesses, in milliseconds since 1970. */
  readonly askedAtMs: number;
  /** By name. */
  readonly witnesses: Readonly<Record<string, WitnessState>>;
}

export function logStateOf(documents: DocumentStore): Collection<LogState> {
  return createCollection<LogState>(documents, 'transparency-log', () => ({}));
}
