// Finds models whose numbers satisfy the comparisons of sums. The solver itself knows nothing of numbers: if
// the inequalities of a model cannot hold together, a clause that excludes them is added, with its
// derivation, and the solver goes on. INVARIANT: each such clause is a lemma that `followsFrom` can check
// from the inequalities of its literals alone.

import type { Decimal } from '../../language/value/decimal.ts';
import { compare, fromNumber } from '../../language/value/decimal.ts';
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
import { type Inequality, type Lemma, type LemmaPart, turned } from '../linear/inequality.ts';
import { type Farkas, Simplex } from '../linear/simplex.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import type { ProofContext } from './context.ts';
import { cellOf } from './text-choice.ts';

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
  const found =
    boundLeaves(ctx, simplex, { leaves, variables }) ?? boundSums(simplex, sums, holding) ?? simplex.solve();
  if (found !== null) return lemmaFrom(found);
  noteNumbers(ctx, simplex.numbers(), { leaves, variables });
  return null;
}

function lemmaFrom(found: readonly Farkas<Reason>[]): Lemma {
  const parts = found.map(({ reason, multiplier }) => ({ ...reason, multiplier }));
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
    const own = new Map([...terms].map(([name, factor]) => [variables.get(name)!, factor]));
    sums.set(key, simplex.sum(own));
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
    : { ...turned({ terms, constant, isStrict }), isUpper };
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
    const found = simplex.bound(sums.get(termsKey(terms))!, bound);
    if (found !== null) return found;
  }
  return null;
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
      const inequalities = saidBy(ctx, literal);
      const which = inequalities.findIndex(({ terms }) => terms.has(leaf.key));
      if (which < 0) continue;
      const { terms, constant, isStrict } = inequalities[which]!;
      const isUpper = signOf(terms.get(leaf.key)!) > 0;
      const number = isUpper ? opposite(constant) : constant;
      const reason = { literal, which };
      const found = simplex.bound(variables.get(leaf.key)!, { isUpper, number, isStrict, reason });
      if (found !== null) return found;
    }
  }
  return null;
}

/**
 * The inequalities that a literal means: a comparison of sums, or that a leaf lies in a cell or a later one,
 * or in an earlier one.
 */
export function saidBy(ctx: ProofContext, literal: SolverLiteral): readonly Inequality[] {
  ctx.said ??= tableOf(ctx);
  return ctx.said.get(literal) ?? [];
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
function noteNumbers(ctx: ProofContext, numbers: readonly Fraction[], { leaves, variables }: Numbers): void {
  ctx.numbers.clear();
  for (const leaf of leaves) {
    const exact = numbers[variables.get(leaf.key)!]!;
    const places = placesTried.find((one) => {
      const rounded = roundedDecimal(exact, one);
      return rounded !== null && signOf(plus(fractionOf(rounded), opposite(exact))) === 0;
    });
    const value = roundedDecimal(exact, leaf.domain === 'integer' ? 0 : (places ?? placesTried.at(-1)!));
    if (value !== null) ctx.numbers.set(leaf.key, value);
  }
  for (const { literal, leaves: added = [] } of ctx.bounds.values())
    if (!ctx.circuit.solver.holds(literal)) makeOdd(ctx, added);
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
