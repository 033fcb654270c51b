// Where a person stands in a walk through a decision, and where the next stop is: forwards and backwards, over what is within a
// step, out of what is around it, and to breakpoints. Steps count from 0.

import type { WalkStep } from '../../../service/playground/decision-walk.ts';

export interface Stops {
  /** Lines, by the path of a file of the set. */
  readonly lines: ReadonlyMap<string, ReadonlySet<number>>;
  /** `policy/rule`, or the name of the rule alone. */
  readonly rules: ReadonlySet<string>;
  /** Whether to stop where a part of a condition is not known. */
  readonly atUnknown: boolean;
}

export interface Stop {
  readonly at: number;
  readonly reason: 'entry' | 'step' | 'breakpoint' | 'function breakpoint' | 'exception' | 'goto';
}

export function isUnknownStep({ kind, truth, value }: WalkStep): boolean {
  return kind === 'condition' && (truth === 'unknown' || (truth === null && value === 'unknown'));
}

/** The next step that is no part of this one; null behind the last. */
export function stepOver(steps: readonly WalkStep[], at: number): number | null {
  const depth = steps[at]!.depth;
  return found(steps.findIndex((step, index) => index > at && step.depth <= depth));
}

/** The next step around this one. */
export function stepOut(steps: readonly WalkStep[], at: number): number | null {
  const depth = steps[at]!.depth;
  return found(steps.findIndex((step, index) => index > at && (step.depth < depth || step.depth === 0)));
}

/** Null before the first. */
export function stepBack(steps: readonly WalkStep[], at: number): number | null {
  const depth = steps[at]!.depth;
  return found(steps.findLastIndex((step, index) => index < at && step.depth <= depth));
}

function found(index: number): number | null {
  return index < 0 ? null : index;
}

/** The next step at which something stops; null where nothing does. */
export function nextStop(steps: readonly WalkStep[], at: number, stops: Stops): Stop | null {
  for (let next = at + 1; next < steps.length; next++) {
    const reason = reasonAt(steps, next, stops);
    if (reason !== null) return { at: next, reason };
  }
  return null;
}

export function stopBefore(steps: readonly WalkStep[], at: number, stops: Stops): Stop | null {
  for (let next = at - 1; next >= 0; next--) {
    const reason = reasonAt(steps, next, stops);
    if (reason !== null) return { at: next, reason };
  }
  return null;
}

function reasonAt(steps: readonly WalkStep[], at: number, stops: Stops): Stop['reason'] | null {
  const step = steps[at]!;
  if (stops.atUnknown && isUnknownStep(step)) return 'exception';
  if (step.kind === 'rule' && step.rule !== null && isNamed(step.rule.id, stops.rules))
    return 'function breakpoint';
  if (step.kind === 'outcome' || step.place === null) return null;
  const { file, line } = step.place;
  if (stops.lines.get(file)?.has(line) !== true) return null;
  // A line is stopped at once, however many parts stand on it.
  const before = steps[at - 1]?.place;
  const isFirst = before === undefined || before === null || before.file !== file || before.line !== line;
  return isFirst ? 'breakpoint' : null;
}

function isNamed(id: string, rules: ReadonlySet<string>): boolean {
  return rules.has(id) || rules.has(id.slice(id.indexOf('/') + 1));
}

/** A step with what it is a part of, the innermost first. */
export function around(steps: readonly WalkStep[], at: number): readonly number[] {
  const chain = [at];
  let depth = steps[at]!.depth;
  for (let index = at - 1; index >= 0 && depth > 0; index--) {
    if (steps[index]!.depth >= depth) continue;
    depth = steps[index]!.depth;
    chain.push(index);
  }
  return chain;
}

/** The parts of a step, as they follow it. */
export function partsOfStep(steps: readonly WalkStep[], at: number): readonly WalkStep[] {
  const { depth, kind } = steps[at]!;
  if (kind !== 'condition' && kind !== 'rule') return [];
  const end = steps.findIndex((step, index) => index > at && step.depth <= depth);
  return steps
    .slice(at + 1, end < 0 ? undefined : end)
    .filter((step) => step.depth === depth + 1 && step.kind === 'condition');
}
