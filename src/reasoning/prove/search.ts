// Finds models whose numbers satisfy the comparisons of sums. The solver itself knows nothing of numbers: if
// the inequalities of a model cannot hold together, a clause that excludes them is added, with its
// derivation, and the solver goes on. INVARIANT: each such clause is a lemma that `followsFrom` can check
// from the inequalities of its literals alone.

import type { Decimal } from '../../language/value/decimal.ts';
import { add, compare, fromNumber, toNumber } from '../../language/value/decimal.ts';
import { secondsPerDay } from '../../language/value/time.ts';
import { cellPlaceOf } from '../cells/cut.ts';
import { isLine, isValue, type Leaf, marksOf } from '../cells/leaf.ts';
import {
  type Fraction,
  fractionOf,
  noFraction,
  opposite,
  plus,
  roundedDecimal,
  signOf,
  wholeFraction,
} from '../linear/fraction.ts';
import { type Inequality, type Lemma, type LemmaPart, negatedInequality } from '../linear/inequality.ts';
import { type Farkas, Simplex } from '../linear/simplex.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import type { ProofContext } from './context.ts';
import { cellOf, textTruth } from './text-choice.ts';

const lemmasMax = 500;

/**
 * Works like the solver's `solve`; after a "yes", `ctx.numbers` holds the model's numbers. Null also when too
 * many lemmas are needed.
 */
export function solveFor(
  ctx: ProofContext,
  assumptions: SolverClause,
  conflictsMax = Number.POSITIVE_INFINITY,
): boolean | null {
  const { solver } = ctx.circuit;
  return solvedWith(ctx, () => solver.solve(assumptions, conflictsMax));
}

/** Works like the solver's `solveNear`, with the model's numbers in `ctx.numbers`. */
export function solveNearFor(
  ctx: ProofContext,
  assumptions: SolverClause,
  conflictsMax = Number.POSITIVE_INFINITY,
): boolean | null {
  const { solver } = ctx.circuit;
  return solvedWith(ctx, () => solver.solveNear(assumptions, conflictsMax));
}

function solvedWith(ctx: ProofContext, solve: () => boolean | null): boolean | null {
  for (let round = 0; round < lemmasMax; round += 1) {
    const answer = solve();
    if (answer !== true || ctx.sums.size === 0) return answer;
    const lemma = lemmaOf(ctx);
    if (lemma === null) return true;
    ctx.lemmas.push(lemma);
    ctx.circuit.require(lemma.clause);
  }
  return null;
}

type Reason = Pick<LemmaPart, 'literal' | 'which'>;

/**
 * A lemma that excludes the model's inequalities. Null when they can hold together; the numbers are then
 * noted.
 */
function lemmaOf(ctx: ProofContext): Lemma | null {
  const first = numbersWith(ctx, noNumbers);
  if ('lemma' in first) return first.lemma;
  noteNumbers(ctx, first);
  return null;
}

/**
 * Makes calculated dates of the last model agree with what they are calculated from, as far as possible; for
 * a request of the model.
 */
export function agreeOnDates(ctx: ProofContext): void {
  if (ctx.dates.length === 0 || ctx.sums.size === 0) return;
  const first = numbersWith(ctx, noNumbers);
  if (!('lemma' in first)) noteNumbers(ctx, agreeing(ctx, first));
}

const noNumbers: ReadonlyMap<string, Decimal> = new Map();

/** The numbers of the model, or why there are none if these leaves have these numbers. */
function numbersWith(
  ctx: ProofContext,
  fixed: ReadonlyMap<string, Decimal>,
): NumbersOfModel | { readonly lemma: Lemma | null } {
  const leaves = leavesOfSums(ctx);
  const simplex = new Simplex<Reason>();
  const variables = new Map<string, number>();
  for (const leaf of leaves) variables.set(leaf.key, simplex.variable(startOf(ctx, leaf)));
  const holding = [...ctx.sums.values()].flatMap(({ literal, inequality, opposite: other }) => {
    const isThere = [...inequality.terms.keys()].every((key) => variables.has(key));
    const says = ctx.circuit.solver.holds(literal) ? literal : notLiteral(literal);
    return isThere ? [{ says, inequality: says === literal ? inequality : other }] : [];
  });
  const sums = sumVariables(simplex, variables, holding);
  const conflict =
    boundLeaves(ctx, simplex, { leaves, variables }) ??
    boundSums(simplex, sums, holding) ??
    fixNumbers(simplex, variables, fixed) ??
    simplex.solve();
  return conflict === null
    ? { numbers: simplex.numbers(), leaves, variables, fixed }
    : { lemma: fixed.size > 0 ? null : lemmaFrom(conflict) };
}

