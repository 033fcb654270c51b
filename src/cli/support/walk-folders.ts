// Walks through a decision on a terminal: one step at a time by keys, or all steps at once without a
// terminal.

import type { DecisionStep } from '../../analysis/decision-steps.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { createMarks } from '../output/output.ts';

const truthWidth = 7;

/** A step as text: a rule has its place, and an unknown part has its reason below it. */
function stepText({ kind, depth, text, truth, value, why, rule }: DecisionStep): string {
  const marks = createMarks();
  const indent = '  '.repeat(depth);
  const escaped = escapeForTerminal(text);
  const location = rule === null ? '' : ` ${marks.faint(`${escapeForTerminal(rule.file)}:${rule.line}`)}`;
  if (kind === 'rule') return `\n${escaped}${location}\n`;
  if (kind !== 'condition') return `${depth === 0 ? '\n' : `${indent}→ `}${escaped}\n`;
  const mark = truth === null ? ' '.repeat(truthWidth) : truth.padEnd(truthWidth);
  const paint = truth === 'true' ? marks.good : truth === 'unknown' ? marks.bad : marks.faint;
  const valued = value === null ? '' : ` ${marks.faint('=')} ${escapeForTerminal(value)}`;
  const reason =
    why === null
      ? ''
      : `${indent}${' '.repeat(truthWidth + 1)}${marks.faint(`because ${escapeForTerminal(why)}`)}\n`;
  return `${indent}${paint(mark)} ${escaped}${valued}\n${reason}`;
}

export function decisionWalkText(steps: readonly DecisionStep[]): string {
  return steps.map(stepText).join('').replace(/^\n/, '');
}

export interface KeyTerminal {
  readonly input: NodeJS.ReadableStream & { setRawMode?: (isRaw: boolean) => unknown };
  readonly output: Pick<NodeJS.WritableStream, 'write'>;
}

const help = 'Enter: next step, r: next rule, a: all remaining steps, q: quit\n';
const ends = ['q', '\u0003', '\u0004', '\u001B'];

/**
 * Shows steps as the person asks for them. Resolves at the last step, or when the person or the input ends
 * the walk.
 */
export async function walkByKeys(
  steps: readonly DecisionStep[],
  { input, output }: KeyTerminal,
): Promise<void> {
  let at = 0;
  const showUntil = (isLast: (step: DecisionStep) => boolean): void => {
    do output.write(stepText(steps[at++]!));
    while (at < steps.length && !isLast(steps[at]!));
  };
  const press = (key: string): boolean => {
    if (ends.includes(key)) return true;
    if (key === 'r') showUntil(({ kind }) => kind !== 'condition' && kind !== 'outcome');
    else if (key === 'a') showUntil(() => false);
    else if (key === '\r' || key === '\n' || key === ' ') showUntil(() => true);
    return at >= steps.length;
  };
  output.write(help);
  showUntil(() => true);
  if (at >= steps.length) return;
  input.setRawMode?.(true);
  try {
    for await (const chunk of input) if ([...String(chunk)].some(press)) return;
  } finally {
    input.setRawMode?.(false);
  }
}
