// Makes terms, with what is known about each before any request: its sort, its cost, and whether it may be
// unknown. Arithmetic on constants is carried out.

import { literalTexts } from '../../model/children.ts';
import type { Expression } from '../../model/expression.ts';
import type { Type } from '../../model/type.ts';
import type { Value } from '../../model/value.ts';
import * as decimal from '../../value/decimal.ts';
import { isDecimal, isMoneyTerm } from '../condition.ts';
import type { ArithmeticTerm, Condition, Element, ReadTerm, Sort, Term } from '../program.ts';

/** Elements that are ready to compare. */
export function valueElement(sort: Sort): Element {
  return { sort, encoding: 'value', element: null };
}

/** Text elements. Text in JSON is ready to compare as it is. */
export const textElement: Element = valueElement('text');

export function literalTerm(value: Value, sort: Sort): Term {
  const element = sort === 'list' ? valueElement('text') : null;
  return { kind: 'literal', value, sort, element, mayBeUnknown: false, cost: 0 };
}

/** The fixed parts of a term that may have any value or be unknown. */
export function openTerm(
  { type }: Expression,
  cost: number,
): Pick<Term, 'sort' | 'element' | 'mayBeUnknown' | 'cost'> {
  return { sort: type.kind, element: null, mayBeUnknown: true, cost };
}

/** Returns a list that the policy writes out. */
export function listTerm(expression: Expression, elements: readonly Term[]): Term {
  // Lets of texts may be among the elements.
  const texts = literalTexts(elements);
  if (texts !== null) return textListTerm(expression, texts);
  const sort = expression.type.kind === 'list' ? expression.type.element.type.kind : 'any';
  return { kind: 'list', elements, ...openTerm(expression, elements.length), element: valueElement(sort) };
}

/** Returns a list of constant texts, in one piece. */
export function textListTerm(expression: Expression, texts: readonly string[]): Term {
  return { kind: 'text-list', texts, ...openTerm(expression, texts.length), element: textElement };
}

/** The fixed parts of a condition that is unknown exactly when its subject is unknown. */
export function ofSubject(
  subject: Term,
  cost: number,
): { subject: Term; mayBeUnknown: boolean; cost: number } {
  return { subject, mayBeUnknown: subject.mayBeUnknown, cost: cost + subject.cost };
}

/** Returns the term for a field that the action does not declare. */
export function absent(type: Type): Term {
  const element = type.kind === 'list' ? valueElement(type.element.type.kind) : null;
  return { kind: 'absent', sort: type.kind, element, mayBeUnknown: true, cost: 0 };
}

/** Returns a condition as a term, for places that need a value. */
export function truthTerm(condition: Condition): Term {
  const { mayBeUnknown, cost } = condition;
  if (condition.kind === 'constant' && condition.truth !== 'unknown') {
    return literalTerm(condition.truth === 'true', 'boolean');
  }
  if (condition.kind === 'flag') return condition.term;
  return { kind: 'truth', condition, sort: 'boolean', element: null, mayBeUnknown, cost };
}

/** Returns a term for the field's value, or for the fallback when the field is absent or null. */
export function elseTerm(subject: ReadTerm, fallback: Term): Term {
  const { sort } = subject;
  const sameElement = subject.element?.sort ?? fallback.element?.sort;
  return {
    kind: 'else',
    subject,
    fallback,
    sort,
    element: sameElement === undefined ? null : valueElement(sameElement),
    mayBeUnknown: subject.read.isSigned || fallback.mayBeUnknown || subject.currency !== null,
    cost: subject.cost + fallback.cost,
  };
}

/**
 * Returns a term for exact arithmetic. It may be unknown, because the number of digits is bounded, unless
 * both sides are constants and the result is computed at once.
 */
export function arithmetic(expression: Extract<Expression, { kind: 'arithmetic' }>, sides: Sides): Term {
  const { operator, type } = expression;
  const { left, right } = sides;
  if (left.kind === 'literal' && right.kind === 'literal') {
    const value = foldArithmetic(operator, left.value, right.value);
    if (value !== null && left.sort !== 'date') return literalTerm(value, type.kind);
  }
  const cost = 4 + left.cost + right.cost;
  return {
    kind: 'arithmetic',
    operator,
    left,
    right,
    sort: type.kind,
    element: null,
    mayBeUnknown: true,
    cost,
  };
}

interface Sides {
  readonly left: Term;
  readonly right: Term;
}

export function negatedTerm(operand: Term): Term {
  if (operand.kind === 'literal') {
    const value = operand.value;
    if (isDecimal(value)) return literalTerm(decimal.negate(value), operand.sort);
    if (isMoneyTerm(value))
      return literalTerm({ ...value, amount: decimal.negate(value.amount) }, operand.sort);
  }
  const { sort, mayBeUnknown, cost } = operand;
  return { kind: 'negate', operand, sort, element: null, mayBeUnknown, cost: cost + 2 };
}

const operations = {
  '+': decimal.add,
  '-': decimal.subtract,
  '*': decimal.multiply,
  '/': decimal.divide,
} as const satisfies Record<ArithmeticTerm['operator'], unknown>;

/** Returns the result for two constants; null when it is unknown or not worth folding. */
function foldArithmetic(operator: ArithmeticTerm['operator'], left: Value, right: Value): Value | null {
  const operation = operations[operator];
  if (isDecimal(left) && isDecimal(right)) return operation(left, right);
  if (isMoneyTerm(left) && isDecimal(right)) {
    const amount = operation(left.amount, right);
    return amount === null ? null : { amount, currency: left.currency };
  }
  return null;
}
