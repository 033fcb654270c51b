// For each number of the payload, the ends between which it lies wherever a change happens, found by binary
// search over its cells.

import { currencyLocation } from '../../language/model/currency.ts';
import type { Shape, Type } from '../../language/model/type.ts';
import { compare, type Decimal } from '../../language/value/decimal.ts';
import { isValue, type Leaf, marksOf } from '../cells/leaf.ts';
import type { ProofContext } from '../prove/context.ts';
import { solveNearFor } from '../prove/search.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';

export interface Hull {
  /** The path, such as `payload.amount`. */
  readonly key: string;
  /** One range; for an amount, one for each currency that it may have. */
  readonly ranges: readonly HullRange[];
}

export interface HullRange {
  /** Null when only the shape bounds the number on this side. */
  readonly low: HullEnd | null;
  readonly high: HullEnd | null;
  /** Null for a number that is no amount. */
  readonly currency: string | null;
}

interface HullEnd {
  readonly at: Decimal;
  /** Whether the hull excludes the end itself. */
  readonly isOpen: boolean;
}

const leavesMax = 8;

/** Receives the literals that a hull, or the lack of a hull, relies on: all of them can hold together. */
export type Confirm = (literals: SolverClause) => void;

/**
 * The hulls of numbers that have a bound whenever all literals of `must` hold; only the first eight numbers
 * are examined.
 */
export function hullsOf(ctx: ProofContext, must: SolverClause, confirm: Confirm): readonly Hull[] {
  const numbers = [...ctx.leaves.values()].filter(
    ({ key, domain, base }) =>
      (domain === 'number' || domain === 'integer') &&
      base === null &&
      key.startsWith('payload.') &&
      !/[[ ]/.test(key),
  );
  return numbers.slice(0, leavesMax).flatMap((leaf) => hullOf(ctx, leaf, { must, confirm }) ?? []);
}

interface HullQuery {
  readonly must: SolverClause;
  readonly confirm: Confirm;
}

function hullOf(ctx: ProofContext, leaf: Leaf, { must, confirm }: HullQuery): Hull | null {
  const first = leaf.cells.findIndex(({ value }) => isValue(value));
  const last = leaf.cells.length - 1;
  if (first < 0 || first === last) return null;
  const canBe = (literal: number): boolean => solveNearFor(ctx, [...must, literal]) !== false;
  // A number that may be missing has no hull, since the change then happens without it.
  if (first > 0 && canBe(notLiteral(leaf.order[first]!))) {
    confirm([...must, notLiteral(leaf.order[first]!)]);
    return null;
  }
  // Propagation of the clauses alone mostly narrows the range, without a search.
  const isLater = ctx.circuit.solver.implied(must, leaf.order);
  const from = Math.max(first, isLater.lastIndexOf(true));
  const to = Math.max(from, isLater.indexOf(false) - 1);
  const low = lowest((at) => canBe(notLiteral(leaf.order[at + 1]!)), from, to);
  const high = highest((at) => canBe(leaf.order[at]!), low, to);
  for (const end of new Set([low, high])) confirm([...must, ...inCell(leaf, end)]);
  if (low === first && high === last) return null;
  const range = {
    low: low === first ? null : lowEnd(leaf, low),
    high: high === last ? null : highEnd(leaf, high),
  };
  if (!leaf.isMoney) return { key: leaf.key, ranges: [{ ...range, currency: null }] };
  const currencies = currenciesOf(ctx, leaf.key, { must, confirm });
  const [only] = currencies ?? [];
  if (currencies === null || only === undefined) return null;
  if (currencies.length === 1) return { key: leaf.key, ranges: [{ ...range, currency: only.currency }] };
  const ranges = currencies.flatMap(({ currency, within }) => {
    const hull = hullOf(ctx, { ...leaf, isMoney: false }, { must: within, confirm });
    return [{ ...(hull?.ranges[0] ?? { low: null, high: null }), currency }];
  });
  return { key: leaf.key, ranges };
}

/** The currencies that the amount may have, each with what holds then; null if one of them has no name. */
function currenciesOf(
  ctx: ProofContext,
  key: string,
  { must, confirm }: HullQuery,
): readonly { readonly currency: string; readonly within: SolverClause }[] | null {
  const steps = key.split('.').slice(1);
  const type = typeAt(ctx.action.shape, steps);
  const at = type === null ? null : currencyLocation(type, { root: 'payload', steps });
  const leaf = at === null ? undefined : ctx.leaves.get(['payload', ...at.steps].join('.'));
  if (leaf === undefined) return null;
  const all = leaf.cells.map((cell, at) => ({ cell, within: [...must, ...inCell(leaf, at)] }));
  const possible = all.filter(({ within }) => solveNearFor(ctx, within) !== false);
  if (possible.length > 1) for (const { within } of possible) confirm(within);
  const named = possible.flatMap(({ cell: { value }, within }) =>
    typeof value === 'string' && isAlone(leaf, value) ? [{ currency: value, within }] : [],
  );
  return named.length === possible.length ? named : null;
}

/** Literals that all hold when the leaf is in the cell. */
export function inCell(
  { cells, order }: Pick<Leaf, 'cells' | 'order'>,
  at: number,
): readonly SolverLiteral[] {
  return [
    ...(at === 0 ? [] : [order[at]!]),
    ...(at === cells.length - 1 ? [] : [notLiteral(order[at + 1]!)]),
  ];
}

/** Whether some condition tells the text from each other text. */
function isAlone({ values, atoms }: Leaf, text: string): boolean {
  if (values.length > 0)
    return values.every((one) => one === text || atoms.some(({ truthAt }) => truthAt(one) !== truthAt(text)));
  return atoms.some(
    ({ understood }) => understood.kind === 'values' && understood.values.some((one) => one === text),
  );
}

export function typeAt(shape: Shape, steps: readonly string[]): Type | null {
  const [first, ...rest] = steps;
  const type = shape.fields.find(({ name }) => name === first)?.type ?? null;
  if (rest.length === 0 || type === null) return type;
  return type.kind === 'record' ? typeAt(type.shape, rest) : null;
}

/**
 * The first place for which `holds` is true; it must be true for all later places. Tries the very first place
 * first, which is often the answer.
 */
export function lowest(holds: (at: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to];
  for (let at = from; low < high; at = (low + high) >> 1) {
    if (holds(at)) high = at;
    else low = at + 1;
  }
  return low;
}

/**
 * The last place for which `holds` is true; it must be true for all earlier places. Tries the very last place
 * first, which is often the answer.
 */
export function highest(holds: (at: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to];
  for (let at = to; low < high; at = (low + high + 1) >> 1) {
    if (holds(at)) low = at;
    else high = at - 1;
  }
  return low;
}

function lowEnd(leaf: Leaf, at: number): HullEnd {
  const low = numberAt(leaf, at);
  return isMark(leaf, low) ? { at: low, isOpen: false } : { at: numberAt(leaf, at - 1), isOpen: true };
}

function highEnd(leaf: Leaf, at: number): HullEnd {
  const high = numberAt(leaf, at);
  return isMark(leaf, high) ? { at: high, isOpen: false } : { at: numberAt(leaf, at + 1), isOpen: true };
}

function numberAt({ cells }: Leaf, at: number): Decimal {
  return cells[at]!.value as Decimal;
}

function isMark(leaf: Leaf, value: Decimal): boolean {
  return marksOf(leaf).some((mark) => compare(mark, value) === 0);
}
