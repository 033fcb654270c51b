// Finds small edits that make a condition true or false for one request: another bound, one entry more or less in a
// list. An edit changes constants only, so everything that the condition reads stays the same.

import { posix } from 'node:path';
import type { Span } from '../../language/diagnostic/span.ts';
import { elementsOf } from '../../language/model/children.ts';
import { quoted } from '../../language/model/describe.ts';
import {
  type Compare,
  type ComparisonOperator,
  type Expression,
  mirroredComparison,
  oppositeComparison,
  type Quantify,
} from '../../language/model/expression.ts';
import type { Type } from '../../language/model/type.ts';
import { type UnknownValue, unknown, type Value } from '../../language/model/value.ts';
import { type EvaluationScope, evaluate, evaluateCondition } from '../../language/spec/evaluate.ts';
import { isInterval, isMoney } from '../../language/spec/quantity.ts';
import { unitDigits } from '../../language/value/currency.ts';
import { add, type Decimal, fromNumber, negate } from '../../language/value/decimal.ts';
import { expressionText } from '../../reasoning/counterfactual/change-wording.ts';
import {
  constantReplaced,
  entryAdded,
  entryBehind,
  entryRemoved,
  joinedEdits,
  type PolicyChange,
  rowValue,
  type SourceSet,
  written,
  writtenEntryRemoved,
} from './source-edits.ts';

/** A condition to repair, for one request, in policies with these texts. */
export interface RepairScope {
  readonly source: SourceSet;
  readonly scope: EvaluationScope;
}

/** The most ways to repair one condition. */
const repairsMax = 8;
const elementsMax = 10;

/** The changes each of which gives the condition the truth, as far as constants decide that. */
export function repairsOf(expression: Expression, truth: boolean, at: RepairScope): readonly PolicyChange[] {
  return repair(expression, truth, at).slice(0, repairsMax);
}

function repair(expression: Expression, truth: boolean, at: RepairScope): readonly PolicyChange[] {
  switch (expression.kind) {
    case 'not':
      return repair(expression.operand, !truth, at);
    case 'and':
    case 'or':
      return operandRepairs(expression, truth, at);
    case 'let': {
      const declared = at.scope.set.lets.get(expression.id);
      const inner = { ...at.scope, variables: new Map(), rounds: 1 };
      return declared === undefined ? [] : repair(declared.expression, truth, { ...at, scope: inner });
    }
    case 'compare':
      return [...boundRepairs(expression, truth, at), ...alternativeRepairs(expression, truth, at)];
    case 'in-list':
      return listRepairs(expression, truth, at);
    case 'in-elements':
      return elementRepairs(expression, truth, at);
    case 'in-range':
      return truth ? rangeRepairs(expression, at) : [];
    case 'quantify':
      return quantifierRepairs(expression, truth, at);
    default:
      return [];
  }
}

type Joined = Extract<Expression, { readonly kind: 'and' | 'or' }>;

/** All operands that keep an `and` from being true have to change, and any operand of an `or`. */
function operandRepairs(expression: Joined, truth: boolean, at: RepairScope): readonly PolicyChange[] {
  const listed = truth ? patternListRepairs(expression, at) : [];
  const wrong = expression.operands.filter((operand) => evaluateCondition(operand, at.scope) !== truth);
  const each = wrong.map((operand) => repair(operand, truth, at).slice(0, repairsMax));
  const needsAll = (expression.kind === 'and') === truth;
  return [...listed, ...(needsAll ? together(each) : each.flat())];
}

/** One change of each group, in every combination. */
export function together(groups: readonly (readonly PolicyChange[])[]): readonly PolicyChange[] {
  const [first, ...others] = groups;
  if (first === undefined) return [];
  return others.reduce<readonly PolicyChange[]>(
    (joined, group) =>
      joined.flatMap((a) => group.flatMap((b) => joinedChange([a, b]) ?? [])).slice(0, repairsMax),
    first,
  );
}

/** Several changes as one; null if they change the same text. */
function joinedChange(changes: readonly PolicyChange[]): PolicyChange | null {
  const edits = joinedEdits(changes.flatMap((change) => change.edits));
  const [first] = changes;
  if (edits === null || first === undefined) return null;
  const texts = [...new Set(changes.map(({ text }) => text))];
  const kind = changes.find((one) => one.kind === 'rule' || one.kind === 'exception')?.kind ?? first.kind;
  return { kind, edits, text: texts.join(', and ') };
}

// ---- bounds

interface Constant {
  readonly span: Span;
  readonly type: Type;
}

