// Makes conditions in simplified form: constants are folded, `and` and `or` are flat with cheap operands
// first, and `not` is pushed down until its operand is no `and`, `or` or order comparison. The order of
// evaluation cannot be observed, so every step keeps the meaning.

import { oppositeComparison } from '../model/expression.ts';
import type { Truth } from '../model/trace.ts';
import type { Value } from '../model/value.ts';
import { compare as compareDecimals, type Decimal } from '../value/decimal.ts';
import type { ComparisonTest, Condition, Term } from './program.ts';

export function constant(truth: Truth): Condition {
  return { kind: 'constant', truth, mayBeUnknown: truth === 'unknown', cost: 0 };
}

/** Returns a two-valued answer as a condition. */
export function definite(isTrue: boolean): Condition {
  return constant(isTrue ? 'true' : 'false');
}

/** Returns a condition that is true when all operands are true; `true` when there are none. */
export function conjunction(operands: readonly Condition[]): Condition {
  return join('and', operands);
}

/** Returns a condition that is true when at least one operand is true; `false` when there are none. */
export function disjunction(operands: readonly Condition[]): Condition {
  return join('or', operands);
}

const negated: Readonly<Record<Truth, Truth>> = { true: 'false', false: 'true', unknown: 'unknown' };

/**
 * Returns the opposite of a condition. An order comparison becomes the opposite comparison. That holds for
 * intervals as well, because the two are unknown together.
 */
export function negation(operand: Condition): Condition {
  switch (operand.kind) {
    case 'constant':
      return constant(negated[operand.truth]);
    case 'not':
      return operand.operand;
    case 'and':
      return disjunction(operand.operands.map(negation));
    case 'or':
      return conjunction(operand.operands.map(negation));
    case 'compare':
      if (operand.operator !== '==') return { ...operand, operator: oppositeComparison[operand.operator] };
      break;
    default:
      break;
  }
  return { kind: 'not', operand, mayBeUnknown: operand.mayBeUnknown, cost: operand.cost };
}

/** Returns a comparison of two terms of one sort, which must not be boolean. */
export function comparison(operator: ComparisonTest['operator'], left: Term, right: Term): Condition {
  if (left.kind === 'absent' || right.kind === 'absent') return constant('unknown');
  if (left.kind === 'literal' && right.kind === 'literal') {
    const order = literalOrder(left.value, right.value);
    if (order !== null) return order === 'unknown' ? constant('unknown') : definite(holds(operator, order));
  }
  const currencies = currencyAgreement(left, right);
  if (currencies === 'differ') return constant('unknown');
  const mayBeUnknown = left.mayBeUnknown || right.mayBeUnknown || currencies === 'open';
  return { kind: 'compare', operator, left, right, mayBeUnknown, cost: 1 + left.cost + right.cost };
}

/**
 * Returns a condition that is true when both conditions have the same truth, and unknown when one of them is
 * unknown.
 */
export function equivalence(left: Condition, right: Condition): Condition {
  if (left.kind === 'constant') return againstConstant(right, left.truth);
  if (right.kind === 'constant') return againstConstant(left, right.truth);
  const mayBeUnknown = left.mayBeUnknown || right.mayBeUnknown;
  return { kind: 'same', left, right, mayBeUnknown, cost: 1 + left.cost + right.cost };
}

function againstConstant(condition: Condition, truth: Truth): Condition {
  if (truth === 'unknown') return constant('unknown');
  return truth === 'true' ? condition : negation(condition);
}

function join(kind: 'and' | 'or', operands: readonly Condition[]): Condition {
  const winner: Truth = kind === 'and' ? 'false' : 'true';
  const remaining: Condition[] = [];
  let hasUnknown = false;
  for (const operand of operands) {
    for (const part of operand.kind === kind ? operand.operands : [operand]) {
      if (part.kind !== 'constant') remaining.push(part);
      else if (part.truth === winner) return constant(winner);
      else hasUnknown ||= part.truth === 'unknown';
    }
  }
  remaining.sort((a, b) => a.cost - b.cost);
  if (hasUnknown) remaining.push(constant('unknown'));
  if (remaining.length < 2) return remaining[0] ?? constant(negated[winner]);
  const mayBeUnknown = remaining.some((operand) => operand.mayBeUnknown);
  return {
    kind,
    operands: remaining,
    mayBeUnknown,
    cost: remaining.reduce((sum, { cost }) => sum + cost, 0),
  };
}

/** Returns the order of two constants; null when they have to be compared while the program runs. */
function literalOrder(left: Value, right: Value): number | 'unknown' | null {
  if (typeof left === 'string' && typeof right === 'string')
    return left === right ? 0 : left < right ? -1 : 1;
  if (isDecimal(left) && isDecimal(right)) return compareDecimals(left, right);
  if (isMoneyTerm(left) && isMoneyTerm(right)) {
    return left.currency === right.currency ? compareDecimals(left.amount, right.amount) : 'unknown';
  }
  return null;
}

function holds(operator: ComparisonTest['operator'], order: number): boolean {
  switch (operator) {
    case '==':
      return order === 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/** Whether the currencies of two amounts agree; `open` when only the request shows the currencies. */
function currencyAgreement(left: Term, right: Term): 'agree' | 'differ' | 'open' {
  if (left.sort !== 'money') return 'agree';
  const [a, b] = [knownCurrency(left), knownCurrency(right)];
  if (a === null || b === null) return 'open';
  return a === b ? 'agree' : 'differ';
}

function knownCurrency(term: Term): string | null {
  if (term.kind === 'literal' && isMoneyTerm(term.value)) return term.value.currency;
  return term.kind === 'read' ? (term.currency?.known ?? null) : null;
}

export function isDecimal(value: Value): value is Decimal {
  return typeof value === 'object' && value !== null && 'coefficient' in value;
}

/** Whether a constant is an amount of money. */
export function isMoneyTerm(value: Value): value is Extract<Value, { readonly amount: Decimal }> {
  return typeof value === 'object' && value !== null && 'amount' in value && 'currency' in value;
}

/** Whether a term is a list that the policy writes out. */
export function isListWritten({ kind }: Term): boolean {
  return kind === 'list' || kind === 'text-list';
}

/**
 * Whether a list to go through may be unknown as a whole. An absent list is empty, not unknown, and a list
 * that is written out is known whatever its elements are.
 */
export function isUnknowableList(source: Term): boolean {
  return source.kind === 'read' ? source.read.isSigned : !isListWritten(source) && source.mayBeUnknown;
}
