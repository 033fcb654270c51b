// Shows at once what happened to the request on the screen: who decided it, and which request is next in the
// inbox.

import { useEffect, useRef } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Icon, type IconName } from '../../parts/layout/icon.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { PersonName } from '../requests/people.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';
import { Deadline } from './deadline.tsx';
import type { QueueItem } from './queue-groups.ts';

/** The most urgent other request that waits for the person; null when there is none. */
export function useNext(id: string): QueueItem | null {
  const mayApprove = useGrant('requests.approve') !== 'no';
  const { data } = useResource('listApprovals', mayApprove ? { query: { limit: '2' } } : null, ['approvals']);
  return data?.items.find(({ request_id }) => request_id !== id) ?? null;
}

export type OwnDecision = 'approved' | 'rejected' | 'stepped up';

interface StatusNoteProps {
  readonly request: RequestDetail;
  /** What the reader has just done on this page; null when nothing. */
  readonly ownDecision: OwnDecision | null;
  readonly next: QueueItem | null;
}

export function StatusNote({ request, ownDecision, next }: StatusNoteProps) {
  const isOver = request.status !== 'pending';
  const tone = !isOver ? 'unknown' : toneOf(request.status);
  const isShown = isOver || ownDecision !== null;
  const status = useFocusOfNext(ownDecision);
  return (
    <div
      ref={status}
      role="status"
      class={ownDecision === null ? 'approval-status' : 'approval-status approval-status-own'}
    >
      {isShown && (
        <div class={`note note-${tone}`}>
          <Icon name={isOver ? signOf(request.status) : 'clock'} />
          <div>
            <strong>
              {isOver ? overText(request.status) : `You ${ownDecision}; ${neededText(request)}`}
            </strong>
            {isOver && <ByWhom request={request} ownDecision={ownDecision} />}
            {next === null ? (
              <p>
                No other requests for you. <a href="/approvals">Back to inbox</a>
              </p>
            ) : (
              <div class="approval-next">
                <ButtonLink href={`/approvals/${next.request_id}`} variant="primary" icon="right">
                  Next in inbox
                </ButtonLink>
                <PlainText text={next.title === '' ? next.action_key : next.title} isShort />{' '}
                <Deadline at={next.expires_at} />
              </div>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

/** After the person's own act, moves the focus to the link that leads on. The page stays where it is if that is in sight. */
function useFocusOfNext(ownDecision: OwnDecision | null) {
  const status = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (ownDecision === null) return;
    status.current?.querySelector('a')?.focus({ preventScroll: true });
    const { top = 0 } = status.current?.getBoundingClientRect() ?? {};
    if (top < 0 || top > window.innerHeight) status.current?.scrollIntoView({ block: 'nearest' });
  }, [ownDecision]);
  return status;
}

function ByWhom({ request, ownDecision }: Pick<StatusNoteProps, 'request' | 'ownDecision'>) {
  const { approvals, status, people } = request;
  const { id: ownId } = usePerson();
  const last = approvals.at(-1);
  if (last === undefined || status === 'expired') return null;
  if (ownDecision === 'approved' && status === 'rejected')
    return <p>You approved, but the active policies refuse it.</p>;
  if (last.by.includes(ownId)) return <p>You {last.is_approved ? 'approved' : 'rejected'} it.</p>;
  return (
    <p>
      Last decision by <PersonName by={last.by} people={people} />:{' '}
      {last.is_approved ? 'approved' : 'rejected'}.
    </p>
  );
}

/** How many approvals a waiting request still needs. */
function neededText({ requires }: Pick<RequestDetail, 'requires'>): string {
  const needed = (requires?.approvals ?? []).reduce((sum, { needs, given }) => sum + needs - given, 0);
  if (needed > 0) return `${needed} more ${needed === 1 ? 'approval' : 'approvals'} needed`;
  return requires?.step_up === true ? 'a step-up by the control owner is needed' : 'it is still pending';
}

function toneOf(status: RequestDetail['status']): string {
  if (status === 'rejected' || status === 'withdrawn') return 'deny';
  return status === 'expired' ? 'unknown' : 'allow';
}

function signOf(status: RequestDetail['status']): IconName {
  if (status === 'rejected' || status === 'withdrawn') return 'deny';
  return status === 'expired' ? 'clock' : 'allow';
}

function overText(status: RequestDetail['status']): string {
  switch (status) {
    case 'rejected':
      return 'Decided: rejected';
    case 'expired':
      return 'The deadline has passed; this can no longer be approved';
    case 'withdrawn':
      return 'The agent has withdrawn the request';
    case 'consumed':
      return 'Decided, and the grant was used';
    default:
      return 'Decided: approved';
  }
}
