// The trials of a set's guarantees as people read them: refuted by a request that can be replayed, or not refuted.

import { escapeControls, position, type SourceOf } from '../diagnostic/render.ts';
import { isHardlyTried, type Trial } from '../prove/try.ts';
import { formatDecimal } from '../value/decimal.ts';
import { createMarks } from './output.ts';

/** A line a claim; below one that is refuted the request that does it, as `writ decide` takes it. */
export function renderTrials(trials: readonly Trial[], sourceOf: SourceOf): string {
  const marks = createMarks();
  return trials
    .map((trial) => {
      const { guarantee, claim, counterexample } = trial;
      const { file, start, end } = claim.span;
      const source = sourceOf(file) ?? '';
      const text = escapeControls(source.slice(start, end).replace(/\s+/g, ' '));
      if (counterexample === null) {
        const mark = isHardlyTried(trial) ? marks.bad('?') : marks.good('✓');
        return `${mark} ${guarantee.name}: ${text} ${marks.faint(verdictOf(trial))}\n`;
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

function verdictOf(trial: Trial): string {
  const { tried, granted } = trial;
  if (tried === 0) return 'never tried: no request met it';
  if (isHardlyTried(trial))
    return `hardly tried: not refuted by ${tried} requests, but an allow grants only ${granted} of them`;
  return `not refuted by ${tried} requests`;
}

export function trialToJson(trial: Trial): object {
  const { guarantee, claim, tried, granted, counterexample } = trial;
  return {
    guarantee: guarantee.name,
    claim: { mode: claim.mode, effect: claim.effect, unapproved: claim.isUnapproved },
    tried,
    granted,
    result: resultOf(trial),
    ...(counterexample === null
      ? {}
      : {
          request: toRequest(counterexample.facts),
          decision: counterexample.decision.outcome,
          by: counterexample.decision.by,
        }),
  };
}

function resultOf(trial: Trial): string {
  if (trial.counterexample !== null) return 'refuted';
  if (trial.tried === 0) return 'never tried';
  return isHardlyTried(trial) ? 'hardly tried' : 'not refuted';
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
