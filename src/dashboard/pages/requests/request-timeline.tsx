// What happened to a request, as a timeline, including the votes with their comments.

import type { IconName } from '../../parts/layout/icon.tsx';
import { useNow } from '../../parts/layout/time.tsx';
import { Timeline, type TimelineEntry } from '../../parts/layout/timeline.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { personName } from './person-name.ts';
import { agentName } from './request-table.tsx';
import { type RequestDetail, type TimelineEvent, timelineEvents } from './timeline-events.ts';

export function RequestTimeline({ request }: { readonly request: RequestDetail }) {
  const isOver = useNow() >= Date.parse(request.expires_at);
  const nowMs = isOver ? Number.POSITIVE_INFINITY : 0;
  return (
    <Timeline
      entries={timelineEvents(request, nowMs).map((event, index) => entryOf(event, index, request))}
    />
  );
}

function entryOf(event: TimelineEvent, index: number, request: RequestDetail): TimelineEntry {
  const { kind, at, by, text, comment } = event;
  const [icon, tone] = kind === 'decided' ? decidedSign(request) : signs[kind];
  const who = kind === 'asked' ? agentName(request) : by === null ? null : personName(by, request.people);
  return {
    key: `${kind} ${index}`,
    icon,
    tone,
    at,
    title:
      who === null ? (
        text
      ) : (
        <>
          <strong title={by ?? undefined}>
            <PlainText text={who} isShort />
          </strong>{' '}
          {text}
        </>
      ),
    ...(comment === null || comment === '' ? {} : { detail: <PlainText text={comment} /> }),
  };
}

type EventIcon = readonly [IconName, TimelineEntry['tone']];

const signs: Readonly<Record<Exclude<TimelineEvent['kind'], 'decided'>, EventIcon>> = {
  asked: ['agent', 'unknown'],
  approved: ['allow', 'allow'],
  rejected: ['deny', 'deny'],
  said: ['list', 'unknown'],
  'stepped-up': ['reauth', 'reauth'],
  fallback: ['clock', 'escalate'],
  reminded: ['clock', 'unknown'],
  waits: ['clock', 'escalate'],
  ends: ['clock', 'unknown'],
  ended: ['clock', 'unknown'],
  used: ['check', 'unknown'],
};

function decidedSign({ status }: RequestDetail): EventIcon {
  return status === 'rejected' ? ['deny', 'deny'] : ['allow', 'allow'];
}
