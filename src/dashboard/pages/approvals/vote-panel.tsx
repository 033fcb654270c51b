// The panel in which approvers vote: approve or reject, with a comment, for one of their groups. The service
// decides what the person may do. INVARIANT: a vote is sent only by its own button, after it was chosen, and
// the comment stays until the vote is recorded.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { usePerson } from '../../api/session.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { FormFrame } from '../../parts/form/form-frame.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { isNarrow } from '../../parts/layout/narrow.ts';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { Approvers } from '../requests/approvers.tsx';
import { groupLabel, ownerGroup } from '../requests/person-name.ts';
import { StepUpDialog } from '../requests/step-up.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';
import { useDraft, type VoteKind } from './draft.ts';
import { type StandingChoice, StandingFields, standingBody } from './standing-choice.tsx';
import type { OwnDecision } from './status-note.tsx';

interface VotePanelProps {
  readonly request: RequestDetail;
  /** A vote that a key or the address asked for; a new object each time. */
  readonly asked: { readonly vote: VoteKind } | null;
  readonly reload: () => void;
  /** Called after the vote or the step-up is recorded, with the status of the request after it. */
  readonly onSent: (act: OwnDecision, status: RequestDetail['status']) => void;
  /** Called after the person has revoked their approval; `reload` by default. */
  readonly onRevoked?: () => void;
  /** Whether the page says elsewhere that the person has just acted. */
  readonly isDone?: boolean;
  readonly isSteppingUp: boolean;
  readonly onStepUp: (isOpen: boolean) => void;
}

const commentLengthMax = 2_000;

export function VotePanel(props: VotePanelProps) {
  const { request, asked, reload, onSent, onRevoked = reload, isDone = false } = props;
  const { request_id: id, status } = request;
  const person = usePerson();
  const [draft, change] = useDraft({ requestId: id, personId: person.id });
  const comment = useRef<HTMLTextAreaElement>(null);
  const { isBusy, problem, run, clear } = useSending();
  const allowed = request.allowed_actions ?? nothing;
  const { vote, groups } = chosen(allowed, draft.vote);
  const [standing, setStanding] = useState<StandingChoice>(null);
  const choose = (next: VoteKind | null): void => {
    clear();
    change({ vote: next });
  };
  useLayoutEffect(() => {
    if (asked !== null && isOpen(allowed, asked.vote)) choose(asked.vote);
  }, [asked]);
  // A layout effect moves the focus before the next key arrives. On a phone, whose keyboard would cover the
  // page, the comment gets the focus only when one is required.
  useLayoutEffect(() => {
    if (vote === null) return;
    const isNeeded = vote === 'reject' || !isNarrow();
    (isNeeded ? comment.current : comment.current?.form?.querySelector<HTMLElement>('[type=submit]'))?.focus({
      preventScroll: true,
    });
  }, [vote, asked]);

  const send = (): Promise<void> =>
    run(async () => {
      if (vote === null) return;
      const group = groups.length > 1 ? { group: draft.group } : {};
      const options = { params: { id }, body: { comment: draft.comment.trim(), ...group } };
      const approval = { ...options, body: { ...options.body, ...standingBody(standing) } };
      const after = await (vote === 'approve'
        ? call('approveRequest', approval)
        : call('rejectRequest', options)
      ).catch((error: unknown) => {
        // The request has changed since: load its new state, and keep the comment.
        if (error instanceof ApiProblem && (error.status === 409 || error.status === 403)) reload();
        throw error;
      });
      change(null);
      onSent(vote === 'approve' ? 'approved' : 'rejected', after.status);
    });

  if (status !== 'pending') return draft.comment === '' ? null : <UnsentComment text={draft.comment} />;
  return (
    <Section title="Your decision">
      <Approvers request={request} />
      <StepUp {...props} isAllowed={allowed.step_up} />
      <StandsInFor absent={allowed.stands_in_for} />
      {allowed.reason !== null && !allowed.step_up && !isDone && <p>{allowed.reason}</p>}
      {allowed.revoke_approval && <TakeBack id={id} onDone={onRevoked} />}
      {vote === null ? (
        <div class="approval-votes">
          {allowed.approve.length > 0 && (
            <Button variant="primary" icon="allow" onClick={() => choose('approve')}>
              Approve…
            </Button>
          )}
          {allowed.reject && (
            <Button icon="deny" onClick={() => choose('reject')}>
              Reject…
            </Button>
          )}
        </div>
      ) : (
        <FormFrame
          class="form"
          problem={problem}
          onSend={send}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.requestSubmit();
          }}
        >
          <Gist request={request} />
          {groups.length > 1 && (
            <GroupChoice groups={groups} value={draft.group} onChange={(group) => change({ group })} />
          )}
          {vote === 'approve' && (
            <StandingFields offers={request.standing_offers ?? []} value={standing} onChange={setStanding} />
          )}
          <Field
            label={vote === 'approve' ? 'Why you approve' : 'Why you reject'}
            help="Recorded with your name."
            isOptional={vote === 'approve'}
            name="comment"
          >
            <textarea
              ref={comment}
              required={vote === 'reject'}
              maxLength={commentLengthMax}
              value={draft.comment}
              onInput={({ currentTarget }) => change({ comment: currentTarget.value })}
            />
          </Field>
          <div class="form-actions">
            <Button
              type="submit"
              variant={vote === 'approve' ? 'primary' : 'danger'}
              icon={vote === 'approve' ? 'allow' : 'deny'}
              isBusy={isBusy}
            >
              {vote === 'approve' ? approveWords(groups, draft.group, standing) : 'Reject permanently'}
            </Button>
            <Button variant="quiet" onClick={() => choose(null)}>
              Cancel
            </Button>
          </div>
        </FormFrame>
      )}
    </Section>
  );
}

