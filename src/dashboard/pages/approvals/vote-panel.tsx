// The word of whoever is asked: approve or reject, with a comment, for one of their groups. INVARIANT: a word is sent only
// by a press of its own, after it was chosen, and what was written stays until it is taken.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { useSending } from '../../parts/form.ts';
import { ProblemNote } from '../../parts/note.tsx';
import { Section } from '../../parts/page.tsx';
import { tellDone } from '../../shell/toast.tsx';
import { StepUpDialog } from '../requests/step-up.tsx';
import { groupsToAnswerFor, isOwnAgent, isStepUpOf, type RequestDetail } from '../requests/story.ts';
import { useDraft, type WordKind } from './draft.ts';

interface WordPanelProps {
  readonly request: RequestDetail;
  /** A word that was asked for by a key; each time another object. */
  readonly asked: { readonly word: WordKind } | null;
  readonly reload: () => void;
  readonly onSent: () => void;
  readonly isSteppingUp: boolean;
  readonly onStepUp: (isOpen: boolean) => void;
}

const commentLengthMax = 2_000;

export function WordPanel({ request, asked, reload, onSent, isSteppingUp, onStepUp }: WordPanelProps) {
  const { request_id: id, status } = request;
  const person = usePerson();
  const [draft, change] = useDraft({ requestId: id, personId: person.id });
  const comment = useRef<HTMLTextAreaElement>(null);
  const { isBusy, problem, run, clear } = useSending();
  const may = useWords(request);
  const mayStepUp = useGrant('agents.step-up') !== 'no' && isStepUpOf(request, person);
  const { word, groups } = chosen(may, draft.word);
  const choose = (next: WordKind | null): void => {
    clear();
    change({ word: next });
  };
  useLayoutEffect(() => {
    if (asked !== null && may[asked.word]) choose(asked.word);
  }, [asked]);
  // Before the next key comes: what is typed at once is meant for the comment.
  useLayoutEffect(() => {
    if (word !== null) comment.current?.focus();
  }, [word, asked]);

  const send = (): Promise<void> =>
    run(async () => {
      if (word === null) return;
      const group = groups.length > 1 ? { group: draft.group } : {};
      const options = { params: { id }, body: { comment: draft.comment.trim(), ...group } };
      const after = await (word === 'approve'
        ? call('approveRequest', options)
        : call('rejectRequest', options)
      ).catch((error: unknown) => {
        // Something has become of it meanwhile: what, is shown; what was written stays.
        if (error instanceof ApiProblem && (error.status === 409 || error.status === 403)) reload();
        throw error;
      });
      change(null);
      tellDone(doneWords(word, after.status));
      onSent();
    });

  if (status !== 'pending') {
    return draft.comment === '' ? null : (
      <Section title="What you had written">
        <p>It was not sent: nothing can be said about this request any more.</p>
        <textarea aria-label="Comment that was not sent" readOnly value={draft.comment} />
      </Section>
    );
  }
  return (
    <Section title="Your word">
      <Asked request={request} />
      {mayStepUp && (
        <div>
          <Button look="primary" icon="reauth" onClick={() => onStepUp(true)}>
            Step up
          </Button>
        </div>
      )}
      {isSteppingUp && <StepUpDialog request={request} onClose={() => onStepUp(false)} onDone={onSent} />}
      {!may.approve && !mayStepUp && <p>{may.why}</p>}
      {word === null ? (
        <div class="approval-words">
          {may.approve && (
            <Button look="primary" icon="allow" onClick={() => choose('approve')}>
              Approve…
            </Button>
          )}
          {may.reject && (
            <Button icon="deny" onClick={() => choose('reject')}>
              Reject…
            </Button>
          )}
        </div>
      ) : (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.requestSubmit();
          }}
        >
          <ProblemNote problem={problem} />
          {groups.length > 1 && (
            <GroupChoice groups={groups} value={draft.group} onChange={(group) => change({ group })} />
          )}
          <Field
            label={word === 'approve' ? 'Why you approve' : 'Why you reject'}
            help="It stands in the record under your name."
            isOptional={word === 'approve'}
          >
            <textarea
              ref={comment}
              required={word === 'reject'}
              maxLength={commentLengthMax}
              value={draft.comment}
              onInput={({ currentTarget }) => change({ comment: currentTarget.value })}
            />
          </Field>
          <div class="form-actions">
            <Button
              type="submit"
              look={word === 'approve' ? 'primary' : 'danger'}
              icon={word === 'approve' ? 'allow' : 'deny'}
              isBusy={isBusy}
            >
              {word === 'approve' ? `Approve${forGroup(groups, draft.group)}` : 'Reject for good'}
            </Button>
            <Button look="quiet" onClick={() => choose(null)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
    </Section>
  );
}

interface Words {
  readonly approve: boolean;
  readonly reject: boolean;
  /** Groups for which an approval can be given. */
  readonly groups: readonly string[];
  /** Why it cannot be approved. */
  readonly why: string;
}

/** What the person can say; the service has the last word on it. */
function useWords(request: RequestDetail): Words {
  const person = usePerson();
  const mayApprove = useGrant('requests.approve') !== 'no';
  const reject = useGrant('requests.reject');
  const groups = mayApprove ? groupsToAnswerFor(request, person) : [];
  const hasApproved = request.approvals.some(
    ({ is_approved, by }) => is_approved && by.includes(`(${person.id})`),
  );
  const isOfAll = reject === 'yes' || isOwnAgent(request, person);
  const open = hasApproved ? [] : groups;
  return {
    approve: open.length > 0,
    reject: reject !== 'no' && (isOfAll || groups.length > 0),
    groups: open,
    why: hasApproved ? 'You have approved this; others are waited for.' : 'None of your groups is asked.',
  };
}

function chosen(may: Words, word: WordKind | null): { word: WordKind | null; groups: readonly string[] } {
  if (word === null || !may[word]) return { word: null, groups: [] };
  return { word, groups: word === 'approve' ? may.groups : [] };
}

function Asked({ request: { requires } }: Pick<WordPanelProps, 'request'>) {
  return (
    <ul class="approval-asked">
      {requires?.step_up === true && <li>First a step-up by the control owner of the agent</li>}
      {requires?.approvals.map(({ group, needs, given }) => (
        <li key={group}>
          <strong>{group}</strong>: {given} of {needs} {needs === 1 ? 'approval' : 'approvals'}
        </li>
      ))}
    </ul>
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
          {group}
        </label>
      ))}
    </fieldset>
  );
}

function forGroup(groups: readonly string[], group: string): string {
  const named = groups.length > 1 ? group : groups[0];
  return named === undefined || named === '' ? '' : ` for ${named}`;
}

function doneWords(word: WordKind, status: RequestDetail['status']): string {
  if (word === 'reject') return 'Rejected';
  if (status === 'pending') return 'Approved by you; it waits for others';
  return status === 'rejected'
    ? 'Approved by you, but the policies of now refuse it'
    : 'Approved: the agent may proceed';
}
