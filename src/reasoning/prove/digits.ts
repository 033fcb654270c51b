// Whether a calculation has an exact answer: sums and products of more than 34 digits are unknown. Payload
// numbers have at most 17 digits. So a product with one payload number has few digits, and so does a sum when
// none of its numbers is very large or very small.

import type { Expression, Quantify } from '../../language/model/expression.ts';
import type { Type } from '../../language/model/type.ts';
import type { UnknownValue, Value } from '../../language/model/value.ts';
import {
  absolute,
  compare,
  type Decimal,
  digitsMax,
  divide,
  fromNumber,
  isInteger,
  multiply,
  negate,
  zero,
} from '../../language/value/decimal.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import { isValue, isWhere, type Leaf } from '../cells/leaf.ts';
import type { SolverLiteral } from '../solver/literal.ts';
import { longestOf } from './bounds.ts';
import type { Elements, ProofContext } from './context.ts';
import { isDateCall } from './dates.ts';
import { fieldLeaf, locationOfField } from './leaves.ts';
import { elementPlaces } from './quantifiers.ts';
import { expressionMeaning } from './rewrite.ts';

interface DigitSum {
  readonly side: Expression;
  readonly leaves: readonly Leaf[];
  readonly elements: Elements;
}

/**
 * A literal that holds if the calculation is exact: constantly true when the digits are few, free when they
 * may be too many.
 */
export function exactLiteral(ctx: ProofContext, { side, leaves, elements }: DigitSum): SolverLiteral {
  if (isShort(ctx, side, elements) || isShortProduct(ctx, side, elements)) return ctx.circuit.yes;
  const keys = [...elements.values()].map((one) => (one.kind === 'slot' ? one.key : ''));
  const key = `digits ${keys.join()} ${expressionMeaning(side)}`;
  const cached = ctx.bounds.get(key);
  if (cached !== undefined) return cached.literal;
  const literal = ctx.circuit.free(true);
  ctx.bounds.set(key, { span: side.span, literal, why: 'many digits', leaves });
  const added = commonlyAdded(ctx, side, elements);
  if (added !== null) holdOfCommon(ctx, literal, added);
  return literal;
}

const termsMax = 6;
const smallMax = fromNumber(1e12);
const smallMin = fromNumber(-1e12);

/**
 * Whether the side is a sum of few dates, times and small whole numbers with declared ends, which is far from
 * too many digits.
 */
function isShort(ctx: ProofContext, side: Expression, elements: Elements): boolean {
  let terms = 0;
  const visit = (part: Expression): boolean => {
    terms += 1;
    const constant = constantOf(part, ctx.set);
    if (constant !== null)
      return typeof constant === 'object' && 'coefficient' in constant && isSmall(constant as Decimal);
    if (part.kind === 'arithmetic') return part.operator !== '/' && visit(part.left) && visit(part.right);
    if (part.kind === 'negate') return visit(part.operand);
    if (part.kind === 'now') return true;
    if (part.kind === 'call') return part.builtin === 'length' || isDateCall(part);
    if (part.kind === 'quantify') return isShortOfAll(ctx, part);
    const type = part.kind === 'field' ? locationOfField(ctx, part, elements)?.slot.type : undefined;
    if (type?.kind === 'date' || type?.kind === 'timestamp' || type?.kind === 'datetime') return true;
    if (type?.kind !== 'integer' || type.range.low === null || type.range.high === null) return false;
    return isSmall(type.range.low) && isSmall(type.range.high);
  };
  return visit(side) && terms <= 2 * termsMax && !multipliesTimes(side);
}

const elementsMax = 1_000_000;

/** Whether the list has few enough elements, each short by itself. */
function isShortOfAll(ctx: ProofContext, { sources, variable, body }: Quantify): boolean {
  const [first] = elementPlaces(ctx, sources, new Map())?.keys ?? [];
  const longest = sources.reduce((total, source) => total + longestOf(source), 0);
  return (
    first !== undefined && longest <= elementsMax && isShort(ctx, body, new Map([[variable, first.element]]))
  );
}

function isSmall(value: Decimal): boolean {
  return value.exponent >= -6 && compare(smallMin, value) <= 0 && compare(value, smallMax) <= 0;
}

/** A product does not count as short, because fractions of seconds have many digits already. */
function multipliesTimes(side: Expression): boolean {
  if (side.kind !== 'arithmetic') return false;
  return side.operator === '*' || multipliesTimes(side.left) || multipliesTimes(side.right);
}

// ---- numbers of a payload, which have at most 17 digits in JSON

const payloadDigitsMax = 17;

