// Summarises the measurements of one policy set: printed as text for people, and as JSON for programs.

import { rulesInOneTextMax } from '../../language/emit/code/emit.ts';
import { type Outcome, outcomes } from '../../language/model/decision.ts';
import { countRules } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { type Figure, figureOf, percentilesOf } from '../../measure/figure.ts';
import type { Measured } from '../../measure/measure.ts';
import { type UsedRules, useOfRules } from '../../measure/rules.ts';

export interface Result {
  readonly path: string;
  readonly policies: number;
  readonly rules: number;
  readonly actions: number;
  readonly textBytes: number;
  readonly requests: number;
  /** Requests that the language's definition has decided, too, with the same decision. */
  readonly checked: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Milliseconds until the set is ready to decide. */
  readonly ready: Figure;
  readonly keptBytes: number;
  /** Nanoseconds of one decision, by percentile. */
  readonly latency: Readonly<Record<'p50' | 'p90' | 'p99' | 'max', Figure>>;
  /** Nanoseconds a decision, when decisions run one after the other. */
  readonly each: Figure;
  readonly used: UsedRules;
  /** The most frequent action first. */
  readonly byAction: readonly ActionResult[];
}

export interface ActionResult {
  readonly action: string;
  readonly isDeclared: boolean;
  readonly requests: number;
  readonly rules: number;
  /** The most rules that a single request tried. */
  readonly triedMax: number;
  /** Nanoseconds of one decision. */
  readonly p50: number;
  readonly p99: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
}

export interface ResultOf {
  readonly path: string;
  readonly textBytes: number;
  readonly requests: readonly Facts[];
  /** Milliseconds to spend on measuring what rules cost. */
  readonly rulesMs: number;
}

export function resultOf(measured: Measured, { path, textBytes, requests, rulesMs }: ResultOf): Result {
  const { set, program, engine, decisions } = measured;
  const decided = requests.map((facts, at) => ({
    facts,
    decision: decisions[at]!,
    tried: engine.tried(facts),
  }));
  const places = Map.groupBy([...requests.keys()], (at) => requests[at]!.action);
  const byAction = [...places].map(([action, own]): ActionResult => {
    const { p50, p99 } = percentilesOf(own.map((at) => measured.byRequest[at]!));
    return {
      action,
      isDeclared: program.actions.has(action),
      requests: own.length,
      rules: program.actions.get(action)?.rules.length ?? 0,
      triedMax: own.reduce((most, at) => Math.max(most, decided[at]!.tried.length), 0),
      p50,
      p99,
      outcomes: countOutcomes(own.map((at) => decisions[at]!.outcome)),
    };
  });
  const spread = (pick: keyof Result['latency']): Figure =>
    figureOf(measured.latency.map((one) => one[pick]));
  return {
    path,
    policies: set.policies.length,
    rules: countRules(set.policies),
    actions: set.actions.size,
    textBytes,
    requests: requests.length,
    checked: measured.checked,
    outcomes: countOutcomes(decisions.map(({ outcome }) => outcome)),
    ready: figureOf(measured.ready),
    keptBytes: measured.keptBytes,
    latency: { p50: spread('p50'), p90: spread('p90'), p99: spread('p99'), max: spread('max') },
    each: figureOf(measured.each),
    used: useOfRules(program, decided, { indexedFrom: rulesInOneTextMax + 1, ms: rulesMs }),
    byAction: byAction.toSorted((a, b) => b.requests - a.requests || (a.action < b.action ? -1 : 1)),
  };
}

function countOutcomes(all: readonly Outcome[]): Readonly<Record<Outcome, number>> {
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  for (const outcome of all) counts[outcome] += 1;
  return counts;
}
