// Meters that are alike but for their windows and actions: whatever the one counts the other counts, too.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import type { Meter } from '../../language/model/policy.ts';

/** Whether everything that `inner` counts is counted by `outer` as well. */
export function countsWithin(inner: Meter, outer: Meter): boolean {
  return (
    inner.overSeconds <= outer.overSeconds &&
    inner.actions.every((key) => outer.actions.includes(key)) &&
    measured(inner) === measured(outer)
  );
}

/** What is added up, of which requests, and by whom. */
function measured({ aggregate, argument, currency, when, since, per }: Meter): string {
  return canonicalMeaning([aggregate, argument, currency, when, since, per]);
}