/**
 * Whether a product of a payload number and constants has at most 34 digits. A quotient counts as a product
 * if the divisor has an exact inverse.
 */
export function isShortProduct(ctx: ProofContext, side: Expression, elements: Elements): boolean {
  const digits = (part: Expression): number => {
    const constant = constantOf(part, ctx.set);
    if (constant !== null) return digitsOf(amountOf(constant));
    if (part.kind === 'negate') return digits(part.operand);
    if (part.kind === 'arithmetic' && part.operator === '*') return digits(part.left) + digits(part.right);
    if (part.kind === 'arithmetic' && part.operator === '/')
      return digits(part.left) + digitsOf(inverseOf(constantOf(part.right, ctx.set)));
    return isNumber(typeAt(ctx, part, elements)) ? payloadDigitsMax : Number.POSITIVE_INFINITY;
  };
  return digits(side) <= digitsMax;
}

function digitsOf(amount: Decimal | null): number {
  return amount === null ? Number.POSITIVE_INFINITY : String(amount.coefficient).length;
}

/**
 * 1 divided by `divisor`; null when that is inexact, or when the divisor is no number or is an amount of
 * money.
 */
export function inverseOf(divisor: Value | UnknownValue | null): Decimal | null {
  if (typeof divisor !== 'object' || divisor === null || !('coefficient' in divisor)) return null;
  const number = divisor as Decimal;
  const inverse = divide(one, number);
  return inverse !== null && multiply(inverse, number)?.coefficient === 1n ? inverse : null;
}

const one = fromNumber(1);

function amountOf(constant: Value | UnknownValue): Decimal | null {
  if (typeof constant !== 'object' || constant === null) return null;
  if ('amount' in constant) return constant.amount as Decimal;
  return 'coefficient' in constant ? (constant as Decimal) : null;
}

function typeAt(ctx: ProofContext, part: Expression, elements: Elements): Type | undefined {
  return part.kind === 'field' ? locationOfField(ctx, part, elements)?.slot.type : undefined;
}

function isNumber(type: Type | undefined): boolean {
  return type?.kind === 'number' || type?.kind === 'integer' || type?.kind === 'money';
}

const factorMax = fromNumber(100);
const commonMin = fromNumber(0.01);

/**
 * The payload numbers of a sum that consists of few constants and of payload numbers, each as it is or
 * multiplied by a small whole number. Null for other sums. If no number is above 1e12, or below 0.01 without
 * being 0, the sum has fewer than 15 digits before the point and 18 behind it.
 */
function commonlyAdded(ctx: ProofContext, side: Expression, elements: Elements): readonly Leaf[] | null {
  const leaves: Leaf[] = [];
  let terms = 0;
  const isFactor = (part: Expression): boolean => {
    const factor = amountOf(constantOf(part, ctx.set));
    return factor !== null && isInteger(factor) && compare(absolute(factor), factorMax) <= 0;
  };
  const isRead = (part: Expression): boolean => {
    const leaf =
      part.kind === 'field' && isNumber(typeAt(ctx, part, elements)) ? fieldLeaf(ctx, part, elements) : null;
    if (leaf !== null) leaves.push(leaf);
    return leaf !== null;
  };
  const visit = (part: Expression): boolean => {
    const constant = constantOf(part, ctx.set);
    const amount = amountOf(constant);
    if (amount === null && part.kind === 'arithmetic' && part.operator !== '*')
      return part.operator !== '/' && visit(part.left) && visit(part.right);
    terms += 1;
    if (constant !== null) return amount !== null && isSmall(amount);
    if (part.kind !== 'arithmetic') return isRead(part);
    const { left, right } = part;
    return (isFactor(left) && isRead(right)) || (isFactor(right) && isRead(left));
  };
  return visit(side) && terms <= termsMax ? leaves : null;
}

function holdOfCommon(ctx: ProofContext, literal: SolverLiteral, leaves: readonly Leaf[]): void {
  for (const leaf of leaves)
    leaf.marks.push(zero, ...[commonMin, smallMax].flatMap((end) => [end, negate(end)]));
  ctx.afterCut.push(() => {
    const isOdd = leaves.map((leaf) =>
      isWhere(leaf, ({ value }) => isValue(value) && !isCommon(leaf, value as Decimal), ctx.circuit),
    );
    ctx.circuit.require([literal, ...isOdd]);
  });
}

function isCommon({ domain }: Leaf, value: Decimal): boolean {
  const size = absolute(value);
  const isFine = domain === 'integer' || value.coefficient === 0n || compare(commonMin, size) <= 0;
  return isFine && compare(size, smallMax) <= 0;
}