function fixNumbers(
  simplex: Simplex<Reason>,
  variables: ReadonlyMap<string, number>,
  fixed: ReadonlyMap<string, Decimal>,
): readonly Farkas<Reason>[] | null {
  for (const [key, value] of fixed) {
    const variable = variables.get(key);
    if (variable === undefined) continue;
    const bound = { number: fractionOf(value), isStrict: false, reason: { literal: 0, which: 0 } };
    const conflict =
      simplex.bound(variable, { ...bound, isUpper: true }) ??
      simplex.bound(variable, { ...bound, isUpper: false });
    if (conflict !== null) return conflict;
  }
  return null;
}

/** By how many days a date is moved if calculated dates do not agree with the model's comparisons. */
const daysTried = [0, 1, -1, 2, -2, 3, -3, 31, -31, 400, -400].map(fromNumber);

/** By how many quarters of an hour a time is moved: those of two days, then the hours of a week. */
const quartersTried = [
  ...Array.from({ length: 192 }, (_, at) => at),
  ...Array.from({ length: 192 }, (_, at) => -at),
  ...Array.from({ length: 168 }, (_, at) => 192 + 4 * at),
];

/** Numbers of the same model in which each calculated date is what it is calculated to; else the given ones. */
function agreeing(ctx: ProofContext, first: NumbersOfModel): NumbersOfModel {
  let best = first;
  for (const [base, dates] of Map.groupBy(ctx.dates, (one) => one.base)) {
    const agreed = dates.filter(({ leaf }) => isValue(cellOf(ctx, leaf).value));
    if (agreed.length === 0 || !isValue(cellOf(ctx, base).value)) continue;
    for (const value of candidatesFor(ctx, best, { base, dates: agreed })) {
      const numbers = agreed.map(
        ({ leaf, calculate }) => [leaf.key, calculate(value)] satisfies [string, Decimal | null],
      );
      if (numbers.some(([, number]) => number === null)) continue;
      const fixed = new Map([...best.fixed, [base.key, value], ...(numbers as [string, Decimal][])]);
      const made = numbersWith(ctx, fixed);
      if ('lemma' in made) continue;
      best = made;
      break;
    }
  }
  return best;
}

interface DatesOfBase {
  readonly base: Leaf;
  readonly dates: ProofContext['dates'];
}

/** Numbers for the base of calculated dates: the time as it is in the model or near it, or days near a date. */
function* candidatesFor(
  ctx: ProofContext,
  { fixed, ...model }: NumbersOfModel,
  { base, dates }: DatesOfBase,
): Generator<Decimal> {
  const fixedNumber = fixed.get(base.key);
  if (fixedNumber !== undefined) {
    yield fixedNumber;
    return;
  }
  const cell = cellOf(ctx, base).value as Decimal;
  const number = numberOf(model, base);
  if (base.domain !== 'time') {
    for (const days of daysTried) {
      const day = add(number ?? cell, days);
      if (day !== null) yield day;
    }
    return;
  }
  yield cell;
  const [first] = dates;
  const day = first === undefined ? null : numberOf(model, first.leaf);
  const start =
    number !== null && isLine(base)
      ? number
      : day === null
        ? cell
        : fromNumber((toNumber(day) + 0.5) * secondsPerDay);
  const isAsInModel = (value: Decimal): boolean =>
    base.fits(value) && base.atoms.every(({ truthAt, pair }) => truthAt(value) === textTruth(ctx, pair));
  for (const quarters of quartersTried) {
    const value = add(start, fromNumber(quarters * 900));
    if (value !== null && isAsInModel(value)) yield value;
  }
}

function lemmaFrom(conflict: readonly Farkas<Reason>[]): Lemma {
  const parts = conflict.map(({ reason, multiplier }) => ({ ...reason, multiplier }));
  return { clause: [...new Set(parts.map(({ literal }) => notLiteral(literal)))], parts };
}

/** The leaves of sums that have a value in the model. */
function leavesOfSums(ctx: ProofContext): readonly Leaf[] {
  const keys = new Set([...ctx.sums.values()].flatMap(({ inequality }) => [...inequality.terms.keys()]));
  return [...keys].map((key) => ctx.leaves.get(key)!).filter((leaf) => isValue(cellOf(ctx, leaf).value));
}

