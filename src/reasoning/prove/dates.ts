// Dates that are calculated: the local date of an instant, and a date some months later. Each is a number of
// its own in sums. What ties it to its instant or date is linear and leaves some days of room, so proofs
// remain valid; a model's numbers are then made to agree exactly, as far as they can.

import type { Call, Expression } from '../../language/model/expression.ts';
import { monthsLater } from '../../language/value/calendar.ts';
import { type Decimal, fromNumber, toNumber } from '../../language/value/decimal.ts';
import { dateInZone, secondsPerDay } from '../../language/value/time.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import { isLine, isValue, isWhere, type Leaf } from '../cells/leaf.ts';
import { coveredDays, noonOf, offsetsOf } from '../cells/times.ts';
import { fraction, fractionOf, opposite, wholeFraction } from '../linear/fraction.ts';
import { negatedLiteral, type Pair } from '../solver/circuit.ts';
import { notLiteral } from '../solver/literal.ts';
import type { Elements, ProofContext } from './context.ts';
import { addLeaf, hasValue, leafOf, plainLeaf, usualDate } from './leaves.ts';
import { literalOf } from './meters.ts';
import { type Comparison, comparisonCall, literalNode } from './rewrite.ts';

/** Null when the call is no date, or reads more than a leaf and constants. */
export function dateLeaf(ctx: ProofContext, call: Call, elements: Elements): Leaf | null {
  if (call.builtin === 'months_later') return monthsLeaf(ctx, call, elements);
  if (call.builtin !== 'today' && call.builtin !== 'date') return null;
  const base = call.builtin === 'today' ? leafOf(ctx, call, elements) : leafOf(ctx, call.args[0]!, elements);
  const zone = constantOf(call.args.at(-1)!, ctx.set);
  if (base?.domain !== 'time' || typeof zone !== 'string') return null;
  const key = `date(${base.key}, ${zone})`;
  return ctx.leaves.get(key) ?? addLeaf(ctx, localDate(ctx, { key, base, zone }));
}

interface LocalDate {
  readonly key: string;
  readonly base: Leaf;
  readonly zone: string;
}

function localDate(ctx: ProofContext, { key, base, zone }: LocalDate): Leaf {
  const isNow = base.key === 'now';
  const plain = { ...plainLeaf(ctx, key, 'integer'), usual: usualDate };
  const leaf: Leaf = isNow
    ? {
        ...plain,
        marks: [...coveredDays(base)].map(fromNumber),
        fits: (value) => isOfDays(base, value as Decimal),
      }
    : { ...plain, states: { ...plain.states, unknown: true } };
  if (isNow) ctx.beforeCut.push(orderDates(ctx, leaf, zone));
  ctx.dates.push({ leaf, base, zone, calculate: (instant) => dateInZone(instant, zone) });
  ctx.beforeCut.push(() => tieConditions(leaf, { base, zone }));
  ctx.beforeCut.push(() => tieInstant(ctx, leaf, base));
  if (!isNow)
    ctx.afterCut.push(() => ctx.circuit.require([notLiteral(hasValue(ctx, leaf)), hasValue(ctx, base)]));
  return leaf;
}

/** The local dates of one time differ by at most a day, and a zone whose clocks are ahead is never behind. */
function orderDates(ctx: ProofContext, leaf: Leaf, zone: string): () => void {
  const others = ctx.dates.filter((one) => one.base.key === 'now' && one.zone !== null);
  return () => {
    for (const other of others) {
      const [own, its] = [offsetsOf(zone), offsetsOf(other.zone!)];
      if (Math.max(own.most - its.least, its.most - own.least) >= secondsPerDay) continue;
      atMostBeside(ctx, [leaf, other.leaf], own.most <= its.least ? 0 : 1);
      atMostBeside(ctx, [other.leaf, leaf], its.most <= own.least ? 0 : 1);
    }
  };
}

/** Requires the first number to be at most so many days above the second. */
function atMostBeside(ctx: ProofContext, [first, second]: readonly [Leaf, Leaf], days: number): void {
  const terms = new Map([
    [first.key, wholeFraction],
    [second.key, opposite(wholeFraction)],
  ]);
  ctx.circuit.require([literalOf(ctx, { terms, constant: fractionOf(fromNumber(-days)), isStrict: false })]);
}

function isOfDays(now: Leaf, value: Decimal): boolean {
  const [first, last] = coveredDays(now);
  return first <= toNumber(value) && toNumber(value) <= last;
}

/** A condition on the same local date that reads nothing else is a condition on this number. */
function tieConditions(leaf: Leaf, { base, zone }: Pick<LocalDate, 'base' | 'zone'>): void {
  for (const atom of base.atoms) {
    const { understood, text } = atom;
    if (understood.kind !== 'local-date' || understood.zone !== zone || leaf.atomsByText.has(text)) continue;
    const condition: Leaf['atoms'][number] = {
      ...atom,
      understood: { kind: 'values', values: understood.days, otherwise: false },
      truthAt: (day) => atom.truthAt(isValue(day) ? noonOf(day as Decimal, zone) : day),
    };
    leaf.atoms.push(condition);
    leaf.atomsByText.set(text, condition);
  }
}

/** An instant lies on its local date by the clock of Greenwich, or at most a day beside it. */
function tieInstant(ctx: ProofContext, leaf: Leaf, base: Leaf): void {
  if (!isLine(base)) return;
  const terms = new Map([
    [leaf.key, wholeFraction],
    [base.key, fraction(-1n, BigInt(secondsPerDay))],
  ]);
  const isAtMost = literalOf(ctx, { terms, constant: fractionOf(fromNumber(-1)), isStrict: true });
  const isBelow = literalOf(ctx, { terms, constant: fractionOf(fromNumber(2)), isStrict: false });
  ctx.circuit.require([isAtMost]);
  ctx.circuit.require([notLiteral(isBelow)]);
}

