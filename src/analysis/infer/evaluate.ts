// Decides the requests that were held out by the inferred policies, and bounds the share of such requests that
// would be refused or would wait. The bound is that of `binomial-bound.ts`; it holds for further requests as far
// as they come about as the recorded ones did.

import type { Outcome } from '../../language/model/decision.ts';
import { isWaiting } from '../replay/engine/log.ts';
import { shareAtMost } from './binomial-bound.ts';
import type { InferredAction } from './infer.ts';
import { type Decide, type Sample, turnOf } from './sample.ts';

export interface HeldOutResult {
  readonly heldOut: number;
  /** Requests that are refused now and were not before. */
  readonly refused: number;
  /** Requests that wait for people now and did not before. */
  readonly asks: number;
  /** The share of such requests that are refused or wait, at most, with 95 % confidence. */
  readonly atMost: number;
}

export interface Evaluation {
  readonly byAction: ReadonlyMap<string, HeldOutResult>;
  readonly total: HeldOutResult;
  /** Requests a day for which people would be asked, and were by the existing policies; null without a period. */
  readonly asksPerDay: { readonly now: number; readonly before: number } | null;
}

export interface EvaluationInput {
  /** The actions for which policies are inferred. */
  readonly actions: readonly InferredAction[];
  readonly now: Decide;
  /** Decides by the existing policies; null if there are none. */
  readonly before: Decide | null;
  /** Keys of the actions that the existing policies declare. */
  readonly isDeclared: (key: string) => boolean;
}

export function evaluate(input: EvaluationInput): Evaluation {
  const counts = input.actions.map((action) => ({ action, ...countsOf(action, input) }));
  const byAction = new Map(counts.map(({ action, result }) => [action.key, result]));
  return { byAction, total: totalOf([...byAction.values()]), asksPerDay: asksPerDay(counts) };
}

interface Counts {
  readonly result: HeldOutResult;
  /** Waiting requests among those that were decided here. */
  readonly waiting: { readonly now: number; readonly before: number; readonly of: number };
}

function countsOf({ key, parts }: InferredAction, input: EvaluationInput): Counts {
  const { now, before } = outcomesFor(parts.heldOut, key, input);
  const turns = now.map((outcome, at) => turnOf(before[at]!, outcome));
  const refused = turns.filter((turn) => turn === 'refused').length;
  const asks = turns.filter((turn) => turn === 'asks').length;
  const heldOut = turns.length;
  const result = { heldOut, refused, asks, atMost: shareAtMost(refused + asks, heldOut) };
  // Without requests held out, those that were learned from have to do.
  const all = heldOut > 0 ? { now, before } : outcomesFor(parts.learned, key, input);
  const waitingIn = (outcomes: readonly Outcome[]): number =>
    outcomes.filter((outcome) => isWaiting({ outcome })).length;
  return {
    result,
    waiting: { now: waitingIn(all.now), before: waitingIn(all.before), of: all.now.length },
  };
}

function outcomesFor(
  samples: readonly Sample[],
  key: string,
  { now, before, isDeclared }: EvaluationInput,
): { readonly now: readonly Outcome[]; readonly before: readonly Outcome[] } {
  const decideBefore = before !== null && isDeclared(key) ? before : null;
  return {
    now: samples.map((sample) => now(sample).outcome),
    before: samples.map((sample) => decideBefore?.(sample).outcome ?? 'ALLOW'),
  };
}

function totalOf(results: readonly HeldOutResult[]): HeldOutResult {
  const sum = (of: (result: HeldOutResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  const [heldOut, refused, asks] = [
    sum((one) => one.heldOut),
    sum((one) => one.refused),
    sum((one) => one.asks),
  ];
  return { heldOut, refused, asks, atMost: shareAtMost(refused + asks, heldOut) };
}

const dayMs = 86_400_000;

/** The waiting share of each action, times its requests a day. Less than a day counts as a day. */
function asksPerDay(
  counts: readonly (Counts & { readonly action: InferredAction })[],
): Evaluation['asksPerDay'] {
  const samples = counts.flatMap(({ action }) => [...action.parts.learned, ...action.parts.heldOut]);
  const [first, last] = samples.reduce(
    ([least, most], { facts }) => [Math.min(least, facts.nowMs), Math.max(most, facts.nowMs)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  if (!(last > first)) return null;
  const days = Math.max(1, (last - first) / dayMs);
  const perDay = (which: 'now' | 'before'): number =>
    counts.reduce((sum, { action, waiting }) => {
      const requests = action.parts.learned.length + action.parts.heldOut.length;
      return waiting.of === 0 ? sum : sum + ((waiting[which] / waiting.of) * requests) / days;
    }, 0);
  return { now: perDay('now'), before: perDay('before') };
}
