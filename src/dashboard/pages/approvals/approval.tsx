// One request for its approvers: exactly what will be done, what is usual, the deadline, and the vote.
// INVARIANT: nothing of the payload is hidden without a mark, and a request that no longer waits cannot be
// decided.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { go } from '../../navigation/navigation.ts';
import type { PageProps } from '../../navigation/page-props.ts';
import { ShortcutHint, useShortcuts } from '../../parts/dialog/shortcuts.tsx';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { GroupGaps } from '../../parts/people/group-gap.tsx';
import { onBehalfFacts } from '../../parts/text/on-behalf.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { ControlOwner } from '../requests/people.tsx';
import { planFacts } from '../requests/plan-link.tsx';
import { RequestTimeline } from '../requests/request-timeline.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';
import './approval.css';
import { Assignment, SnoozeDialog } from './assignment.tsx';
import { Deadline } from './deadline.tsx';
import { Discussion } from './discussion.tsx';
import type { VoteKind } from './draft.ts';
import { PayloadSection } from './payload-section.tsx';
import { RelatedRequests } from './related.tsx';
import { Reviewers, ReviewLockButton, useReviewLocks } from './review-locks.tsx';
import { ReviewNotes } from './review-notes.tsx';
import { type OwnDecision, StatusNote, useNext } from './status-note.tsx';
import { useVoteOfAddress } from './vote-of-address.ts';
import { VotePanel } from './vote-panel.tsx';
import { HiddenThings } from './warnings.tsx';

export default function ApprovalPage({ params: { id = '' } }: PageProps) {
  const { data, problem, reload } = useResource('getRequest', { params: { id } }, ['approvals', 'requests']);
  if (data === null) {
    return (
      <PageFrame title="Approval">
        {problem === null ? <Loading /> : <ProblemNote problem={problem} onRetry={reload} />}
        <div>
          <ButtonLink href="/approvals" icon="back">
            Back to inbox
          </ButtonLink>
        </div>
      </PageFrame>
    );
  }
  return <Whole request={data} problem={problem} reload={reload} />;
}

interface WholeProps {
  readonly request: RequestDetail;
  readonly problem: unknown;
  readonly reload: () => void;
}

