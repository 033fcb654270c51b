// Compares meters that differ only in their windows and actions: whatever one of them counts, the other may
// count too.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import type { Meter } from '../../language/model/policy.ts';
import { type MeterWindow, windowMsMax } from '../../language/value/meter-window.ts';

/** Whether everything that `inner` counts is counted by `outer` as well. */
export function countsWithin(inner: Meter, outer: Meter): boolean {
  return (
    isWithin(inner.over, outer.over) &&
    inner.actions.every((key) => outer.actions.includes(key)) &&
    measured(inner) === measured(outer)
  );
}

/** Whether the inner window never begins before the outer one. */
function isWithin(inner: MeterWindow, outer: MeterWindow): boolean {
  if (outer.kind === 'last') return windowMsMax(inner) <= windowMsMax(outer);
  if (inner.kind === 'last' || inner.zone !== outer.zone) return false;
  return inner.period === outer.period || inner.period === 'day';
}

/** A text of what a meter adds up, of which requests, and for whom; equal for equal meanings. */
function measured({ aggregate, argument, currency, when, since, per }: Meter): string {
  return canonicalMeaning([aggregate, argument, currency, when, since, per]);
}
