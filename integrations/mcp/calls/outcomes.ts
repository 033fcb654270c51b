// Reports the outcomes of grants to the service, a few at a time, so that a call does not wait for the report
// of the one before. INVARIANT: an outcome is on its way within `laterMs`, even when the program ends.

import type { GrantOutcome, Writ } from '../../typescript/client.ts';

/** Milliseconds before a report: short beside the life of a grant, long beside that of a call. */
const laterMs = 100;
/** The most outcomes in one report: few enough that the report takes no longer than a call. */
const togetherMax = 10;

/** Resolves when the report has been sent, or could not be sent. */
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