function Whole({ request, problem, reload }: WholeProps) {
  const { request_id: id, action_key, title, status, expires_at, reason } = request;
  const isPending = status === 'pending';
  const [requestedVote, setRequestedVote] = useState<{ readonly vote: VoteKind } | null>(null);
  const [ownDecision, setOwnAct] = useState<OwnDecision | null>(null);
  const [isSteppingUp, setSteppingUp] = useState(false);
  const mayStepUp = request.allowed_actions?.step_up === true;
  const mayVote =
    (request.allowed_actions?.approve.length ?? 0) > 0 || request.allowed_actions?.reject === true;
  useVoteOfAddress((vote) => setRequestedVote({ vote }));
  const isBar = isPending && ownDecision === null && (mayVote || mayStepUp);
  const next = useNext(id);
  const locks = useReviewLocks();
  const mayReview = request.allowed_actions?.comment === true;
  const isAssignable = isPending && mayReview;
  const [isSnoozing, setSnoozing] = useState(false);
  const goNext = (): void => go(next === null ? '/approvals' : `/approvals/${next.request_id}`);
  useDeadline(isPending ? expires_at : null, reload);
  const keys = useShortcuts([
    { keys: ['a'], label: 'Approve, with a comment', run: () => setRequestedVote({ vote: 'approve' }) },
    { keys: ['r'], label: 'Reject, with a comment', run: () => setRequestedVote({ vote: 'reject' }) },
    ...(mayStepUp ? [{ keys: ['s'], label: 'Step up', run: () => setSteppingUp(true) }] : []),
    ...(mayReview
      ? [{ keys: ['c'], label: 'Start or end your review', run: () => void locks.toggle(id) }]
      : []),
    ...(isAssignable ? [{ keys: ['h'], label: 'Snooze it', run: () => setSnoozing(true) }] : []),
    { keys: ['Ctrl + Enter'], label: 'Send' },
    { keys: ['n'], label: 'Next in inbox', run: goNext },
    { keys: ['u'], label: 'Back to inbox', run: () => go('/approvals') },
  ]);
  return (
    <div class="approval">
      <PageFrame
        title="Approval"
        heading={<PlainText text={title === '' ? action_key : title} />}
        beside={
          isPending ? (
            <Deadline at={expires_at} isLarge />
          ) : (
            <StatusBadge status={status} decision={request.decision} />
          )
        }
        lead={
          <>
            <PlainText text={reason} />
            {title !== '' && (
              <span class="approval-action">
                <PlainText text={action_key} isShort />
              </span>
            )}
          </>
        }
        actions={
          <>
            <ButtonLink href="/approvals" icon="back" variant="quiet">
              Back to inbox
            </ButtonLink>
            <ButtonLink href={`/requests/${id}`} icon="list">
              Full details
            </ButtonLink>
            {mayReview && <ReviewLockButton locks={locks} id={id} />}
          </>
        }
      >
        <ProblemNote problem={problem} />
        <ProblemNote problem={locks.problem} />
        <GroupGaps {...request} />
        {locks.of(id).length > 0 && (
          <div>
            <Reviewers locks={locks.of(id)} />
          </div>
        )}
        <StatusNote request={request} ownDecision={ownDecision} next={next} />
        <HiddenThings request={request} />
        <ReviewNotes request={request} />
        <div class="approval-columns">
          <div class="approval-main">
            <PayloadSection request={request} />
            <Section title="What happened">
              <RequestTimeline request={request} />
            </Section>
            <div class="approval-discussion">
              <Discussion request={request} reload={reload} />
            </div>
          </div>
          <div class="approval-aside">
            <div class={isBar ? 'approval-vote approval-bar' : 'approval-vote'}>
              <VotePanel
                request={request}
                asked={requestedVote}
                reload={reload}
                isSteppingUp={isSteppingUp}
                onStepUp={setSteppingUp}
                onRevoked={() => {
                  setOwnAct(null);
                  reload();
                }}
                isDone={ownDecision !== null}
                onSent={(act) => {
                  setOwnAct(act);
                  reload();
                }}
              />
            </div>
            {isAssignable && <Assignment id={id} onSnooze={() => setSnoozing(true)} />}
            <Section title="Who asks">
              <WhoAsks request={request} />
            </Section>
            <Section title="Other requests">
              <RelatedRequests request={request} />
            </Section>
          </div>
        </div>
        {isSnoozing && <SnoozeDialog request={request} onDone={goNext} onClose={() => setSnoozing(false)} />}
        <ShortcutHint />
        {keys}
      </PageFrame>
    </div>
  );
}

const timerMsMax = 2 ** 31 - 1;
/**
 * Milliseconds after the deadline at which the request is loaded again. The service reports the end of a wait
 * at once, and records it within about a second.
 */
const afterDeadlineMs = [50, 2_000];

/** Calls `look` again once the deadline has passed. */
function useDeadline(at: string | null, onDeadline: () => void): void {
  const latest = useRef(onDeadline);
  latest.current = onDeadline;
  useEffect(() => {
    if (at === null) return;
    const leftMs = Math.max(0, Date.parse(at) - Date.now());
    const timers = afterDeadlineMs.map((afterMs) =>
      setTimeout(() => latest.current(), Math.min(timerMsMax, leftMs + afterMs)),
    );
    return () => timers.forEach(clearTimeout);
  }, [at]);
}

/** The names of the delegations by which a sub-agent asks. */
function namesOf({ chain }: RequestDetail): string {
  return chain.map(({ name }) => name).join(' › ');
}

function WhoAsks({ request }: { readonly request: RequestDetail }) {
  const { agent, matched_policy, risk_score } = request;
  const about = (value: unknown) => (
    <PlainText text={typeof value === 'string' ? value : 'unknown'} isShort />
  );
  const tags = Array.isArray(agent.tags) && agent.tags.length > 0 ? agent.tags.join(', ') : 'none';
  return (
    <Facts
      items={[
        ['Agent', about(agent.name)],
        ...planFacts(request),
        ...(request.chain.length === 0 ? [] : [['Sub-agent', about(namesOf(request))] as const]),
        ['Risk tier', about(agent.risk_tier)],
        ['Control owner', <ControlOwner key="owner" request={request} />],
        ...onBehalfFacts(request),
        ['Tags', about(tags)],
        ['Policy', about(matched_policy)],
        ['Risk of this request', `${risk_score} of 100`],
      ]}
    />
  );
}
