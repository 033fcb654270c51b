// Shows the marks that people have left in the inbox: who is to look after a request, and until when the
// caller has put it off. INVARIANT: an assignment ends when its person has approved, and a snooze ends when
// anything new happens to the request.

import { isoTime } from '../../../../language/value/iso-time.ts';
import type { RequestSnapshot } from '../../../requests/approvals/change-request.ts';
import { hasApproved } from '../../../requests/approvals/effective-votes.ts';
import type { RequestAssignment } from '../../../requests/inbox/assignments.ts';
import type { Snooze } from '../../../requests/inbox/snoozes.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { objectSchema, text, time, timeOrNull } from '../../contract/schemas.ts';

/** Assignments and snoozes, each by the id of its request. */
export interface InboxMarks {
  readonly assignments: ReadonlyMap<string, RequestAssignment>;
  /** The caller's own snoozes. */
  readonly snoozes: ReadonlyMap<string, Snooze>;
}

type StateSource = Pick<RequestSnapshot, 'state'>;

/** Whether the person has put the request off, and nothing has happened to it since. */
export function isSnoozed({ snoozes }: Pick<InboxMarks, 'snoozes'>, { state }: StateSource): boolean {
  return snoozes.get(state.record.id)?.seen === state.seen;
}

/** Who is to look after the request; null when nobody is, or when that person has approved it already. */
export function assignedTo({ assignments }: InboxMarks, { state }: StateSource): RequestAssignment | null {
  const assignment = assignments.get(state.record.id) ?? null;
  return assignment === null || hasApproved(state, assignment.toId) ? null : assignment;
}

export interface AssignedView {
  /** The id of the person who is to look after the request. */
  readonly person: string;
  readonly name: string;
  readonly is_you: boolean;
  readonly by_name: string;
  readonly at: string;
}

export interface MarksView {
  readonly assigned_to: AssignedView | null;
  readonly snoozed_until: string | null;
}

export function marksView(marks: InboxMarks, seen: StateSource, callerId: string): MarksView {
  const assigned = assignedTo(marks, seen);
  const snooze = isSnoozed(marks, seen) ? marks.snoozes.get(seen.state.record.id) : undefined;
  return {
    assigned_to: assigned === null ? null : assignedView(assigned, callerId),
    snoozed_until: snooze === undefined ? null : isoTime(snooze.endsAtMs),
  };
}

function assignedView(
  { toId, toName, byName, createdAtMs }: RequestAssignment,
  callerId: string,
): AssignedView {
  return {
    person: toId,
    name: toName,
    is_you: toId === callerId,
    by_name: byName,
    at: isoTime(createdAtMs),
  };
}

export const marksShape = {
  assigned_to: {
    ...objectSchema({
      person: text(100),
      name: text(200),
      is_you: { type: 'boolean' },
      by_name: { ...text(200), description: 'The person who assigned it.' },
      at: time,
    }),
    type: ['object', 'null'],
    description: 'The assignee; null if the request is unassigned.',
  },
  snoozed_until: { ...timeOrNull, description: "The end of the caller's snooze; null if not snoozed." },
} as const satisfies Readonly<Record<keyof MarksView, JsonSchema>>;

/** The marks of a request that is neither assigned nor put off. */
export const noMarks: MarksView = { assigned_to: null, snoozed_until: null };
