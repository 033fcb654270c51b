// Tests for generated code whether an instant lies within named hours. Hours change only with the minute, so
// the answer for a minute is kept. INVARIANT: a minute is kept only when the local clock passes it without a
// jump, from second 0 to 59.

import { fromNumber } from '../../value/decimal.ts';
import { type Hours, isWithinHours } from '../../value/hours.ts';
import { BoundedMap } from '../../value/memo.ts';
import { localSecond } from '../../value/time.ts';
import {
  exact,
  type Kleene,
  type NumericValue,
  type OptionalValue,
  type RuntimeQuantity,
} from './quantity.ts';

/** The most minutes that are kept. A service asks for one minute, a replay for many. */
const minutesKeptMax = 4_096;
const secondsPerMinute = 60;

/**
 * Returns the test of an instant in seconds since the epoch. An instant that is known only as an interval
 * gives unknown.
 */
export function hoursTest(hours: Hours): (instant: OptionalValue<RuntimeQuantity>) => Kleene {
  const byMinute = new BoundedMap<number, Kleene>(minutesKeptMax);
  return (instant) => {
    if (instant == null || (typeof instant === 'object' && !('coefficient' in instant))) return 1;
    if (typeof instant !== 'number') return within(hours, instant);
    const minute = Math.floor(instant / secondsPerMinute);
    const cached = byMinute.get(minute);
    if (cached !== undefined) return cached;
    const truth = within(hours, instant);
    if (isPlainMinute(hours, minute)) byMinute.set(minute, truth);
    return truth;
  };
}

function within(hours: Hours, instant: NumericValue): Kleene {
  const isWithin = isWithinHours(hours, exact(instant));
  return isWithin === null ? 1 : isWithin ? 2 : 0;
}

function isPlainMinute({ zone }: Hours, minute: number): boolean {
  const first = localSecond(fromNumber(minute * secondsPerMinute), zone);
  const last = localSecond(fromNumber(minute * secondsPerMinute + secondsPerMinute - 1), zone);
  if (first === null || last === null) return false;
  return first % secondsPerMinute === 0 && last - first === secondsPerMinute - 1;
}
