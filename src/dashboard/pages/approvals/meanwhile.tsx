// What became of a request while somebody looked at it, told at once: it waits no more, by whose decision, and what is next.

import type { Reply } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Icon, type IconName } from '../../parts/layout/icon.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { personWords, type RequestDetail } from '../requests/timeline-events.ts';
import { Deadline } from './deadline.tsx';

export type Next = Reply<'listApprovals'>['items'][number];

/** The most urgent of what else waits for the person. */
export function useNext(id: string): Next | null {
  const mayApprove = useGrant('requests.approve') !== 'no';
  const { data } = useResource('listApprovals', mayApprove ? { query: { limit: '2' } } : null, ['approvals']);
  return data?.items.find(({ request_id }) => request_id !== id) ?? null;
}

interface MeanwhileProps {
  readonly request: RequestDetail;
  /** Somebody has just decided here. */
  readonly isOwnDoing: boolean;
  readonly next: Next | null;
}

export function Meanwhile({ request, isOwnDoing, next }: MeanwhileProps) {
  const isOver = request.status !== 'pending';
  const tone = !isOver ? 'unknown' : toneOf(request.status);
  const isShown = isOver || isOwnDoing;
  return (
    <div role="status" class="approval-status">
      {isShown && (
        <div class={`note note-${tone}`}>
          <Icon name={isOver ? signOf(request.status) : 'clock'} />
          <div>
            <strong>
              {isOver ? overWords(request.status) : 'Your decision is recorded; it waits for others'}
            </strong>
            {isOver && <ByWhom request={request} />}
            {next === null ? (
              <p>
                Nothing else waits for you. <a href="/approvals">Back to queue</a>
              </p>
            ) : (
              <div class="approval-next">
                <ButtonLink href={`/approvals/${next.request_id}`} look="primary" icon="right">
                  Next in queue
                </ButtonLink>
                <PlainText text={next.action_key} isShort /> <Deadline at={next.expires_at} />
              </div>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

function ByWhom({ request: { approvals, status } }: { readonly request: RequestDetail }) {
  const last = approvals.at(-1);
  if (last === undefined || status === 'expired') return null;
  return (
    <p>
      Last decision by <PlainText text={personWords(last.by)} isShort />:{' '}
      {last.is_approved ? 'approved' : 'rejected'}.
    </p>
  );
}

function toneOf(status: RequestDetail['status']): string {
  if (status === 'rejected') return 'deny';
  return status === 'expired' ? 'unknown' : 'allow';
}

function signOf(status: RequestDetail['status']): IconName {
  if (status === 'rejected') return 'deny';
  return status === 'expired' ? 'clock' : 'allow';
}

function overWords(status: RequestDetail['status']): string {
  switch (status) {
    case 'rejected':
      return 'Decided: rejected';
    case 'expired':
      return 'The deadline has passed; this can no longer be approved';
    case 'consumed':
      return 'Decided, and the grant was used';
    default:
      return 'Decided: approved';
  }
}