/** Moves the constant of a comparison to the value that the request has. */
function boundRepairs(comparison: Compare, truth: boolean, at: RepairScope): readonly PolicyChange[] {
  return sidesOf(comparison).flatMap(({ operator, subject, bound }) => {
    const constant = constantOf(bound, at);
    const value = evaluate(subject, at.scope);
    if (constant === null || value === unknown) return [];
    const wanted = truth ? operator : oppositeComparison[operator];
    const moved = boundFor(wanted, value, bound.type);
    if (moved === null || isNegative(moved)) return [];
    const literal = expressionText(at.scope.set, { ...constant, kind: 'literal', value: moved });
    return [constantReplaced(at.source, constant.span, literal)];
  });
}

interface ComparisonSide {
  readonly operator: ComparisonOperator;
  readonly subject: Expression;
  readonly bound: Expression;
}

function sidesOf({ operator, left, right }: Compare): readonly ComparisonSide[] {
  return [
    { operator, subject: left, bound: right },
    { operator: mirroredComparison[operator], subject: right, bound: left },
  ];
}

/** The constant that an expression reads: itself, that of a `let`, or that of a row in a written table. */
function constantOf(expression: Expression, { source, scope }: RepairScope): Constant | null {
  switch (expression.kind) {
    case 'literal':
      return { span: expression.span, type: expression.type };
    case 'let': {
      const declared = scope.set.lets.get(expression.id)?.expression;
      return declared?.kind === 'literal' ? { span: declared.span, type: declared.type } : null;
    }
    case 'column': {
      const key = evaluate(expression.key, scope);
      const value = typeof key === 'string' ? rowValue(source, expression.table, key) : null;
      return value === null ? null : { span: value.span, type: expression.type };
    }
    default:
      return null;
  }
}

/** The nearest bound for which the comparison holds; null if there is none, or if the value has no order. */
function boundFor(operator: ComparisonOperator, value: Value, type: Type): Value | null {
  if (operator === '==' || operator === '!=') return null;
  const isUpper = operator === '<' || operator === '<=';
  const outer = isInterval(value) ? (isUpper ? value.high : value.low) : value;
  const step = operator === '<=' || operator === '>=' ? null : stepOf(outer, type);
  if (operator === '<=' || operator === '>=') return isOrdered(outer) ? outer : null;
  if (step === null) return null;
  const signed = isUpper ? step : negate(step);
  if (isMoney(outer)) {
    const amount = add(outer.amount, signed);
    return amount === null ? null : { ...outer, amount };
  }
  return isDecimal(outer) ? add(outer, signed) : null;
}

/** A bound below zero is seldom meant, and for counts it says nothing. */
function isNegative(value: Value): boolean {
  const amount = isMoney(value) ? value.amount : value;
  return isDecimal(amount) && amount.coefficient < 0n;
}

function isOrdered(value: Value): boolean {
  return isDecimal(value) || (isMoney(value) && value.currency !== null);
}

function isDecimal(value: Value): value is Decimal {
  return typeof value === 'object' && value !== null && 'coefficient' in value;
}

/** The smallest difference between two values of a type; null for types without one. */
function stepOf(value: Value, type: Type): Decimal | null {
  if (isMoney(value)) {
    const digits = value.currency === null ? null : unitDigits(value.currency);
    return digits === null ? null : { coefficient: 1n, exponent: -digits };
  }
  const isWhole = type.kind === 'integer' || type.kind === 'duration' || type.kind === 'date';
  return isWhole ? fromNumber(1) : null;
}

function rangeRepairs(
  { subject, low, high }: Extract<Expression, { readonly kind: 'in-range' }>,
  at: RepairScope,
): readonly PolicyChange[] {
  const type = subject.type;
  const span = subject.span;
  const isIn = (operator: '<=' | '>=', right: Expression): Compare => {
    return { kind: 'compare', operator, left: subject, right, type, span };
  };
  const wrong = [isIn('>=', low), isIn('<=', high)].filter(
    (comparison) => evaluateCondition(comparison, at.scope) !== true,
  );
  return together(wrong.map((comparison) => boundRepairs(comparison, true, at)));
}

/** Turns `x == "a"` into `x in ["a", "b"]`. */
function alternativeRepairs(comparison: Compare, truth: boolean, at: RepairScope): readonly PolicyChange[] {
  const { operator, left, right, span } = comparison;
  if (!truth || operator !== '==' || right.kind !== 'literal') return [];
  const value = evaluate(left, at.scope);
  const text = written(at.source, span);
  const between = text.slice(left.span.end - span.start, right.span.start - span.start);
  if (typeof value !== 'string' || !/^\s*==\s*$/.test(between)) return [];
  const literal = literalOf(left.type, value, at);
  if (literal === null) return [];
  const old = written(at.source, right.span);
  const edits = [{ span: { ...span, start: left.span.end }, text: ` in [${old}, ${literal}]` }];
  return [{ kind: 'list', edits, text: `accepts ${literal} beside ${old}` }];
}

