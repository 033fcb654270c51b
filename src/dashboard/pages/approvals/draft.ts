// An unsent vote on a request, kept in this tab: a session that ends or a reload loses nothing. INVARIANT: nobody sees what
// another person has written.

import { useCallback, useState } from 'preact/hooks';

export type VoteKind = 'approve' | 'reject';

export interface Draft {
  /** Null while neither is chosen. */
  readonly vote: VoteKind | null;
  readonly comment: string;
  /** Of several that could be answered for; empty while none is chosen. */
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
    (given: Partial<Draft> | null) =>
      setDraft((before) => {
        const next = given === null ? empty : { ...before, ...given };
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
    // The page keeps it, for as long as that is open.
  }
}