function startOf(ctx: ProofContext, leaf: Leaf): Fraction {
  return fractionOf(cellOf(ctx, leaf).value as Decimal);
}

interface ActiveInequality {
  readonly says: SolverLiteral;
  readonly inequality: Inequality;
}

/** By terms, a simplex variable for each sum of several leaves, or of a multiple of one leaf. */
function sumVariables(
  simplex: Simplex<Reason>,
  variables: ReadonlyMap<string, number>,
  holding: readonly ActiveInequality[],
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { inequality } of holding) {
    const { terms } = upright(inequality);
    const key = termsKey(terms);
    if (sums.has(key)) continue;
    const ownTerms = new Map([...terms].map(([name, factor]) => [variables.get(name)!, factor]));
    sums.set(key, simplex.sum(ownTerms));
  }
  return sums;
}

function termsKey(terms: Inequality['terms']): string {
  return [...terms].map(([name, { top, bottom }]) => `${name} ${top}/${bottom}`).join();
}

/**
 * The inequality with a first factor above 0, so that a sum has one form whether it is bounded above or
 * below.
 */
function upright({ terms, constant, isStrict }: Inequality): Inequality & { readonly isUpper: boolean } {
  const isUpper = signOf([...terms.values()][0]!) > 0;
  return isUpper
    ? { terms, constant, isStrict, isUpper }
    : { ...negatedInequality({ terms, constant, isStrict }), isUpper };
}

function boundSums(
  simplex: Simplex<Reason>,
  sums: ReadonlyMap<string, number>,
  holding: readonly ActiveInequality[],
): readonly Farkas<Reason>[] | null {
  for (const { says, inequality } of holding) {
    const { terms, constant, isStrict, isUpper } = upright(inequality);
    const reason = { literal: says, which: 0 };
    const bound = { isUpper, number: opposite(constant), isStrict, reason };
    const conflict = simplex.bound(sums.get(termsKey(terms))!, bound);
    if (conflict !== null) return conflict;
  }
  return null;
}

interface NumbersOfModel extends Numbers {
  readonly numbers: readonly Fraction[];
  /** Numbers that were given. */
  readonly fixed: ReadonlyMap<string, Decimal>;
}

interface Numbers {
  readonly leaves: readonly Leaf[];
  readonly variables: ReadonlyMap<string, number>;
}

/** Bounds each leaf by the ends of its cell. */
function boundLeaves(
  ctx: ProofContext,
  simplex: Simplex<Reason>,
  { leaves, variables }: Numbers,
): readonly Farkas<Reason>[] | null {
  for (const leaf of leaves) {
    const at = leaf.cells.indexOf(cellOf(ctx, leaf));
    for (const literal of [leaf.order[at]!, notLiteral(leaf.order[at + 1]!)]) {
      // Both ends of a range lie at the literal that is always true.
      for (const [which, { terms, constant, isStrict }] of inequalitiesOf(ctx, literal).entries()) {
        const factor = terms.get(leaf.key);
        if (factor === undefined) continue;
        const isUpper = signOf(factor) > 0;
        const number = isUpper ? opposite(constant) : constant;
        const reason = { literal, which };
        const conflict = simplex.bound(variables.get(leaf.key)!, { isUpper, number, isStrict, reason });
        if (conflict !== null) return conflict;
      }
    }
  }
  return null;
}

/**
 * The inequalities that a literal means: a comparison of sums, or that a leaf lies in a cell or a later one,
 * or in an earlier one.
 */
export function inequalitiesOf(ctx: ProofContext, literal: SolverLiteral): readonly Inequality[] {
  ctx.inequalities ??= tableOf(ctx);
  return ctx.inequalities.get(literal) ?? [];
}

function tableOf(ctx: ProofContext): Map<SolverLiteral, Inequality[]> {
  const table = new Map<SolverLiteral, Inequality[]>();
  const note = (literal: SolverLiteral, inequality: Inequality | null): void => {
    if (inequality !== null) table.set(literal, [...(table.get(literal) ?? []), inequality]);
  };
  const keys = new Set<string>();
  for (const { literal, inequality, opposite: other } of ctx.sums.values()) {
    note(literal, inequality);
    note(notLiteral(literal), other);
    for (const key of inequality.terms.keys()) keys.add(key);
  }
  for (const key of keys) {
    const leaf = ctx.leaves.get(key)!;
    if (!isLine(leaf)) continue;
    const marks = marksOf(leaf);
    for (const [at, order] of leaf.order.entries()) {
      const edge = edgeAt(leaf, at, marks);
      if (edge === null) continue;
      note(order, lowEnd(leaf, edge));
      note(notLiteral(order), highEnd(leaf, edge, ctx.faults.has('lines-lack-an-edge')));
    }
  }
  return table;
}

