// Renders the trials of a set's guarantees for people: refuted by a request that they can replay, or not refuted.

import { escapeForTerminal, position, type SourceOf } from '../../../language/diagnostic/render.ts';
import { formatDecimal } from '../../../language/value/decimal.ts';
import type { Trial } from '../../../reasoning/guarantees/try.ts';
import { createMarks } from '../output/output.ts';

/** A line for each claim; below a refuted one, the request that refutes it, as `writ decide` takes it. */
export function renderTrials(trials: readonly Trial[], sourceOf: SourceOf): string {
  const marks = createMarks();
  return trials
    .map(({ guarantee, claim, tried, counterexample }) => {
      const { file, start, end } = claim.span;
      const source = sourceOf(file) ?? '';
      const text = escapeForTerminal(source.slice(start, end).replace(/\s+/g, ' '));
      if (counterexample === null) {
        const mark = tried === 0 ? marks.faint('?') : marks.good('✓');
        const verdict = tried === 0 ? 'never tried: no request met it' : `not refuted by ${tried} requests`;
        return `${mark} ${guarantee.name}: ${text} ${marks.faint(verdict)}\n`;
      }
      const { facts, decision } = counterexample;
      const place = `${file}:${position(source, start).line}`;
      return [
        `${marks.bad('✗')} ${guarantee.name}: ${text} ${marks.bad('refuted')} ${marks.faint(place)}`,
        `    ${decision.outcome} by ${decision.by}`,
        `    ${JSON.stringify(toRequest(facts))}\n`,
      ].join('\n');
    })
    .join('');
}

export function trialToJson({ guarantee, claim, tried, counterexample }: Trial): object {
  return {
    guarantee: guarantee.name,
    claim: { mode: claim.mode, effect: claim.effect, unapproved: claim.isUnapproved },
    tried,
    result: counterexample === null ? 'not refuted' : 'refuted',
    ...(counterexample === null
      ? {}
      : {
          request: toRequest(counterexample.facts),
          decision: counterexample.decision.outcome,
          by: counterexample.decision.by,
        }),
  };
}

/** The facts in the form that `writ decide` reads. */
function toRequest({
  action,
  payload,
  agent,
  request,
  nowMs,
  meters,
  satisfied,
}: NonNullable<Trial['counterexample']>['facts']): object {
  const readings = Object.entries(meters).map(([name, { low, high }]) => [
    name,
    [Number(formatDecimal(low)), Number(formatDecimal(high))],
  ]);
  return {
    action,
    payload,
    agent,
    request,
    now: new Date(nowMs).toISOString(),
    meters: Object.fromEntries(readings),
    satisfied,
  };
}
