// Finds conditions of one action that have the same truth for every request: the smallest such parts of the
// conditions of rules and claims.

import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { Questions } from './questions.ts';

export type ConstantTruth = 'never-true' | 'always-true';

interface Part {
  readonly expression: Expression;
  readonly inner: readonly Part[];
}

export interface CheckedPart {
  readonly expression: Expression;
  readonly constant: ConstantTruth;
  readonly literals: readonly SolverLiteral[];
}

/** The parts of the conditions that may be constant, with two questions for each part. */
export function checkedParts(ctx: ProofContext, conditions: readonly Expression[]): readonly CheckedPart[] {
  return conditions
    .filter((condition) => !readsConstantLet(ctx.set, condition))
    .flatMap(partsIn)
    .flatMap((part) => questionsOf(ctx, part));
}

/**
 * The constant truth of each part over all requests of the action; null if it is not constant, or if that is
 * not known.
 */
export function constantParts(
  parts: readonly CheckedPart[],
  questions: Questions,
): ReadonlyMap<Expression, ConstantTruth | null> {
  const unseen = new Set(questions.unseen);
  const excluded = questions.amongExcluded(parts.filter(({ literals }) => unseen.has(literals[0]!)));
  return new Map([
    ...parts.map(({ expression }) => [expression, null] as const),
    ...excluded.map(({ expression, constant }) => [expression, constant] as const),
  ]);
}

function partsIn(condition: Expression): readonly Expression[] {
  return withInner(partOf(condition)).map(({ expression }) => expression);
}

/** The smallest parts of a condition that are constant. */
export function smallestConstants(
  condition: Expression,
  constants: ReadonlyMap<Expression, ConstantTruth | null>,
): readonly Expression[] {
  const smallest = ({ expression, inner }: Part): readonly Expression[] => {
    const within = inner.flatMap(smallest);
    if (within.length > 0) return within;
    return (constants.get(expression) ?? null) === null ? [] : [expression];
  };
  return smallest(partOf(condition));
}

/**
 * A condition with the parts that are conditions themselves. The operator `not in` is one condition, as it is
 * written.
 */
function partOf(expression: Expression): Part {
  if (expression.kind === 'not' && expression.span === expression.operand.span)
    return { expression, inner: [] };
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { expression, inner: expression.operands.map(partOf) };
    case 'not':
      return { expression, inner: [partOf(expression.operand)] };
    default:
      return { expression, inner: [] };
  }
}

function withInner(part: Part): readonly Part[] {
  return [part, ...part.inner.flatMap(withInner)];
}

function questionsOf(ctx: ProofContext, expression: Expression): readonly CheckedPart[] {
  if (expression.kind === 'literal' || expression.kind === 'let') return [];
  const { isTrue } = ctx.lower(expression, noElements);
  return [
    { expression, constant: 'never-true', literals: [isTrue] },
    { expression, constant: 'always-true', literals: [notLiteral(isTrue)] },
  ];
}

/**
 * Recognises constant conditions: a let whose value is a literal is changed on purpose, so what it makes of
 * rules today is intended.
 */
export function readsConstantLet(set: PolicySet, condition: Expression): boolean {
  return descendants(condition).some((part) => {
    const value = part.kind === 'let' ? set.lets.get(part.id)?.expression : undefined;
    return value !== undefined && (value.kind === 'literal' || readsConstantLet(set, value));
  });
}
