// Compares a meter's reading with a constant. A reading has two ends: the lower leaves out what is pending,
// the upper includes it. Both ends include the request itself, so if the added amounts are never negative,
// neither end is below the request's own share.

import type { Expression, FieldRead, MeterRead } from '../../language/model/expression.ts';
import type { Meter } from '../../language/model/policy.ts';
import { quantity } from '../../language/model/type.ts';
import type { Money, Value } from '../../language/model/value.ts';
import { compare, type Decimal, fromNumber, zero } from '../../language/value/decimal.ts';
import { isWhere, keyOf, type Leaf, marksOf } from '../cells/leaf.ts';
import { countsWithin } from '../cells/windows.ts';
import { noFraction, opposite, wholeFraction } from '../linear/fraction.ts';
import { type Inequality, oppositeOf } from '../linear/inequality.ts';
import { negatedLiteral, type Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { type MeterEnds, noElements, type ProofContext } from './context.ts';
import { addAtom } from './leaf-atom.ts';
import { addLeaf, fieldLeaf, hasValue, locationOfField, plainLeaf } from './leaves.ts';
import { currencyIs } from './money.ts';
import { type Comparison, comparisonCall, literalNode, placeholderRead } from './rewrite.ts';

export function meterAtom(
  ctx: ProofContext,
  read: MeterRead & Expression,
  { operator, constant }: Comparison,
): Pair | null {
  const meter = ctx.set.meters.get(read.meter);
  const amount = amountOf(constant);
  if (meter === undefined || amount === null) return null;
  const currency =
    typeof constant === 'object' && constant !== null && 'currency' in constant
      ? (constant as Money).currency
      : null;
  const isOne = meter.currency === null || typeof meter.currency === 'string';
  if (isOne && currency !== null && meter.currency !== null && currency !== meter.currency)
    return ctx.circuit.unknown;
  const same = isOne ? null : inCurrency(ctx, meter.currency as FieldRead & Expression, currency);
  if (!isOne && same === null) return null;
  const ends = meterEnds(ctx, meter);
  const is = (leaf: Leaf, operator: Comparison['operator']): SolverLiteral =>
    endIs(ctx, leaf, { operator, amount, read });
  const isKnown = same === null ? ends.isKnown : ctx.circuit.and([ends.isKnown, same.isTrue]);
  return ctx.circuit.onlyIf(isKnown, comparedEnds(ctx, operator, { ...ends, is }));
}

/** Whether the meter's currency is the given one. */
function inCurrency(ctx: ProofContext, read: FieldRead & Expression, currency: string | null): Pair | null {
  if (currency === null) return null;
  return ctx.lower(comparisonCall('==', read, literalNode(currency, read)), noElements);
}

function amountOf(constant: Value): Decimal | null {
  if (typeof constant !== 'object' || constant === null) return null;
  if ('currency' in constant) return (constant as Money).amount;
  return 'coefficient' in constant ? (constant as Decimal) : null;
}

interface End {
  readonly operator: Comparison['operator'];
  readonly amount: Decimal;
  readonly read: Expression;
}

function endIs(ctx: ProofContext, leaf: Leaf, { operator, amount, read }: End): SolverLiteral {
  const number = { type: quantity('number'), span: read.span };
  const end = placeholderRead(number);
  return addAtom(ctx, leaf, comparisonCall(operator, end, literalNode(amount, number))).isTrue;
}

type Ends = MeterEnds & { readonly is: (leaf: Leaf, wanted: Comparison['operator']) => SolverLiteral };

/** Compares two ends in the way in which the definition compares intervals. */
function comparedEnds(
  { circuit }: ProofContext,
  operator: Comparison['operator'],
  { low, high, is }: Ends,
): Pair {
  switch (operator) {
    case '<':
      return { isTrue: is(high, '<'), isFalse: is(low, '>=') };
    case '<=':
      return { isTrue: is(high, '<='), isFalse: is(low, '>') };
    case '>':
      return { isTrue: is(low, '>'), isFalse: is(high, '<=') };
    case '>=':
      return { isTrue: is(low, '>='), isFalse: is(high, '<') };
    case '==':
      return {
        isTrue: circuit.and([is(low, '=='), is(high, '==')]),
        isFalse: circuit.or([is(high, '<'), is(low, '>')]),
      };
    case '!=':
      return negatedLiteral({
        isTrue: circuit.and([is(low, '=='), is(high, '==')]),
        isFalse: circuit.or([is(high, '<'), is(low, '>')]),
      });
  }
}

export function meterEnds(ctx: ProofContext, meter: Meter): MeterEnds {
  const cached = ctx.meters.get(meter.name);
  if (cached !== undefined) return cached;
  const isNeverNegative = meter.aggregate !== 'sum' || addsNoNegatives(ctx, meter);
  const end = (name: string): Leaf =>
    addLeaf(ctx, {
      ...plainLeaf(ctx, `meters.${meter.name} ${name}`, meter.aggregate === 'sum' ? 'number' : 'integer'),
      fits: (value) => !isNeverNegative || compare(zero, value as Decimal) <= 0,
      marks: [zero, fromNumber(1)],
    });
  const ends: MeterEnds = {
    name: meter.name,
    isKnown: ctx.circuit.free(true),
    low: end('low'),
    high: end('high'),
  };
  ctx.meters.set(meter.name, ends);
  tieEnds(ctx, ends.low, ends.high);
  if (isNeverNegative) tieWindows(ctx, meter);
  if (ctx.faults.has('readings-lack-others'))
    ctx.afterCut.push(() =>
      ctx.circuit.require([notLiteral(isFrom(ctx, ends.low, { mark: zero, isOpen: true }))]),
    );
  const countsItself = meter.actions.includes(ctx.action.key) && !meter.readsResult;
  if (isNeverNegative && countsItself) tieShare(ctx, meter, ends);
  return ends;
}

/** Whether every counted action declares the added amount to be 0 or more. */
function addsNoNegatives({ set }: ProofContext, { argument, actions }: Meter): boolean {
  if (argument?.kind !== 'field' || argument.root !== 'payload') return false;
  return actions.every((key) => {
    let [shape, isAtLeastZero] = [set.actions.get(key)?.shape ?? null, false];
    for (const step of argument.steps) {
      const type = shape?.fields.find(({ name }) => name === step)?.type;
      shape = type?.kind === 'record' ? type.shape : null;
      const low = type !== undefined && 'range' in type ? type.range.low : null;
      isAtLeastZero = low !== null && compare(zero, low) <= 0;
    }
    return isAtLeastZero;
  });
}

/** The lower end is at most the upper end. */
function tieEnds(ctx: ProofContext, low: Leaf, high: Leaf): void {
  shareMarks(ctx, [low, high]);
  ctx.afterCut.push(() => requireAtMost(ctx, ctx.circuit.yes, [low, high]));
  orderSums(ctx, ctx.circuit.yes, [low, high]);
}

function shareMarks(ctx: ProofContext, leaves: readonly Leaf[]): void {
  ctx.beforeCut.push(() => {
    const marks = new Map(leaves.flatMap((leaf) => marksOf(leaf)).map((mark) => [keyOf(mark), mark]));
    for (const leaf of leaves) leaf.marks.splice(0, leaf.marks.length, ...marks.values());
  });
}

/**
 * Ties meters that are alike but for windows and actions: if one meter counts everything that another counts,
 * its reading is not below the other's.
 */
function tieWindows(ctx: ProofContext, meter: Meter): void {
  for (const name of ctx.meters.keys()) {
    const other = ctx.set.meters.get(name)!;
    if (other === meter) continue;
    if (countsWithin(meter, other)) tieWindow(ctx, meter.name, other.name);
    else if (countsWithin(other, meter)) tieWindow(ctx, other.name, meter.name);
  }
}

function tieWindow(ctx: ProofContext, inner: string, outer: string): void {
  const isTurned = ctx.faults.has('windows-are-turned-around');
  const small = ctx.meters.get(isTurned ? outer : inner)!;
  const large = ctx.meters.get(isTurned ? inner : outer)!;
  const bothKnown = ctx.circuit.and([small.isKnown, large.isKnown]);
  for (const end of ['low', 'high'] as const) {
    shareMarks(ctx, [small[end], large[end]]);
    ctx.afterCut.push(() => requireAtMost(ctx, bothKnown, [small[end], large[end]]));
    orderSums(ctx, bothKnown, [small[end], large[end]]);
  }
}

/** Requires `small` to be at most `large` in the inequalities of sums, too, if a sum reads one of them. */
function orderSums(ctx: ProofContext, condition: SolverLiteral, [small, large]: readonly [Leaf, Leaf]): void {
  ctx.beforeCut.push(() => {
    const isRead = [...ctx.sums.values()].some(
      ({ inequality: { terms } }) => terms.has(small.key) || terms.has(large.key),
    );
    if (!isRead) return;
    const terms = new Map([
      [small.key, wholeFraction],
      [large.key, opposite(wholeFraction)],
    ]);
    const isInOrder = literalOf(ctx, { terms, constant: noFraction, isStrict: false });
    ctx.circuit.require([notLiteral(condition), isInOrder]);
  });
}

/**
 * If the condition holds, the first number is at most the second. Both leaves must be cut at the same marks.
 */
function requireAtMost(
  ctx: ProofContext,
  condition: SolverLiteral,
  [small, large]: readonly [Leaf, Leaf],
): void {
  for (const mark of marksOf(small)) {
    for (const isOpen of [false, true]) {
      const from = { mark, isOpen };
      ctx.circuit.require([
        notLiteral(condition),
        notLiteral(isFrom(ctx, small, from)),
        isFrom(ctx, large, from),
      ]);
    }
  }
}

interface LowerEnd {
  readonly mark: Decimal;
  /** Whether the number lies above the mark, not at it. */
  readonly isOpen: boolean;
}

function isFrom({ circuit }: ProofContext, leaf: Leaf, { mark, isOpen }: LowerEnd): SolverLiteral {
  const least = isOpen ? 1 : 0;
  return isWhere(
    leaf,
    ({ value }) =>
      typeof value === 'object' &&
      value !== null &&
      'coefficient' in value &&
      compare(value as Decimal, mark) >= least,
    circuit,
  );
}

/** Ties a meter's reading to the share of the request that the meter counts. */
function tieShare(ctx: ProofContext, meter: Meter, ends: MeterEnds): void {
  const { circuit } = ctx;
  const counts = meter.when === null ? circuit.always : ctx.lower(meter.when, noElements);
  const mayCount = circuit.and([ends.isKnown, notLiteral(counts.isFalse)]);
  const doesCount = circuit.and([ends.isKnown, counts.isTrue]);
  if (meter.aggregate !== 'sum') {
    const first = { mark: fromNumber(1), isOpen: false };
    ctx.afterCut.push(() => {
      circuit.require([notLiteral(doesCount), isFrom(ctx, ends.low, first)]);
      circuit.require([notLiteral(mayCount), isFrom(ctx, ends.high, first)]);
    });
    return;
  }
  tieAmount(ctx, { meter, ends, mayCount, doesCount });
}

interface Share {
  readonly meter: Meter;
  readonly ends: MeterEnds;
  readonly mayCount: SolverLiteral;
  readonly doesCount: SolverLiteral;
}

function tieAmount(ctx: ProofContext, { meter, ends, mayCount, doesCount }: Share): void {
  const argument = meter.argument as FieldRead & Expression;
  const amount = fieldLeaf(ctx, argument, noElements);
  if (amount === null) return;
  const isOfCurrency = currencyOf(ctx, meter, argument);
  shareMarks(ctx, [ends.low, ends.high, amount]);
  orderSums(ctx, doesCount, [amount, ends.low]);
  orderSums(ctx, mayCount, [amount, ends.high]);
  ctx.afterCut.push(() => {
    // A reading is known only if the added amount is known and has the meter's currency.
    ctx.circuit.require([notLiteral(mayCount), hasValue(ctx, amount)]);
    if (isOfCurrency !== null) ctx.circuit.require([notLiteral(mayCount), isOfCurrency.isTrue]);
    requireAtMost(ctx, doesCount, [amount, ends.low]);
    requireAtMost(ctx, mayCount, [amount, ends.high]);
  });
}

function currencyOf(ctx: ProofContext, { currency }: Meter, field: FieldRead & Expression): Pair | null {
  if (typeof currency !== 'string' || locationOfField(ctx, field, noElements)?.slot.type.kind !== 'money')
    return null;
  return currencyIs(ctx, { field, currency, elements: noElements });
}

/** The inequality's literal; the inequality's first factor must be 1. */
export function literalOf(
  ctx: ProofContext,
  inequality: Inequality,
  otherwise = oppositeOf(inequality),
): SolverLiteral {
  const { terms, constant, isStrict } = inequality;
  const key = [...terms, ['', constant] as const].map(
    ([name, { top, bottom }]) => `${name} ${top}/${bottom}`,
  );
  const text = `${key.join(' + ')} ${isStrict ? '<' : '<='} 0`;
  const cached = ctx.sums.get(text);
  if (cached !== undefined) return cached.literal;
  const literal = ctx.circuit.free();
  ctx.sums.set(text, { literal, inequality, opposite: otherwise });
  return literal;
}
