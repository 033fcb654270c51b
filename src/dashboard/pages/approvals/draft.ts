// Keeps an unsent vote on a request in this tab, so that an ended session or a reload loses nothing.
// INVARIANT: nobody sees what another person has written.

import { useCallback, useState } from 'preact/hooks';

export type VoteKind = 'approve' | 'reject';

export interface Draft {
  /** Null until one of the two is chosen. */
  readonly vote: VoteKind | null;
  readonly comment: string;
  /** The chosen group when the person may answer for several; empty until one is chosen. */
  readonly group: string;
}

const empty: Draft = { vote: null, comment: '', group: '' };

interface DraftKey {
  readonly requestId: string;
  readonly personId: string;
}

export function useDraft({
  requestId,
  personId,
}: DraftKey): readonly [Draft, (change: Partial<Draft> | null) => void] {
  const name = `writ.draft ${personId} ${requestId}`;
  const [draft, setDraft] = useState<Draft>(() => readDraft(name));
  const change = useCallback(
    (changes: Partial<Draft> | null) =>
      setDraft((before) => {
        const next = changes === null ? empty : { ...before, ...changes };
        keepDraft(name, next);
        return next;
      }),
    [name],
  );
  return [draft, change];
}

function readDraft(name: string): Draft {
  try {
    const { vote, comment, group } = JSON.parse(
      window.sessionStorage.getItem(name) ?? '{}',
    ) as Partial<Draft>;
    return {
      vote: vote === 'approve' || vote === 'reject' ? vote : null,
      comment: typeof comment === 'string' ? comment : '',
      group: typeof group === 'string' ? group : '',
    };
  } catch {
    return empty;
  }
}

function keepDraft(name: string, draft: Draft): void {
  try {
    if (draft.comment === '') window.sessionStorage.removeItem(name);
    else window.sessionStorage.setItem(name, JSON.stringify(draft));
  } catch {
    // If storage is not available, the draft lasts as long as the page is open.
  }
}
