// Shows who is reviewing a pending request, and the button that starts or ends a review. INVARIANT: review locks
// only inform people: they stop nobody from deciding.

import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { useNow } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import './review-locks.css';

export type ReviewLock = Reply<'listReviewLocks'>['items'][number];

interface ReviewLocks {
  readonly of: (requestId: string) => readonly ReviewLock[];
  readonly isOwn: (requestId: string) => boolean;
  /** Takes the person's review lock, or releases it. */
  readonly toggle: (requestId: string) => Promise<void>;
  readonly problem: unknown;
}

export function useReviewLocks(): ReviewLocks {
  const maySee = useGrant('requests.view') !== 'no';
  const { data, reload } = useResource('listReviewLocks', maySee ? {} : null, ['approvals']);
  const { problem, run } = useSending();
  const of = (id: string) => data?.items.filter(({ request_id }) => request_id === id) ?? [];
  const isOwn = (id: string) => of(id).some(({ is_own }) => is_own);
  const toggle = (id: string): Promise<void> =>
    run(async () => {
      const hadIt = isOwn(id);
      await (hadIt ? call('releaseRequest', { params: { id } }) : call('lockRequest', { params: { id } }));
      showToast(hadIt ? 'Your review has ended' : 'Reviewing: others see it');
      reload();
    });
  return { of, isOwn, toggle, problem };
}

export function Reviewers({ locks }: { readonly locks: readonly ReviewLock[] }) {
  const now = useNow();
  return locks
    .filter(({ until }) => Date.parse(until) > now)
    .map(({ by, name, is_own, since }) => (
      <span key={by} class="review-mark">
        <Icon name="review" size={14} />
        <span title={by}>
          {is_own ? (
            'You are'
          ) : (
            <>
              <PlainText text={name} isShort /> is
            </>
          )}{' '}
          reviewing this · <time dateTime={since}>{sinceText(now - Date.parse(since))}</time>
        </span>
      </span>
    ));
}

function sinceText(ms: number): string {
  return ms < 60_000 ? 'just now' : spanText(Math.floor(ms / 60_000) * 60_000);
}

export function ReviewLockButton({ locks, id }: { readonly locks: ReviewLocks; readonly id: string }) {
  const isOwn = locks.isOwn(id);
  const word = isOwn ? 'End review' : 'Start review';
  const title = isOwn
    ? 'Others no longer see that you are reviewing this'
    : 'Others see that you are reviewing this';
  return (
    <Button icon="review" title={title} onClick={() => locks.toggle(id)}>
      {word}
    </Button>
  );
}
