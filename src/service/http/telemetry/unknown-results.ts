// Notes that a call was reported without the result that its action declares: counts it, and logs it once per action. A
// meter that reads the result is unknown from then on, so somebody should look at the tool.

import type { FastifyBaseLogger } from 'fastify';
import type { ResultFault } from '../../requests/approvals/change-request.ts';
import type { Metrics } from './metrics.ts';

interface NoteDeps {
  readonly metrics: Pick<Metrics, 'unknownResult'>;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

const texts: Readonly<Record<ResultFault, string>> = {
  missing: 'the report has no result',
  oversized: 'the result is too large',
  mistyped: 'the result does not have the declared shape',
};

/** How many actions are remembered as logged; further ones are counted only. */
const loggedMax = 10_000;

export function createUnknownResultNotes({
  metrics,
  log,
}: NoteDeps): (actionKey: string, fault: ResultFault) => void {
  const logged = new Set<string>();
  return (actionKey, fault) => {
    metrics.unknownResult(fault);
    if (logged.has(actionKey) || logged.size >= loggedMax) return;
    logged.add(actionKey);
    log.warn({ action: actionKey }, `meters on the result of \`${actionKey}\` are unknown: ${texts[fault]}`);
  };
}
