// Compares sums of numbers, such as `payload.total - payload.paid <= 100`, or a meter's reading with a field.
// Each comparison becomes literals for the inequalities that decide it; `search.ts` finds out which of them
// can hold together. Products of two fields, quotients by them and functions are no sums.

import { descendants } from '../../language/model/children.ts';
import { currencyLocation } from '../../language/model/currency.ts';
import type { ComparisonOperator, Expression } from '../../language/model/expression.ts';
import { anyText } from '../../language/model/type.ts';
import type { Money, Value } from '../../language/model/value.ts';
import { type Decimal, fromNumber } from '../../language/value/decimal.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import type { Leaf } from '../cells/leaf.ts';
import {
  type Fraction,
  fractionOf,
  multiplied,
  noFraction,
  opposite,
  over,
  plus,
  sharedUnit,
  signOf,
  wholeFraction,
} from '../linear/fraction.ts';
import { type Inequality, negatedInequality } from '../linear/inequality.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { Elements, MeterEnds, ProofContext } from './context.ts';
import { dateLeaf, isDateCall } from './dates.ts';
import { exactLiteral, inverseOf, isShortProduct } from './digits.ts';
import { fieldLeaf, hasValue, leafOf, locationOfField } from './leaves.ts';
import { listSum, type SumParts } from './list-sums.ts';
import { literalOf, meterEnds } from './meters.ts';
import { comparisonCall, expressionMeaning, literalNode } from './rewrite.ts';

/** Terms with their factors, and a constant. A meter's reading has two ends; `endOf` picks one of them. */
export interface Sum {
  readonly terms: ReadonlyMap<Leaf | MeterEnds, Fraction>;
  readonly constant: Fraction;
  /** Reads of currencies and named currencies; the sum is known only if all are equal. */
  readonly currencies: readonly Expression[];
  /** Further literals that must hold for the sum to be known. */
  readonly assumptions: readonly SolverLiteral[];
  /** The payload numbers that sums over lists add up. */
  readonly reads: readonly Leaf[];
}

interface SumComparison {
  readonly operator: ComparisonOperator;
  readonly left: Expression;
  readonly right: Expression;
}

/** Null when a side is no sum. */
export function sumAtom(
  ctx: ProofContext,
  compared: SumComparison & Expression,
  elements: Elements,
): Pair | null {
  // A reading minus itself may be any number that its two ends admit, so a meter may appear only once.
  const meters = descendants(compared).flatMap((part) => (part.kind === 'meter' ? [part.meter] : []));
  if (new Set(meters).size < meters.length) return null;
  const left = sumOf(ctx, compared.left, elements);
  const right = left === null ? null : sumOf(ctx, compared.right, elements);
  if (left === null || right === null) return null;
  const difference = added(left, scaled(right, opposite(wholeFraction)));
  const { circuit } = ctx;
  const isKnown = circuit.and([
    ...termsKnown(ctx, difference),
    ...sameCurrency(ctx, difference.currencies, elements),
    ...[
      { side: compared.left, sum: left },
      { side: compared.right, sum: right },
    ].map((one) => isExact(ctx, one, elements)),
  ]);
  return circuit.onlyIf(isKnown, comparedWithZero(ctx, compared.operator, difference));
}

/**
 * Compares a sum with zero in the way in which the definition compares intervals; the two ends of a plain
 * number are equal.
 */
function comparedWithZero(ctx: ProofContext, operator: ComparisonOperator, sum: Sum): Pair {
  const { circuit } = ctx;
  const [low, high] = [endOf(sum, 'low'), endOf(sum, 'high')];
  const isBelow = (end: ClosedSum): SolverLiteral => inequalityLiteral(ctx, end, true);
  const isAtMost = (end: ClosedSum): SolverLiteral => inequalityLiteral(ctx, end, false);
  switch (operator) {
    case '<':
      return { isTrue: isBelow(high), isFalse: notLiteral(isBelow(low)) };
    case '<=':
      return { isTrue: isAtMost(high), isFalse: notLiteral(isAtMost(low)) };
    case '>':
      return { isTrue: notLiteral(isAtMost(low)), isFalse: isAtMost(high) };
    case '>=':
      return { isTrue: notLiteral(isBelow(low)), isFalse: isBelow(high) };
    case '==':
    case '!=': {
      const isZero = circuit.and([isAtMost(high), notLiteral(isBelow(low))]);
      const isOther = circuit.or([isBelow(high), notLiteral(isAtMost(low))]);
      return operator === '==' ? { isTrue: isZero, isFalse: isOther } : { isTrue: isOther, isFalse: isZero };
    }
  }
}

interface ClosedSum {
  readonly terms: ReadonlyMap<Leaf, Fraction>;
  readonly constant: Fraction;
}

