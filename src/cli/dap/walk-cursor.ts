// Finds the next stop in a walk through a decision: forwards and backwards, over the parts of a step, out of
// the enclosing step, and to breakpoints. Steps count from 0.

import { type DecisionStep, isUnknownPart } from '../../analysis/decision-steps.ts';

export interface Stops {
  /** Lines with breakpoints, by the path of a file of the set. */
  readonly lines: ReadonlyMap<string, ReadonlySet<number>>;
  /** Names of rules to stop at, in the form that `isStepOf` takes. */
  readonly rules: readonly string[];
  /** Whether to stop when a part of a condition is unknown. */
  readonly atUnknown: boolean;
}

export interface Stop {
  readonly at: number;
  readonly reason: 'entry' | 'step' | 'breakpoint' | 'function breakpoint' | 'exception';
}

/** The next step that is not a part of the step `at`; null after the last. */
export function stepOver(steps: readonly DecisionStep[], at: number): number | null {
  const depth = steps[at]!.depth;
  return indexOrNull(steps.findIndex((step, index) => index > at && step.depth <= depth));
}

/**
 * The next step outside the step that contains `at`, or the next step of the top level; null when there is
 * none.
 */
export function stepOut(steps: readonly DecisionStep[], at: number): number | null {
  const depth = steps[at]!.depth;
  return indexOrNull(
    steps.findIndex((step, index) => index > at && (step.depth < depth || step.depth === 0)),
  );
}

/** The nearest earlier step that is not deeper than the step `at`; null before the first. */
export function stepBack(steps: readonly DecisionStep[], at: number): number | null {
  const depth = steps[at]!.depth;
  return indexOrNull(steps.findLastIndex((step, index) => index < at && step.depth <= depth));
}

function indexOrNull(index: number): number | null {
  return index < 0 ? null : index;
}

/** The next step with a reason to stop, forwards or backwards; null when there is none. */
export function nextStop(
  steps: readonly DecisionStep[],
  at: number,
  stops: Stops,
  by: 1 | -1 = 1,
): Stop | null {
  for (let next = at + by; next >= 0 && next < steps.length; next += by) {
    const reason = reasonAt(steps, next, stops);
    if (reason !== null) return { at: next, reason };
  }
  return null;
}

function reasonAt(steps: readonly DecisionStep[], at: number, stops: Stops): Stop['reason'] | null {
  const step = steps[at]!;
  if (stops.atUnknown && step.kind === 'condition' && isUnknownPart(step)) return 'exception';
  if (step.kind === 'rule' && stops.rules.some((name) => isStepOf(step, name))) return 'function breakpoint';
  if (step.kind === 'outcome' || step.location === null) return null;
  const { file, line } = step.location;
  if (stops.lines.get(file)?.has(line) !== true) return null;
  // A breakpoint stops once, however many parts stand on its line.
  const before = steps[at - 1]?.location;
  const isFirst = before === undefined || before === null || before.file !== file || before.line !== line;
  return isFirst ? 'breakpoint' : null;
}

/** Whether a step belongs to a rule. `name` is `policy/rule`, or the rule's name alone. */
export function isStepOf({ rule }: DecisionStep, name: string): boolean {
  return rule !== null && (rule.id === name || rule.id.slice(rule.id.indexOf('/') + 1) === name);
}

/** The step `at` and all steps that contain it, the innermost first. */
export function enclosingSteps(steps: readonly DecisionStep[], at: number): readonly number[] {
  const chain = [at];
  let depth = steps[at]!.depth;
  for (let index = at - 1; index >= 0 && depth > 0; index--) {
    if (steps[index]!.depth >= depth) continue;
    depth = steps[index]!.depth;
    chain.push(index);
  }
  return chain;
}

/** The direct parts of a step, in their order. */
export function partsOfStep(steps: readonly DecisionStep[], at: number): readonly DecisionStep[] {
  const { depth, kind } = steps[at]!;
  if (kind !== 'condition' && kind !== 'rule') return [];
  const end = steps.findIndex((step, index) => index > at && step.depth <= depth);
  return steps
    .slice(at + 1, end < 0 ? undefined : end)
    .filter((step) => step.depth === depth + 1 && step.kind === 'condition');
}
