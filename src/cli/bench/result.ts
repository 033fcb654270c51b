// Summarises the measurements of one policy set: printed as text for people, and as JSON for programs.

import { isDeepStrictEqual } from 'node:util';
import { rulesInOneTextMax } from '../../language/emit/code/emit.ts';
import { type Decision, type Outcome, outcomes } from '../../language/model/decision.ts';
import { countRules } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { duration, type Figure, figureOf, percentilesOf, ratioOf, size } from '../../measure/figure.ts';
import type { Measurement } from '../../measure/measure.ts';
import { type UsedRules, useOfRules } from '../../measure/rules.ts';
import { many } from '../output/many.ts';
import { createMarks } from '../output/output.ts';
import { benchTable, describeRequests, describeSet, perSecond, ratio } from './render.ts';

// Compares two policy sets on the same requests: first the decisions that differ, then the cost of the second
// set relative to the first, round by round.

export interface BenchDifference {
  /** The request's line in the file of requests. */
  readonly line: number;
  readonly action: string;
  readonly before: Decision;
  readonly after: Decision;
}

export interface Ratio {
  readonly quantity: string;
  readonly before: string;
  readonly after: string;
  /** The second set's figure divided by the first set's. */
  readonly ratio: Figure;
}

export interface BenchComparison {
  readonly results: readonly [Result, Result];
  readonly differences: readonly BenchDifference[];
  readonly ratios: readonly Ratio[];
}

export interface Side {
  readonly measured: Measurement;
  readonly result: Result;
}

/** Compares two measured sides. `lines` holds each request's line in the file of requests. */
export function compareSides(
  [before, after]: readonly [Side, Side],
  requests: readonly Facts[],
  lines: readonly number[],
): BenchComparison {
  const differences = requests.flatMap(({ action }, at): readonly BenchDifference[] => {
    const [one, other] = [before.measured.decisions[at]!, after.measured.decisions[at]!];
    if (isDeepStrictEqual(one, other)) return [];
    return [{ line: lines[at]!, action, before: one, after: other }];
  });
  return { results: [before.result, after.result], differences, ratios: ratiosOf(before, after) };
}

type Pick = (measured: Measurement) => readonly number[];

function ratiosOf(before: Side, after: Side): readonly Ratio[] {
  const rounds = (quantity: string, pick: Pick, show: (value: number) => string): Ratio => ({
    quantity,
    before: show(figureOf(pick(before.measured)).median),
    after: show(figureOf(pick(after.measured)).median),
    ratio: ratioOf(pick(after.measured), pick(before.measured)),
  });
  const latencies = (['p50', 'p90', 'p99', 'max'] as const).map((name) =>
    rounds(name, ({ latency }) => latency.map((one) => one[name]), duration),
  );
  const keptRatio = after.measured.keptBytes / before.measured.keptBytes;
  return [
    ...latencies,
    rounds('a decision', ({ each }) => each, duration),
    rounds('ready in', ({ ready }) => ready.map((ms) => ms * 1e6), duration),
    {
      quantity: 'kept',
      before: size(before.measured.keptBytes),
      after: size(after.measured.keptBytes),
      ratio: { median: keptRatio, min: keptRatio, max: keptRatio },
    },
  ];
}

const differencesShownMax = 50;

/** Returns the comparison as text. `name` is the file of requests. */
export function renderComparison({ results, differences, ratios }: BenchComparison, name: string): string {
  const [before, after] = results;
  const rows = ratios.map((one) => [one.quantity, one.before, one.after, ratio(one.ratio)]);
  const rates = ['throughput', ...results.map(({ each }) => `${perSecond(each.median)}/s`), ''];
  const head = ['', 'first', 'second', 'second to first'];
  const checked = Math.min(before.checked, after.checked);
  return [
    renderDifferences(differences, name, before.requests),
    `first   ${describeSet(before)}\nsecond  ${describeSet(after)}\n${describeRequests(before.requests, checked)}`,
    `${benchTable([head, ...rows, rates], ['left', 'right', 'right', 'left'], rows.length + 1)}\n`,
  ].join('\n\n');
}

function renderDifferences(differences: readonly BenchDifference[], name: string, requests: number): string {
  const marks = createMarks();
  if (differences.length === 0) return marks.good(`all ${many(requests, 'decision')} are the same`);
  const rows = differences
    .slice(0, differencesShownMax)
    .map(({ line, action, before, after }) => [`${name}:${line}`, action, ...changed(before, after)]);
  const title = marks.bad(`${many(differences.length, 'decision')} of ${requests} differ`);
  const head = ['request', 'action', 'first', 'second'];
  return `${title}\n${benchTable([head, ...rows], ['left', 'left', 'left', 'left'], differences.length)}`;
}

/** The two decisions as text. When outcome and rule are equal, the text adds the first field that differs. */
function changed(before: Decision, after: Decision): readonly [string, string] {
  const decisionText = ({ outcome, by }: Decision): string => `${outcome} by ${by}`;
  if (decisionText(before) !== decisionText(after)) return [decisionText(before), decisionText(after)];
  const fields = Object.keys(before) as (keyof Decision)[];
  const field = fields.find((one) => !isDeepStrictEqual(before[one], after[one]))!;
  const decisionLine = (decision: Decision): string =>
    `${decisionText(decision)}, ${field} ${JSON.stringify(decision[field])}`;
  return [decisionLine(before), decisionLine(after)];
}

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

export function resultOf(measured: Measurement, { path, textBytes, requests, rulesMs }: ResultOf): Result {
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
