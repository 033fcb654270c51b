// The side panel of the inbox: a request as on its own page, with the vote, beside the list. On a phone the page itself is
// opened instead.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainPieces, PlainText } from '../../parts/text/plain-text.tsx';
import { RequestTimeline } from '../requests/request-timeline.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';
import './approval.css';
import { Deadline } from './deadline.tsx';
import './peek.css';
import { PayloadSection } from './payload-section.tsx';
import { titleOf } from './queue-table.tsx';
import { ReviewNotes } from './review-notes.tsx';
import type { OwnDecision } from './status-note.tsx';
import { VotePanel } from './vote-panel.tsx';
import { HiddenThings } from './warnings.tsx';

interface PeekProps {
  readonly id: string;
  readonly onClose: () => void;
}

export function Peek({ id, onClose }: PeekProps) {
  const request = useResource('getRequest', { params: { id } }, ['approvals', 'requests']);
  const { data, problem, reload } = request;
  const isCurrent = data?.request_id === id;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.scrollTo(0, 0), [id]);
  return (
    <aside
      ref={panel}
      class="peek"
      aria-label="Preview"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header class="peek-head">
        <div class="peek-actions">
          <ButtonLink href={`/approvals/${id}`} icon="open">
            Open
          </ButtonLink>
          <Button variant="quiet" icon="close" label="Close the preview" onClick={onClose} />
        </div>
        {isCurrent && <PeekHead request={data} />}
      </header>
      {!isCurrent &&
        (problem === null ? <Loading lines={6} /> : <ProblemNote problem={problem} onRetry={reload} />)}
      {isCurrent && <PeekBody key={id} request={data} reload={reload} onClose={onClose} />}
    </aside>
  );
}

function PeekHead({ request }: { readonly request: RequestDetail }) {
  return (
    <>
      <h2>
        <PlainPieces text={titleOf(request)} />
      </h2>
      <p class="approval-soft">
        <PlainText text={request.reason} />
      </p>
      {request.status === 'pending' && <Deadline at={request.expires_at} />}
    </>
  );
}

interface PeekBodyProps {
  readonly request: RequestDetail;
  readonly reload: () => void;
  readonly onClose: () => void;
}

function PeekBody({ request, reload, onClose }: PeekBodyProps) {
  const [isSteppingUp, setSteppingUp] = useState(false);
  const sent = (act: OwnDecision, status: RequestDetail['status']): void => {
    // The dialog of the step-up has said it.
    if (act !== 'stepped up') showToast(doneText(act, status));
    reload();
    if (act !== 'stepped up' || status !== 'pending') onClose();
  };
  return (
    <>
      <HiddenThings request={request} />
      <ReviewNotes request={request} />
      <VotePanel
        request={request}
        asked={null}
        reload={reload}
        onSent={sent}
        isSteppingUp={isSteppingUp}
        onStepUp={setSteppingUp}
      />
      <PayloadSection request={request} />
      <Section title="What happened">
        <RequestTimeline request={request} />
      </Section>
    </>
  );
}

function doneText(act: OwnDecision, status: RequestDetail['status']): string {
  if (act === 'rejected') return 'Rejected';
  if (status === 'pending') return 'Your approval is recorded';
  return status === 'rejected'
    ? 'You approved, but the active policies refuse it'
    : 'Approved: the agent may proceed';
}