interface StepUpProps extends VotePanelProps {
  readonly isAllowed: boolean;
}

function StepUp({ request, isAllowed, isSteppingUp, onStepUp, onSent }: StepUpProps) {
  return (
    <>
      {isAllowed && (
        <div class="approval-votes">
          <Button variant="primary" icon="reauth" onClick={() => onStepUp(true)}>
            Step up
          </Button>
        </div>
      )}
      {isSteppingUp && (
        <StepUpDialog
          request={request}
          onClose={() => onStepUp(false)}
          onDone={() => onSent('stepped up', request.status)}
        />
      )}
    </>
  );
}

function UnsentComment({ text }: { readonly text: string }) {
  return (
    <Section title="Your unsent comment">
      <p>It was not sent: this request can no longer be decided.</p>
      <textarea aria-label="Comment that was not sent" readOnly value={text} />
    </Section>
  );
}

type AllowedActions = NonNullable<RequestDetail['allowed_actions']>;

/** Says in whose place the person would approve. */
function StandsInFor({ absent }: { readonly absent: AllowedActions['stands_in_for'] }) {
  return absent.map(({ group, name }) => (
    <p key={`${group} ${name}`}>
      You stand in for <PlainText text={name} isShort /> in the group <bdi>{group}</bdi>.
    </p>
  ));
}

const nothing: AllowedActions = {
  approve: [],
  stands_in_for: [],
  reject: false,
  revoke_approval: false,
  comment: false,
  step_up: false,
  report: false,
  reason: null,
};

function isOpen(allowed: AllowedActions, vote: VoteKind): boolean {
  return vote === 'approve' ? allowed.approve.length > 0 : allowed.reject;
}

function chosen(
  allowed: AllowedActions,
  vote: VoteKind | null,
): { vote: VoteKind | null; groups: readonly string[] } {
  if (vote === null || !isOpen(allowed, vote)) return { vote: null, groups: [] };
  return { vote, groups: vote === 'approve' ? allowed.approve : [] };
}

/** The subject of the vote, because the head of the page may be out of sight. */
function Gist({ request: { title, action_key, reason } }: Pick<VotePanelProps, 'request'>) {
  return (
    <div class="approval-gist">
      <strong>
        <PlainText text={title === '' ? action_key : title} />
      </strong>
      <PlainText text={reason} />
    </div>
  );
}

interface GroupChoiceProps {
  readonly groups: readonly string[];
  readonly value: string;
  readonly onChange: (group: string) => void;
}

function GroupChoice({ groups, value, onChange }: GroupChoiceProps) {
  return (
    <fieldset>
      <legend class="field-legend">For which group</legend>
      {groups.map((group) => (
        <label class="choice" key={group}>
          <input
            type="radio"
            name="group"
            required
            checked={value === group}
            onChange={() => onChange(group)}
          />
          {groupLabel(group)}
        </label>
      ))}
    </fieldset>
  );
}

function approveWords(groups: readonly string[], group: string, standing: StandingChoice): string {
  return `Approve${standing === null ? '' : ' and later requests'}${forGroup(groups, group)}`;
}

function forGroup(groups: readonly string[], group: string): string {
  const named = groups.length > 1 ? group : groups[0];
  if (named === ownerGroup) return ' as the control owner';
  return named === undefined || named === '' ? '' : ` for ${named}`;
}

/** Takes the person's own approval back while the request waits for other approvals. */
function TakeBack({ id, onDone }: { readonly id: string; readonly onDone: () => void }) {
  const { isBusy, problem, run } = useSending();
  return (
    <div>
      <ProblemNote problem={problem} />
      <Button
        isBusy={isBusy}
        onClick={() =>
          run(async () => {
            await call('revokeApproval', { params: { id } });
            showToast('Your approval is revoked');
            onDone();
          })
        }
      >
        Revoke my approval
      </Button>
    </div>
  );
}
