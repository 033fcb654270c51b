// Drafts of policies: files that a person has changed and not carried over into the policy directory. INVARIANT: a
// draft is kept beside the records and read by its person alone; nothing that decides reads it.

import { createCollection } from '../store/contract/collection.ts';
import type { DocumentStore } from '../store/contract/documents.ts';

interface DraftFile {
  /** Relative to the policy directory. */
  readonly path: string;
  readonly text: string;
}

export interface PolicyDraft {
  /** The id of the person. */
  readonly id: string;
  /** The changed files, each whole. */
  readonly files: readonly DraftFile[];
  /** The digest of the policies that were active when the draft was saved. */
  readonly basis: string;
  /** When the draft was saved, in milliseconds. */
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

/** A draft is deleted when it has not been saved for this long. */
export const draftDays = 90;
const keptMs = draftDays * 86_400_000;

export interface StoredDraft {
  readonly draft: PolicyDraft;
  /** Grows by 1 each time the draft is saved. */
  readonly version: number;
}

export interface PolicyDrafts {
  /** The draft of a person; null when there is none. */
  find(personId: string, nowMs: number): Promise<StoredDraft | null>;
  /**
   * Replaces the draft of the version `seen` (0 for none). `conflict`: another version is stored; nothing was changed.
   */
  save(draft: NewDraft, seen: number): Promise<'saved' | 'conflict'>;
  /** Deletes the draft of the version `seen`. */
  remove(personId: string, seen: number): Promise<'removed' | 'conflict'>;
}

export interface NewDraft extends Pick<PolicyDraft, 'id' | 'files' | 'basis'> {
  readonly nowMs: number;
}

export function createPolicyDrafts(documents: DocumentStore): PolicyDrafts {
  const drafts = createCollection<PolicyDraft>(documents, 'policy-draft', ({ id, endsAtMs }) => ({
    parent: id,
    endsAtMs,
  }));
  return {
    find: async (personId, nowMs) => {
      const stored = await drafts.find(personId);
      return stored === null || stored.value.endsAtMs <= nowMs
        ? null
        : { draft: stored.value, version: stored.version };
    },
    save: async ({ nowMs, ...draft }, seen) => {
      const createdAtMs = Math.trunc(nowMs);
      // A draft that has ended is not seen, and may still be stored.
      const ended = seen === 0 ? await drafts.find(draft.id) : null;
      const isEnded = ended !== null && ended.value.endsAtMs <= nowMs;
      const value = { ...draft, createdAtMs, endsAtMs: createdAtMs + keptMs };
      // The draft matters to nobody else, so no record tells of it.
      const result = await documents.write([drafts.put(value, isEnded ? ended.version : seen)], null);
      return result === 'changed' ? 'saved' : 'conflict';
    },
    remove: async (personId, seen) => {
      const found = await drafts.find(personId);
      if (found === null || found.version !== seen) return 'conflict';
      const result = await documents.write([drafts.remove(found.value, seen)], null);
      return result === 'changed' ? 'removed' : 'conflict';
    },
  };
}
