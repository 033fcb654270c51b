// Turns the conditions of a finding into lines to read: comparisons of one operand with constants are joined
// to one range, and numbers are shown as narrowly as the change allows.

import { descendants } from '../../language/model/children.ts';
import { describeType } from '../../language/model/describe.ts';
import { type Expression, oppositeComparison } from '../../language/model/expression.ts';
import { unknown, type Value } from '../../language/model/value.ts';
import { showValue } from '../../language/spec/show.ts';
import { compare, type Decimal } from '../../language/value/decimal.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import { expressionText, negatedText } from '../counterfactual/change-wording.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { writtenOut } from '../prove/rewrite.ts';
import type { FindingTerm } from './finding.ts';
import { type Hull, type HullRange, typeAt } from './hulls.ts';

export function wordsOf(
  ctx: ProofContext,
  terms: readonly FindingTerm[],
  hulls: readonly Hull[],
): readonly string[] {
  const bounds = new Map<string, Bound[]>();
  const others: string[] = [];
  for (const term of terms) {
    const bound = boundOf(ctx, term);
    if (bound === null) others.push(termText(ctx, term));
    else bounds.set(bound.subject, [...(bounds.get(bound.subject) ?? []), bound]);
  }
  const narrowed = new Map(hulls.map((hull) => [hull.key, hull]));
  const ranges = [...bounds].map(([subject, own]) => {
    const hull = narrowed.get(subject);
    narrowed.delete(subject);
    return hull === undefined ? rangeText(subject, tightest(own)) : hullText(ctx, hull);
  });
  const rest = [...narrowed.values()].map((hull) => hullText(ctx, hull));
  return [...new Set([...ranges, ...rest, ...others])].toSorted((a, b) => rank(a) - rank(b));
}

/** Puts lines about the payload, which the agent sends, before all others. */
function rank(words: string): number {
  return /^payload[. ]/.test(words) ? 0 : 1;
}

interface Bound {
  readonly subject: string;
  readonly operator: '<' | '<=' | '>' | '>=';
  readonly amount: Decimal;
  readonly shown: string;
}

/** Null when the term is no bound of a number, or is not known to be true or to be false. */
function boundOf(ctx: ProofContext, { expression, truths }: FindingTerm): Bound | null {
  const [truth] = truths;
  if (expression.kind !== 'compare' || truths.length > 1 || truth === unknown) return null;
  const { operator, left, right } = expression;
  if (operator === '==' || operator === '!=') return null;
  const value = constantOf(right, ctx.set);
  const amount = amountOf(value);
  if (amount === null) return null;
  return {
    subject: expressionOnOneLine(ctx, left),
    operator: truth === true ? operator : oppositeComparison[operator],
    amount,
    shown: showValue(right.type, value as Value),
  };
}

function amountOf(value: unknown): Decimal | null {
  if (typeof value !== 'object' || value === null) return null;
  if ('currency' in value && 'amount' in value) return value.amount as Decimal;
  return 'coefficient' in value ? (value as Decimal) : null;
}

function tightest(bounds: readonly Bound[]): readonly Bound[] {
  const isStrict = ({ operator }: Bound): number => (operator === '<' || operator === '>' ? 1 : 0);
  const lows = bounds.filter(({ operator }) => operator.startsWith('>'));
  const highs = bounds.filter(({ operator }) => operator.startsWith('<'));
  const low = lows.toSorted((a, b) => compare(b.amount, a.amount) || isStrict(b) - isStrict(a))[0];
  const high = highs.toSorted((a, b) => compare(a.amount, b.amount) || isStrict(b) - isStrict(a))[0];
  return [low, high].filter((one) => one !== undefined);
}

function rangeText(subject: string, bounds: readonly Bound[]): string {
  return `${subject} ${bounds.map(({ operator, shown }) => `${operator} ${shown}`).join(' and ')}`;
}

function hullText(ctx: ProofContext, { key, ranges }: Hull): string {
  return `${key} ${ranges.map((range) => endsText(ctx, key, range)).join(' or ')}`;
}

function endsText({ action }: ProofContext, key: string, { low, high, currency }: HullRange): string {
  const unit = currency === null ? '' : ` ${currency}`;
  const type = typeAt(action.shape, key.split('.').slice(1));
  const show = (value: Decimal): string =>
    `${type === null || type.kind === 'money' ? showValue({ kind: 'number', range: { low: null, high: null } }, value) : showValue(type, value)}${unit}`;
  if (low !== null && high !== null && !low.isOpen && !high.isOpen && compare(low.at, high.at) === 0)
    return `== ${show(low.at)}`;
  const ends = [
    low === null ? null : `${low.isOpen ? '>' : '>='} ${show(low.at)}`,
    high === null ? null : `${high.isOpen ? '<' : '<='} ${show(high.at)}`,
  ];
  const text = ends.filter((end) => end !== null).join(' and ');
  return text === '' ? `any${unit}` : text;
}

function termText(ctx: ProofContext, { expression, truths }: FindingTerm): string {
  const written = plain(ctx, expression);
  const phrase = truths.includes(false) ? negatedText(ctx.set, written) : expressionText(ctx.set, written);
  const text = phrase + readingText(ctx, expression);
  if (!truths.includes(unknown)) return text;
  return truths.length === 1 ? `${text} is unknown` : `${text}, or that is unknown`;
}

/** The expression's text on one line. */
export function expressionOnOneLine(ctx: ProofContext, expression: Expression): string {
  return expressionText(ctx.set, plain(ctx, expression)) + readingText(ctx, expression);
}

/**
 * For a field whose type differs between the sides, the type in which the condition reads it; empty when all
 * fields have one type.
 */
function readingText({ action }: ProofContext, expression: Expression): string {
  const kinds = descendants(expression).flatMap((part) => {
    const isRead = part.kind === 'field' && part.root === 'payload' && part.type.kind !== 'any';
    return isRead && typeAt(action.shape, part.steps)?.kind === 'any' ? [describeType(part.type)] : [];
  });
  return kinds.length === 0 ? '' : ` (as ${[...new Set(kinds)].join(', ')})`;
}

/** The expression with lets written out and constants computed. */
function plain(ctx: ProofContext, expression: Expression): Expression {
  return withConstants(ctx, writtenOut(ctx, expression, noElements));
}

function withConstants(ctx: ProofContext, expression: Expression): Expression {
  if (expression.kind !== 'compare') return expression;
  const folded = (side: Expression): Expression => {
    const value = side.kind === 'arithmetic' || side.kind === 'negate' ? constantOf(side, ctx.set) : null;
    return value === null || typeof value === 'symbol'
      ? side
      : { kind: 'literal', value: value as Value, type: side.type, span: side.span };
  };
  return { ...expression, left: folded(expression.left), right: folded(expression.right) };
}
