// Turns facts, constants and calls into terms. None of them needs a scope to be resolved.

import type { Builtin } from '../../model/builtins.ts';
import { type Expression, type FactRead, isListFact } from '../../model/expression.ts';
import type { Element, RequestFact, Term } from '../program.ts';
import { listTerm, literalTerm, openTerm, textElement, valueElement } from './term.ts';

/** Returns a fact as a term. A fact about the action is a constant. */
export function factTerm(expression: FactRead, action: string): Term {
  const lastDot = action.lastIndexOf('.');
  switch (expression.fact) {
    case 'action.key':
      return literalTerm(action, 'text');
    case 'action.area':
      return literalTerm(action.slice(0, Math.max(lastDot, 0)), 'text');
    case 'action.verb':
      return literalTerm(action.slice(lastDot + 1), 'text');
    default:
      return requestFact(expression, expression.fact);
  }
}

function requestFact(expression: FactRead, fact: RequestFact): Term {
  const element = isListFact(fact) ? textElement : null;
  return { kind: 'fact', fact, ...openTerm(expression, fact === 'request.ip' ? 6 : 1), element };
}

/** Returns a constant as a term; a list of constants becomes a list of terms. */
export function constantTerm(expression: Extract<Expression, { kind: 'literal' }>): Term {
  const { value, type } = expression;
  if (!Array.isArray(value) || type.kind !== 'list') return literalTerm(value, type.kind);
  const sort = type.element.type.kind;
  return listTerm(
    expression,
    value.map((entry) => literalTerm(entry, sort)),
  );
}

/** Returns a call of one of the language's functions as a term. */
export function callTerm(expression: Extract<Expression, { kind: 'call' }>, args: readonly Term[]): Term {
  const { builtin } = expression;
  const cost = callCosts[builtin] + args.reduce((sum, arg) => sum + arg.cost, 0);
  const element: Element | null = elementsOfCalls[builtin] ?? null;
  const isTotal = totalCalls.has(builtin) && args.every((arg) => !arg.mayBeUnknown);
  return { kind: 'call', builtin, args, ...openTerm(expression, cost), element, mayBeUnknown: !isTotal };
}

/** The elements of the builtins that return lists. */
const elementsOfCalls: Partial<Record<Builtin, Element>> = {
  links: textElement,
  commands: valueElement('record'),
};

/** The builtins that have a result for every argument. */
const totalCalls: ReadonlySet<string> = new Set(['length', 'lower', 'trim', 'fold', 'links', 'domain']);

const callCosts = {
  length: 2,
  lower: 4,
  trim: 3,
  fold: 12,
  links: 60,
  commands: 80,
  domain: 5,
  host: 30,
  scheme: 30,
  port: 30,
  ip: 6,
  first: 2,
  date: 30,
  today: 20,
  months_later: 6,
  min: 4,
  max: 4,
  abs: 3,
} as const satisfies Record<Builtin, number>;
