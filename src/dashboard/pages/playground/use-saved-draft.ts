// The person's draft as the service keeps it. INVARIANT: a draft that another window has saved is never overwritten
// unseen.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useSending } from '../../parts/form/form.ts';
import type { Change } from './draft-files.ts';

export type SavedDraft = NonNullable<Reply<'getPolicyDraft'>['draft']>;

export interface SavedDraftState {
  /** Null when nothing is saved, and until the service has answered. */
  readonly draft: SavedDraft | null;
  readonly isLoaded: boolean;
  /** The path of the policy directory from the top of its repository; null when it is in none. */
  readonly repositoryPath: string | null;
  readonly isBusy: boolean;
  readonly problem: unknown;
  readonly save: (changes: readonly Change[]) => void;
  /** Rejects with the problem. */
  readonly remove: () => Promise<void>;
}

export function useSavedDraft(): SavedDraftState {
  const loaded = useResource('getPolicyDraft', {});
  /** What this window has saved or deleted since. */
  const [latest, setLatest] = useState<{ readonly draft: SavedDraft | null } | null>(null);
  const { isBusy, problem, run } = useSending();
  const draft = latest === null ? (loaded.data?.draft ?? null) : latest.draft;
  const change = async (work: () => Promise<SavedDraft | null>): Promise<void> => {
    try {
      setLatest({ draft: await work() });
    } catch (error) {
      // Another window may have saved: the person sees its draft before writing over it.
      setLatest(null);
      loaded.reload();
      throw error;
    }
  };
  return {
    draft,
    isLoaded: loaded.data !== null,
    repositoryPath: loaded.data?.repository_path ?? null,
    isBusy,
    problem: problem ?? loaded.problem,
    save: (changes) =>
      void run(() =>
        change(() =>
          call('savePolicyDraft', {
            body: { files: changes.map(({ path, text }) => ({ path, text })), version: draft?.version ?? 0 },
          }),
        ),
      ),
    remove: () =>
      change(async () => {
        if (draft !== null) await call('deletePolicyDraft', { query: { version: String(draft.version) } });
        return null;
      }),
  };
}

/** Whether the changes are those of the draft. */
export function isSavedAs(changes: readonly Change[], draft: SavedDraft | null): boolean {
  if (draft === null || draft.files.length !== changes.length) return false;
  const saved = new Map(draft.files.map(({ path, text }) => [path, text]));
  return changes.every(({ path, text }) => saved.get(path) === text);
}
