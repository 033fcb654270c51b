// Assigns a pending request to a person, and snoozes it. INVARIANT: assignments and snoozes only
// inform people: they stop nobody from deciding, and a snoozed request is back before its deadline.

import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import type { QueueItem } from './queue-groups.ts';

interface AssignmentProps {
  readonly id: string;
  readonly onSnooze: () => void;
}

export function Assignment({ id, onSnooze }: AssignmentProps) {
  const {
    data,
    problem: unseen,
    reload,
  } = useResource('getRequestAssignment', { params: { id } }, ['approvals']);
  const { problem, run } = useSending();
  const { session } = useSession();
  const notice = session?.sends_mail === true ? 'They get a mail.' : 'They see it in their inbox.';
  const assignTo = (person: string): Promise<void> =>
    run(async () => {
      await setAssignee(id, person === '' ? null : person);
      reload();
    });
  const unsnooze = (): Promise<void> =>
    run(async () => {
      await call('unsnoozeRequest', { params: { id } });
      showToast('It is in your inbox again');
      reload();
    });
  if (data === null) return <ProblemNote problem={unseen} onRetry={reload} />;
  const { assigned_to: assigned, snoozed_until: until, people } = data;
  const isListed = assigned === null || people.some((person) => person.id === assigned.person);
  return (
    <Section title="Assignee">
      <ProblemNote problem={problem} />
      <Field label="Assigned to" help={`${notice} Everyone who is asked can still decide.`}>
        <select
          value={assigned?.person ?? ''}
          onChange={({ currentTarget }) => void assignTo(currentTarget.value)}
        >
          <option value="">Nobody</option>
          {!isListed && <option value={assigned.person}>{assigned.name}</option>}
          {people.map((person) => (
            <option key={person.id} value={person.id}>
              {person.is_you ? `You (${person.name})` : person.name}
            </option>
          ))}
        </select>
      </Field>
      {until === null ? (
        <div>
          <Button icon="clock" onClick={onSnooze}>
            Snooze…
          </Button>
        </div>
      ) : (
        <div class="approval-snoozed">
          <Snoozed until={until} />
          <Button onClick={unsnooze}>Unsnooze</Button>
        </div>
      )}
    </Section>
  );
}

/** Assigns the request to a person; null assigns it to nobody. */
export async function setAssignee(id: string, person: string | null): Promise<void> {
  const params = { id };
  await (person === null
    ? call('unassignRequest', { params })
    : call('assignRequest', { params, body: { person } }));
  showToast(person === null ? 'The assignment is removed' : 'Assigned: others see it');
}

interface SnoozeDialogProps {
  readonly request: Pick<QueueItem, 'request_id' | 'expires_at'>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function SnoozeDialog({ request, onDone, onClose }: SnoozeDialogProps) {
  const { request_id: id, expires_at } = request;
  const { problem, run } = useSending();
  const snoozeUntil = (atMs: number): Promise<void> =>
    run(async () => {
      await call('snoozeRequest', { params: { id }, body: { until: new Date(atMs).toISOString() } });
      showToast(`Snoozed until ${untilText(atMs)}`);
      onClose();
      onDone();
    });
  const choices = snoozeChoices(Date.now(), Date.parse(expires_at));
  return (
    <Dialog title="Snooze the request" onClose={onClose}>
      <p>It is hidden from your inbox until then, or until it changes. It stays in the inboxes of others.</p>
      <ProblemNote problem={problem} />
      {choices.length === 0 && <p>Its deadline is too near to snooze it.</p>}
      <div class="form-actions">
        {choices.map(({ word, atMs }, at) => (
          <Button key={word} onClick={() => snoozeUntil(atMs)} {...(at === 0 ? { 'data-first': '' } : {})}>
            {word}
          </Button>
        ))}
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}

const hourMs = 3_600_000;
/** The time that the service requires between the end of a snooze and the deadline, in milliseconds. */
const leftMs = 10 * 60_000;
const morningHour = 9;

interface SnoozeChoice {
  readonly word: string;
  readonly atMs: number;
}

/** The choices that leave enough time to decide. */
function snoozeChoices(nowMs: number, deadlineMs: number): readonly SnoozeChoice[] {
  const morning = new Date(nowMs);
  morning.setDate(morning.getDate() + 1);
  morning.setHours(morningHour, 0, 0, 0);
  const all = [
    { word: '30 minutes', atMs: nowMs + hourMs / 2 },
    { word: '2 hours', atMs: nowMs + 2 * hourMs },
    { word: `Tomorrow, ${clockTime.format(morning)}`, atMs: morning.getTime() },
  ];
  return all.filter(({ atMs }) => atMs <= deadlineMs - leftMs);
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const dayTime = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: 'numeric', minute: '2-digit' });

function untilText(atMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date().toDateString();
  return (isToday ? clockTime : dayTime).format(atMs);
}

function Snoozed({ until }: { readonly until: string }) {
  return (
    <span class="review-mark">
      <Icon name="clock" size={14} />
      <time dateTime={until}>Snoozed until {untilText(Date.parse(until))}</time>
    </span>
  );
}

/** The assignment and the snooze in a row of the inbox. */
export function AssignmentMarks({
  assigned_to: assigned,
  snoozed_until: until,
}: Pick<QueueItem, 'assigned_to' | 'snoozed_until'>) {
  return (
    <>
      {assigned !== null && (
        <span class="review-mark">
          <Icon name="person" size={14} />
          <span>
            Assigned to {assigned.is_you ? 'you' : <PlainText text={assigned.name} isShort />} by{' '}
            <PlainText text={assigned.by_name} isShort />
          </span>
        </span>
      )}
      {until !== null && <Snoozed until={until} />}
    </>
  );
}