// ---- lists

function listRepairs(
  { subject, list }: Extract<Expression, { readonly kind: 'in-list' }>,
  truth: boolean,
  at: RepairScope,
): readonly PolicyChange[] {
  const value = evaluate(subject, at.scope);
  const literal = literalOf(subject.type, value, at);
  if (value === unknown || literal === null) return [];
  const line = typeof value === 'string' ? value : null;
  const change = truth
    ? entryAdded(at.source, list, { literal, line })
    : typeof value === 'string'
      ? entryRemoved(at.source, list, value)
      : null;
  return change === null ? [] : [change];
}

function elementRepairs(
  { subject, elements }: Extract<Expression, { readonly kind: 'in-elements' }>,
  truth: boolean,
  at: RepairScope,
): readonly PolicyChange[] {
  const entries = elementsOf(elements) ?? [];
  const value = evaluate(subject, at.scope);
  const literal = literalOf(subject.type, value, at);
  if (entries.length === 0 || literal === null) return [];
  const found = entries.findIndex((entry) => evaluate(entry, at.scope) === value);
  const edit = truth
    ? entryBehind(at.source, entries, literal)
    : found < 0
      ? null
      : writtenEntryRemoved(at.source, entries, found);
  if (edit === null) return [];
  const text = truth
    ? `adds ${literal} to the values of a condition`
    : `removes ${literal} from the values of a condition`;
  return [{ kind: 'list', edits: [edit], text }];
}

/** A value as the language writes it; null when it is not known, or cannot be written as a constant. */
function literalOf(type: Type, value: Value | UnknownValue, { scope }: RepairScope): string | null {
  if (value === unknown || value === null) return null;
  if (typeof value === 'string') return value.length > 500 ? null : quoted(value);
  if (typeof value === 'boolean') return String(value);
  if (!isOrdered(value)) return null;
  const span = { file: '', start: 0, end: 0 };
  return expressionText(scope.set, { kind: 'literal', type, value, span });
}

/** Adds an entry to the list of a test such as `payload.path inside any of roots`. */
function patternListRepairs(expression: Joined, at: RepairScope): readonly PolicyChange[] {
  const { operands, span } = expression;
  const [first] = operands;
  if (first === undefined || !operands.every((one) => isSameSpan(one.span, span))) return [];
  const name = /\bany\s+of\s+([A-Za-z_]\w*)$/.exec(written(at.source, span))?.[1];
  const subject = first.kind === 'text-test' ? first.left : first.kind === 'matches' ? first.subject : null;
  const value = subject === null ? unknown : evaluate(subject, at.scope);
  if (name === undefined || typeof value !== 'string' || value === '' || value.length > 500) return [];
  const entry = entryFor(first, value);
  const change = entry === null ? null : entryAdded(at.source, name, entry);
  return change === null ? [] : [change];
}

function entryFor(
  test: Expression,
  value: string,
): { readonly literal: string; readonly line: string } | null {
  if (test.kind === 'matches') {
    const pattern = value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    return /['\n\r]/.test(pattern) ? null : { literal: `'${pattern}'`, line: pattern };
  }
  if (test.kind !== 'text-test') return null;
  if (test.operator !== 'inside') return { literal: quoted(value), line: value };
  const folder = posix.dirname(value);
  return folder === '/' || folder === '.' ? null : { literal: quoted(folder), line: folder };
}

function isSameSpan(a: Span, b: Span): boolean {
  return a.file === b.file && a.start === b.start && a.end === b.end;
}

// ---- quantifiers

/** Repairs the body for the elements that keep the quantifier from its truth. */
function quantifierRepairs(expression: Quantify, truth: boolean, at: RepairScope): readonly PolicyChange[] {
  const { quantifier, variable, sources, body } = expression;
  if (quantifier !== 'some' && quantifier !== 'every') return [];
  const lists = sources.map((source) => evaluate(source, at.scope));
  const elements = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Value[]) : []));
  if (elements.length > elementsMax) return [];
  const inner = elements.map((element) => {
    return { ...at, scope: { ...at.scope, variables: new Map(at.scope.variables).set(variable, element) } };
  });
  const wrong = inner.filter(({ scope }) => evaluateCondition(body, scope) !== truth);
  const each = wrong.map((one) => repair(body, truth, one).slice(0, 2));
  return (quantifier === 'every') === truth ? together(each) : each.flat();
}
