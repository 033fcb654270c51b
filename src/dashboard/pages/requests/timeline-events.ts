// Turns a request into the events of its timeline, in order. INVARIANT: the timeline has only events and
// times that the service has reported.

import type { Operations } from '../../../api/operations.ts';
import { chatServiceNames } from '../../parts/people/chat-services.ts';
import { anyOfLabel, ownerGroup, personName } from './person-name.ts';

export type RequestDetail = Operations['getRequest']['reply'];

export interface TimelineEvent {
  readonly kind:
    | 'asked'
    | 'approved'
    | 'rejected'
    | 'said'
    | 'stepped-up'
    | 'fallback'
    | 'reminded'
    | 'decided'
    | 'waits'
    | 'ends'
    | 'ended'
    | 'used';
  readonly at: string | null;
  /** The person who did it, with address and id as in the record; null when it was not a person. */
  readonly by: string | null;
  readonly text: string;
  readonly comment: string | null;
}

export function timelineEvents(request: RequestDetail, nowMs: number): readonly TimelineEvent[] {
  const { created_at, decided_at, expires_at, status, approvals, comments, step_ups } = request;
  const plain = { by: null, comment: null } as const;
  const requested: TimelineEvent = { ...plain, kind: 'asked', at: created_at, text: 'asked for a decision' };
  const votes = approvals.map((vote) => voteEvent(vote, request.people));
  const said = comments.map(
    ({ by, kind, text, at, chat }): TimelineEvent => ({
      kind: 'said',
      at,
      by,
      comment: text,
      text: `${commentLabels[kind]}${doorText(chat)}`,
    }),
  );
  const stepUps = step_ups.map(
    ({ by, passkey, at }): TimelineEvent => ({
      kind: 'stepped-up',
      at,
      by,
      comment: null,
      text: `stepped up (${passkey === null ? 'password and code' : `passkey “${passkey}”`})`,
    }),
  );
  const isOver = Date.parse(expires_at) <= nowMs;
  const decided = (text: string): TimelineEvent => ({ ...plain, kind: 'decided', at: decided_at, text });
  const ends: TimelineEvent = isOver
    ? { ...plain, kind: 'ended', at: expires_at, text: 'The grant ended' }
    : { ...plain, kind: 'ends', at: expires_at, text: 'The grant ends' };
  const fallbacks = request.fallbacks.map(
    ({ any_of: anyOf, at }): TimelineEvent => ({
      ...plain,
      kind: 'fallback',
      at,
      text: `Nobody had decided, so ${anyOfLabel(anyOf)} may approve as well`,
    }),
  );
  const reminders = request.reminders.map(reminderEvent);
  const acts = [...votes, ...said, ...stepUps, ...fallbacks, ...reminders].sort((one, other) =>
    (one.at ?? '').localeCompare(other.at ?? ''),
  );
  const before = [requested, ...acts];
  switch (status) {
    case 'pending':
      return [
        ...before,
        ...laterFallbacks(request),
        { ...plain, kind: 'waits', at: expires_at, text: 'Deadline for people' },
      ];
    case 'auto_approved':
      return [
        ...before,
        decided(
          request.standing_approvals.length === 0
            ? 'Granted by the policies'
            : 'Granted under a standing approval',
        ),
        ends,
      ];
    case 'approved':
      return [...before, decided('Granted'), ends];
    case 'rejected':
      return approvals.some(({ is_approved }) => !is_approved)
        ? before
        : [...before, decided('Refused by the policies')];
    case 'expired':
      return request.decision !== 'ALLOW'
        ? [...before, { ...plain, kind: 'ended', at: expires_at, text: 'The deadline passed' }]
        : [
            ...before,
            decided('Granted'),
            { ...plain, kind: 'ended', at: expires_at, text: 'The grant ended' },
          ];
    case 'withdrawn':
      return [...before, { ...plain, kind: 'ended', at: null, text: 'The agent withdrew the request' }];
    case 'consumed':
      return [
        ...before,
        decided('Granted'),
        { ...plain, kind: 'used', at: null, text: 'Outcome of the request was reported' },
      ];
  }
}

function voteEvent(vote: RequestDetail['approvals'][number], people: RequestDetail['people']): TimelineEvent {
  const {
    by,
    stands_in_for: absent,
    group,
    is_approved,
    comment,
    at,
    chat,
    standing,
    invalid_reason: why,
  } = vote;
  const words = [
    is_approved ? 'approved' : 'rejected',
    ...(standing.length === 0 ? [] : ['this and later requests']),
    ...(group === null ? [] : [group === ownerGroup ? 'as the control owner' : `for ${group}`]),
    ...(absent === null ? [] : [`in the place of ${personName(absent, people)}`]),
  ];
  const gone = why === null ? '' : `, which no longer counts: ${personName(by, people)} ${why}`;
  const kind = is_approved ? 'approved' : 'rejected';
  return { kind, at, by, comment, text: `${words.join(' ')}${doorText(chat)}${gone}` };
}

function reminderEvent({
  at,
  people,
  ends_with_fallback: isFallback,
}: RequestDetail['reminders'][number]): TimelineEvent {
  const who = people === 1 ? 'One person was' : `${people} people were`;
  const text = `${who} reminded before ${isFallback ? 'others are asked' : 'the deadline'}`;
  return { kind: 'reminded', at, by: null, comment: null, text };
}

/** The fallbacks that are asked before the deadline if nobody decides, those of one time and wording once. */
function laterFallbacks({ requires, expires_at }: RequestDetail): readonly TimelineEvent[] {
  const all = (requires?.approvals ?? []).flatMap(({ fallbacks = [] }) => fallbacks);
  const events = all
    .filter(({ asked_at }) => asked_at < expires_at)
    .map(({ asked_at: at, any_of: anyOf }): TimelineEvent => {
      const text = `If nobody decides, ${anyOfLabel(anyOf)} may approve as well`;
      return { kind: 'waits', at, by: null, comment: null, text };
    });
  const distinct = new Map(events.map((event) => [`${event.at} ${event.text}`, event]));
  return [...distinct.values()].sort((one, other) => (one.at ?? '').localeCompare(other.at ?? ''));
}

/** By which chat a person acted; empty when they acted in Writ. */
function doorText(chat: RequestDetail['approvals'][number]['chat']): string {
  return chat === null ? '' : ` in ${chatServiceNames[chat.service]}`;
}

const commentLabels: Readonly<Record<RequestDetail['comments'][number]['kind'], string>> = {
  comment: 'commented',
  question: 'asked the control owner',
  answer: 'answered',
};