interface Edge {
  readonly number: Decimal;
  /** True if the later cell begins at the number, false if it begins after the number. */
  readonly isOwn: boolean;
}

/** The number at which the cell begins; null when nothing is known about it. */
function edgeAt({ cells, domain }: Leaf, at: number, marks: readonly Decimal[]): Edge | null {
  const value = cells[at]?.value;
  if (at === cells.length) return endAfter(cells.at(-1)?.value, marks);
  if (!isValue(value)) return null;
  const number = value as Decimal;
  if (marks.some((mark) => compare(mark, number) === 0)) return { number, isOwn: true };
  const below = marks.filter((mark) => compare(mark, number) < 0);
  if (below.length === 0) return null;
  if (domain === 'integer') return { number, isOwn: true };
  return { number: below.reduce((a, b) => (compare(a, b) < 0 ? b : a)), isOwn: false };
}

/** The end of a last cell that is a constant: no number lies after it. */
function endAfter(value: Leaf['cells'][number]['value'], marks: readonly Decimal[]): Edge | null {
  if (!isValue(value)) return null;
  const isMark = marks.some((mark) => compare(mark, value as Decimal) === 0);
  return isMark ? { number: value as Decimal, isOwn: false } : null;
}

/** The inequality that the number is at the edge or above it. */
function lowEnd({ key }: Leaf, { number, isOwn }: Edge): Inequality {
  const terms = new Map([[key, opposite(wholeFraction)]]);
  return { terms, constant: fractionOf(number), isStrict: !isOwn };
}

function highEnd({ key, domain }: Leaf, { number, isOwn }: Edge, isForgotten: boolean): Inequality {
  const terms = new Map([[key, wholeFraction]]);
  const constant = opposite(fractionOf(number));
  // A whole number below this one is at most the next lower whole number.
  if (domain === 'integer' && isOwn)
    return { terms, constant: plus(constant, wholeFraction), isStrict: false };
  return { terms, constant: isForgotten ? noFraction : constant, isStrict: isOwn };
}

const placesTried = [0, 2, 6, 15] as const;

/** Notes the model's numbers, rounded to few digits if that changes nothing. */
function noteNumbers(ctx: ProofContext, model: NumbersOfModel): void {
  ctx.numbers.clear();
  for (const leaf of model.leaves) {
    const value = numberOf(model, leaf);
    if (value !== null) ctx.numbers.set(leaf.key, value);
  }
  for (const [key, value] of model.fixed) ctx.numbers.set(key, value);
  for (const { literal, leaves: added = [] } of ctx.bounds.values())
    if (!ctx.circuit.solver.holds(literal)) makeOdd(ctx, added);
}

/** The leaf's number, with few digits if that changes nothing; null if no sum reads the leaf. */
function numberOf(
  { numbers, variables }: Pick<NumbersOfModel, 'numbers' | 'variables'>,
  leaf: Leaf,
): Decimal | null {
  const variable = variables.get(leaf.key);
  if (variable === undefined) return null;
  const exact = numbers[variable]!;
  const places = placesTried.find((one) => {
    const rounded = roundedDecimal(exact, one);
    return rounded !== null && signOf(plus(fractionOf(rounded), opposite(exact))) === 0;
  });
  return roundedDecimal(exact, leaf.domain === 'integer' ? 0 : (places ?? placesTried.at(-1)!));
}

const oddNumbers = [1e300, 1e-300, -1e300].map(fromNumber);

/**
 * Makes one of the numbers so large or small, within its cell, that its sum with another number is not exact.
 */
function makeOdd(ctx: ProofContext, added: readonly Leaf[]): void {
  for (const leaf of added) {
    const here = leaf.cells.indexOf(cellOf(ctx, leaf));
    const odd = oddNumbers.find((one) => leaf.fits(one) && isLine(leaf) && cellPlaceOf(leaf, one) === here);
    if (odd === undefined) continue;
    ctx.numbers.set(leaf.key, odd);
    return;
  }
}
