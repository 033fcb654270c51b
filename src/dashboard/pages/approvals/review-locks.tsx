// Shows who is looking at a waiting request, and the button by which people say so. INVARIANT: claims only
// inform people: they stop nobody from deciding.

import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { useNow } from '../../parts/layout/time.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { personWords } from '../requests/timeline-events.ts';
import './review-locks.css';

export type ReviewLock = Reply<'listReviewLocks'>['items'][number];

interface ReviewLocks {
  readonly of: (requestId: string) => readonly ReviewLock[];
  readonly isOwn: (requestId: string) => boolean;
  /** Takes the claim, or gives it back if the person has it. */
  readonly turn: (requestId: string) => Promise<void>;
  readonly problem: unknown;
}

export function useReviewLocks(): ReviewLocks {
  const maySee = useGrant('requests.view') !== 'no';
  const { data, reload } = useResource('listReviewLocks', maySee ? {} : null, ['approvals']);
  const { problem, run } = useSending();
  const of = (id: string) => data?.items.filter(({ request_id }) => request_id === id) ?? [];
  const isOwn = (id: string) => of(id).some(({ is_own }) => is_own);
  const turn = (id: string): Promise<void> =>
    run(async () => {
      const hadIt = isOwn(id);
      await (hadIt ? call('releaseRequest', { params: { id } }) : call('lockRequest', { params: { id } }));
      tellDone(hadIt ? 'You have given it back' : 'Claimed: others see it');
      reload();
    });
  return { of, isOwn, turn, problem };
}

export function Looking({ claims }: { readonly claims: readonly ReviewLock[] }) {
  const now = useNow();
  return claims
    .filter(({ until }) => Date.parse(until) > now)
    .map(({ by, name, is_own, since }) => (
      <span key={by} class="claims-looking">
        <Icon name="looking" size={14} />
        <span title={personWords(by)}>
          {is_own ? (
            'You are'
          ) : (
            <>
              <PlainText text={name} isShort /> is
            </>
          )}{' '}
          looking at it · <time dateTime={since}>{sinceText(now - Date.parse(since))}</time>
        </span>
      </span>
    ));
}

function sinceText(ms: number): string {
  return ms < 60_000 ? 'just now' : spanText(Math.floor(ms / 60_000) * 60_000);
}

export function ReviewLockButton({ claims, id }: { readonly claims: ReviewLocks; readonly id: string }) {
  const isOwn = claims.isOwn(id);
  const word = isOwn ? 'Give back' : 'Claim';
  const title = isOwn ? 'You are looking at it no more' : 'Others see that you are looking at it';
  return (
    <Button icon="looking" aria-label={word} title={title} onClick={() => claims.turn(id)}>
      <span class="claims-word">{word}</span>
    </Button>
  );
}