function monthsLeaf(ctx: ProofContext, call: Call, elements: Elements): Leaf | null {
  const months = monthsOf(ctx, call);
  const read = call.args[0]!;
  const base = read.kind === 'call' ? dateLeaf(ctx, read, elements) : leafOf(ctx, read, elements);
  if (months === null || base?.domain !== 'integer') return null;
  const key = `months(${base.key}, ${months})`;
  const cached = ctx.leaves.get(key);
  if (cached !== undefined) return cached;
  const plain = plainLeaf(ctx, key, 'integer');
  const leaf = addLeaf(ctx, { ...plain, states: { ...plain.states, unknown: true } });
  const later = (day: Decimal): Decimal | null => laterDay(toNumber(day), months);
  ctx.dates.push({ leaf, base, zone: null, calculate: later });
  const [first, last] = daysWith(months);
  base.marks.push(fromNumber(months < 0 ? first : last));
  ctx.beforeCut.push(() => {
    const terms = new Map([
      [leaf.key, wholeFraction],
      [base.key, opposite(wholeFraction)],
    ]);
    const [least, most] = ctx.faults.has('months-have-no-days') ? [0, 0] : daysIn(months);
    const isAtMost = literalOf(ctx, { terms, constant: fractionOf(fromNumber(-most)), isStrict: false });
    const isBelow = literalOf(ctx, { terms, constant: fractionOf(fromNumber(-least)), isStrict: true });
    ctx.circuit.require([isAtMost]);
    ctx.circuit.require([notLiteral(isBelow)]);
  });
  ctx.afterCut.push(() => {
    const isThere = isWhere(
      base,
      ({ value }) =>
        isValue(value) && first <= toNumber(value as Decimal) && toNumber(value as Decimal) <= last,
      ctx.circuit,
    );
    ctx.circuit.requireEqual(hasValue(ctx, leaf), isThere);
  });
  return leaf;
}

function monthsOf({ set }: ProofContext, { args }: Call): number | null {
  const months = args[1] === undefined ? null : constantOf(args[1], set);
  return typeof months === 'object' && months !== null && 'coefficient' in months
    ? toNumber(months as Decimal)
    : null;
}

function laterDay(day: number, months: number): Decimal | null {
  const later = monthsLater(day, months);
  return later === null ? null : fromNumber(later);
}

const firstDay = Date.UTC(2000, 0, 1) / 86_400_000 - 730_119;
const lastDay = Date.UTC(9999, 11, 31) / 86_400_000;

/** The first and the last day of the calendar whose date so many months later lies in it. */
function daysWith(months: number): readonly [number, number] {
  const isThere = (day: number): boolean => monthsLater(day, months) !== null;
  if (months >= 0) return [firstDay, firstWith(firstDay, lastDay + 1, (day) => !isThere(day)) - 1];
  return [firstWith(firstDay, lastDay + 1, isThere), lastDay];
}

/** The first day from `low` on for which the test holds, as it does for all later days; else `high`. */
function firstWith(low: number, high: number, holds: (day: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

const spans = new Map<number, readonly [number, number]>();

/** The fewest and the most days that so many months have, over the 400 years after which the calendar repeats. */
function daysIn(months: number): readonly [number, number] {
  const cached = spans.get(months);
  if (cached !== undefined) return cached;
  const from = Date.UTC(months < 0 ? 5000 : 2000, 0, 1) / 86_400_000;
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let day = from; day < from + 146_097; day += 1) {
    const days = (monthsLater(day, months) ?? day) - day;
    [least, most] = [Math.min(least, days), Math.max(most, days)];
  }
  spans.set(months, [least, most]);
  return [least, most];
}

/** A date some months later, compared with a constant: the date itself, compared with other constants. */
export function monthsAtom(
  ctx: ProofContext,
  call: Call,
  { operator, constant, elements }: Comparison,
): Pair | null {
  const months = monthsOf(ctx, call);
  if (months === null || typeof constant !== 'object' || constant === null || !('coefficient' in constant))
    return null;
  const [first, last] = daysWith(months);
  const day = call.args[0]!;
  const is = (operator: Comparison['operator'], value: number): Pair =>
    ctx.lower(comparisonCall(operator, day, literalNode(fromNumber(value), day)), elements);
  const reaches = (end: number): Pair =>
    is(
      '>=',
      firstWith(first, last + 1, (one) => monthsLater(one, months)! >= end),
    );
  const date = toNumber(constant as Decimal);
  // No date lies before the calendar or after it.
  const isKnown = (months < 0 ? is('>=', first) : is('<=', last)).isTrue;
  const isSame = (): Pair => ctx.circuit.every([reaches(date), negatedLiteral(reaches(date + 1))]);
  const pairs: Record<Comparison['operator'], () => Pair> = {
    '>=': () => reaches(date),
    '>': () => reaches(date + 1),
    '<': () => negatedLiteral(reaches(date)),
    '<=': () => negatedLiteral(reaches(date + 1)),
    '==': isSame,
    '!=': () => negatedLiteral(isSame()),
  };
  return ctx.circuit.onlyIf(isKnown, pairs[operator]());
}

/** Whether the expression is a calculated date. */
export function isDateCall(expression: Expression): expression is Call {
  return expression.kind === 'call' && expression.type.kind === 'date';
}
