// A deadline as a running clock: the time left and its urgency, in words as well as colour.

import { Icon } from '../../parts/layout/icon.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { exactTime, useNow, zonedTime } from '../../parts/layout/time.tsx';
import './deadline.css';
import { urgencyOf } from './urgency.ts';

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
