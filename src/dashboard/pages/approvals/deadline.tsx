// A deadline as a running clock: the time left and its urgency, in words as well as colour.

import { Icon } from '../../parts/layout/icon.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { useNow } from '../../parts/layout/time.tsx';
import { exactTime, zonedTime } from '../../parts/layout/time-format.ts';
import './deadline.css';

// How urgent a deadline is, by the time left.

export type Urgency = 'over' | 'now' | 'soon' | 'calm';

const nowMs = 10 * 60_000;
const soonMs = 60 * 60_000;

function urgencyOf(leftMs: number): Urgency {
  if (leftMs <= 0) return 'over';
  if (leftMs < nowMs) return 'now';
  return leftMs < soonMs ? 'soon' : 'calm';
}

interface DeadlineProps {
  readonly at: string;
  readonly isLarge?: boolean;
}

export function Deadline({ at, isLarge = false }: DeadlineProps) {
  const leftMs = Date.parse(at) - useNow();
  const urgency = urgencyOf(leftMs);
  return (
    <span class={`deadline deadline-${urgency}${isLarge ? ' deadline-large' : ''}`}>
      <Icon name={urgency === 'over' || urgency === 'now' ? 'warning' : 'clock'} size={isLarge ? 18 : 14} />
      {urgency === 'over' ? (
        'deadline passed'
      ) : (
        <time dateTime={at} role="timer" class="ago" data-exact={`until ${exactTime.format(Date.parse(at))}`}>
          {spanText(leftMs)} left
        </time>
      )}
      {isLarge && (
        <span class="deadline-at">
          <time dateTime={at}>{zonedTime.format(Date.parse(at))}</time>
        </span>
      )}
    </span>
  );
}
