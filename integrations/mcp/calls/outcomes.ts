// What became of grants, told to the service a few at a time, so that a call does not wait for the report of the one before.
// INVARIANT: what was told here is on its way within `laterMs`, also where the program ends.

import type { GrantOutcome, Writ } from '../../typescript/client.ts';

/** Short beside the life of a grant, long beside that of a call. */
const laterMs = 100;
/** So few that their report takes no longer than a call. */
const togetherMax = 10;

/** Its promise is kept when the report has been sent, or could not be. */
export type ReportOutcome = (outcome: GrantOutcome) => Promise<void>;

interface Together {
  readonly outcomes: GrantOutcome[];
  readonly sent: PromiseWithResolvers<void>;
  readonly timer: NodeJS.Timeout;
}

export function createOutcomes({ reportAll }: Pick<Writ, 'reportAll'>): ReportOutcome {
  let gathered: Together | null = null;

  function send(together: Together): void {
    clearTimeout(together.timer);
    gathered = null;
    reportAll(together.outcomes).then(together.sent.resolve, together.sent.reject);
  }

  function begin(): Together {
    const timer = setTimeout(() => gathered !== null && send(gathered), laterMs);
    return { outcomes: [], sent: Promise.withResolvers(), timer };
  }

  return (outcome) => {
    gathered ??= begin();
    const together = gathered;
    together.outcomes.push(outcome);
    if (together.outcomes.length >= togetherMax) send(together);
    return together.sent.promise;
  };
}