function endOf({ terms, constant }: Sum, end: 'low' | 'high'): ClosedSum {
  const other = end === 'low' ? 'high' : 'low';
  const leaves = [...terms]
    .filter(([, factor]) => signOf(factor) !== 0)
    .map(([term, factor]): [Leaf, Fraction] => [
      'isKnown' in term ? term[signOf(factor) > 0 ? end : other] : term,
      factor,
    ]);
  return { terms: new Map(leaves), constant };
}

/**
 * A literal that holds if the sum is 0 or less, or below 0 if strict. Sums that differ only by a factor share
 * one literal.
 */
function inequalityLiteral(
  ctx: ProofContext,
  { terms, constant }: ClosedSum,
  isStrict: boolean,
): SolverLiteral {
  const sorted = [...terms].toSorted(([a], [b]) => (a.key < b.key ? -1 : 1));
  const first = sorted[0]?.[1];
  if (first === undefined) {
    const isSo = signOf(constant) < 0 || (!isStrict && signOf(constant) === 0);
    return isSo ? ctx.circuit.yes : ctx.circuit.no;
  }
  if (signOf(first) < 0) {
    const turned = {
      terms: new Map(sorted.map(([leaf, factor]) => [leaf, opposite(factor)])),
      constant: opposite(constant),
    };
    return notLiteral(inequalityLiteral(ctx, turned, !isStrict));
  }
  const reduced = sorted.map(([leaf, factor]): [string, Fraction] => [leaf.key, over(factor, first)]);
  const ownConstant = ctx.faults.has('sums-lack-their-constant') ? noFraction : over(constant, first);
  const inequality = { terms: new Map(reduced), constant: ownConstant, isStrict };
  const isWhole = sorted.every(([{ domain }]) => domain === 'integer');
  if (!isWhole) return literalOf(ctx, inequality);
  const { rounded, opposite: otherwise } = ofWholeNumbers(inequality);
  return literalOf(ctx, rounded, otherwise);
}

/** The same inequality and its opposite, each as narrow as whole numbers allow. */
function ofWholeNumbers(inequality: Inequality): {
  readonly rounded: Inequality;
  readonly opposite: Inequality;
} {
  const { terms, constant, isStrict } = inequality;
  const unit = sharedUnit([...terms.values()]);
  // How many units the sum of the terms is at most.
  const bound = over(opposite(constant), unit);
  const down = bound.top / bound.bottom - (bound.top % bound.bottom < 0n ? 1n : 0n);
  const most = isStrict && bound.bottom === 1n ? down - 1n : down;
  const atMost = (count: bigint): Fraction => multiplied({ top: -count, bottom: 1n }, unit);
  return {
    rounded: { terms, constant: atMost(most), isStrict: false },
    opposite: negatedInequality({ terms, constant: atMost(most + 1n), isStrict: false }),
  };
}

function termsKnown(ctx: ProofContext, { terms, assumptions: known }: Sum): readonly SolverLiteral[] {
  return [...[...terms.keys()].map((term) => isTermKnown(ctx, term)), ...known];
}

function isTermKnown(ctx: ProofContext, term: Leaf | MeterEnds): SolverLiteral {
  if ('isKnown' in term) return term.isKnown;
  const isKnown = ctx.circuit.free(true);
  ctx.afterCut.push(() => ctx.circuit.requireEqual(isKnown, hasValue(ctx, term)));
  return isKnown;
}

/** Literals that each hold if another currency equals the first. */
function sameCurrency(
  ctx: ProofContext,
  currencies: readonly Expression[],
  elements: Elements,
): readonly SolverLiteral[] {
  const distinct = [...new Map(currencies.map((one) => [expressionMeaning(one), one])).values()];
  const [first, ...others] = distinct;
  return others.map((other) => ctx.lower(comparisonCall('==', other, first!), elements).isTrue);
}

const noSum: Sum = { terms: new Map(), constant: noFraction, currencies: [], assumptions: [], reads: [] };

/** Null when the expression is no sum of numbers. */
function sumOf(ctx: ProofContext, expression: Expression, elements: Elements): Sum | null {
  const constant = constantOf(expression, ctx.set);
  if (constant !== null) return typeof constant === 'symbol' ? null : constantSum(constant, expression);
  switch (expression.kind) {
    case 'negate': {
      const operand = sumOf(ctx, expression.operand, elements);
      return operand === null ? null : scaled(operand, opposite(wholeFraction));
    }
    case 'arithmetic':
      return arithmeticSum(ctx, expression, elements);
    case 'meter': {
      const meter = ctx.set.meters.get(expression.meter);
      // A meter that is kept for each currency has the currency of the request.
      if (meter === undefined || (meter.currency !== null && typeof meter.currency !== 'string')) return null;
      const currency = meter.currency === null ? [] : [currencyNode(meter.currency, expression)];
      return { ...noSum, terms: new Map([[meterEnds(ctx, meter), wholeFraction]]), currencies: currency };
    }
    case 'field':
      return fieldSum(ctx, expression, elements);
    case 'quantify':
      return expression.quantifier === 'sum' && elements.size === 0
        ? listSum(ctx, expression, partsOf(ctx))
        : null;
    case 'call':
    case 'now': {
      const leaf = isDateCall(expression)
        ? dateLeaf(ctx, expression, elements)
        : leafOf(ctx, expression, elements);
      return leaf === null || !isNumber(leaf) ? null : { ...noSum, terms: new Map([[leaf, wholeFraction]]) };
    }
    default:
      return null;
  }
}

function partsOf(ctx: ProofContext): SumParts {
  return {
    sumOf: (part, elements) => sumOf(ctx, part, elements),
    isKnown: (sum) => termsKnown(ctx, sum),
    isExact: (side, reads) => exactLiteral(ctx, { side, leaves: reads, elements: new Map() }),
    isAtMostZero: (terms, constant) => inequalityLiteral(ctx, { terms, constant }, false),
  };
}

function constantSum(value: Value, expression: Expression): Sum | null {
  if (typeof value !== 'object' || value === null) return null;
  if ('currency' in value) {
    const { amount, currency } = value as Money;
    const currencies = currency === null ? [] : [currencyNode(currency, expression)];
    return { ...noSum, constant: fractionOf(amount), currencies };
  }
  return 'coefficient' in value ? { ...noSum, constant: fractionOf(value as Decimal) } : null;
}

function currencyNode(currency: string, { span }: Expression): Expression {
  return literalNode(currency, { type: anyText, span });
}

function fieldSum(
  ctx: ProofContext,
  field: Extract<Expression, { readonly kind: 'field' }>,
  elements: Elements,
): Sum | null {
  const leaf = fieldLeaf(ctx, field, elements);
  if (leaf === null || !isNumber(leaf)) return null;
  const terms = new Map([[leaf, wholeFraction]]);
  if (field.type.kind !== 'money') return { ...noSum, terms };
  const location = locationOfField(ctx, field, elements);
  const at = location === null ? null : currencyLocation(location.slot.type, field);
  const named = at === null ? null : locationOfField(ctx, { ...field, ...at }, elements);
  if (at === null || named === null) return null;
  const read: Expression = { ...field, ...at, type: named.slot.type };
  return { ...noSum, terms, currencies: [read] };
}

function isNumber({ domain }: Leaf): boolean {
  return domain === 'number' || domain === 'integer' || domain === 'time';
}

const daySeconds = fractionOf(fromNumber(86_400));

function arithmeticSum(
  ctx: ProofContext,
  expression: Extract<Expression, { readonly kind: 'arithmetic' }>,
  elements: Elements,
): Sum | null {
  const { operator, left, right } = expression;
  if (operator === '/') {
    const dividend = sumOf(ctx, left, elements);
    const by = isShortProduct(ctx, expression, elements) ? inverseOf(constantOf(right, ctx.set)) : null;
    return dividend === null || by === null ? null : scaled(dividend, fractionOf(by));
  }
  const [a, b] = [sumOf(ctx, left, elements), sumOf(ctx, right, elements)];
  if (a === null || b === null) return null;
  if (operator === '*') {
    const [plain, factor] = a.terms.size === 0 ? [b, a] : [a, b];
    return factor.terms.size > 0
      ? null
      : scaled(added(plain, { ...factor, constant: noFraction }), factor.constant);
  }
  const sum = added(a, operator === '-' ? scaled(b, opposite(wholeFraction)) : b);
  // Dates count days; the difference of two dates is a duration, which counts seconds.
  return left.type.kind === 'date' ? scaled(sum, daySeconds) : sum;
}

function added(a: Sum, b: Sum): Sum {
  const terms = new Map(a.terms);
  for (const [leaf, factor] of b.terms) terms.set(leaf, plus(terms.get(leaf) ?? noFraction, factor));
  return {
    terms,
    constant: plus(a.constant, b.constant),
    currencies: [...a.currencies, ...b.currencies],
    assumptions: [...a.assumptions, ...b.assumptions],
    reads: [...a.reads, ...b.reads],
  };
}

function scaled({ terms, constant, ...others }: Sum, by: Fraction): Sum {
  const all = [...terms].map(([leaf, factor]): [Leaf | MeterEnds, Fraction] => [
    leaf,
    multiplied(factor, by),
  ]);
  return { ...others, terms: new Map(all), constant: multiplied(constant, by) };
}

interface Side {
  readonly side: Expression;
  readonly sum: Sum;
}

/** A literal that holds if calculating the side has an exact answer. */
function isExact(ctx: ProofContext, { side, sum }: Side, elements: Elements): SolverLiteral {
  if (!hasArithmetic(side) || constantOf(side, ctx.set) !== null) return ctx.circuit.yes;
  const leaves = sum.reads.length > 0 ? sum.reads : [...endOf(sum, 'low').terms.keys()];
  return exactLiteral(ctx, { side, leaves, elements });
}

function hasArithmetic(expression: Expression): boolean {
  return expression.kind === 'arithmetic';
}
