// For each number of the payload, between which ends it lies wherever a change happens: found by halves on its cells.

import { compare, type Decimal } from '../../language/value/decimal.ts';
import { isValue, type Leaf, marksOf } from '../cells/leaf.ts';
import type { ProofContext } from '../prove/context.ts';
import { solveFor } from '../prove/search.ts';
import { notLiteral, type SolverClause } from '../solver/literal.ts';

export interface Hull {
  /** The path: `payload.amount`. */
  readonly key: string;
  /** Null where nothing bounds it but the shape. */
  readonly low: HullEnd | null;
  readonly high: HullEnd | null;
}

interface HullEnd {
  readonly at: Decimal;
  /** The number itself does not belong to it. */
  readonly isOpen: boolean;
}

const leavesMax = 8;

/** Of the numbers that some bound ties wherever all of these hold. */
export function hullsOf(ctx: ProofContext, must: SolverClause): readonly Hull[] {
  const numbers = [...ctx.leaves.values()].filter(
    ({ key, domain, base }) =>
      (domain === 'number' || domain === 'integer') &&
      base === null &&
      key.startsWith('payload.') &&
      !/[[ ]/.test(key),
  );
  return numbers.slice(0, leavesMax).flatMap((leaf) => hullOf(ctx, leaf, must) ?? []);
}

function hullOf(ctx: ProofContext, leaf: Leaf, must: SolverClause): Hull | null {
  const first = leaf.cells.findIndex(({ value }) => isValue(value));
  const last = leaf.cells.length - 1;
  if (first < 0 || first === last) return null;
  const canBe = (literal: number): boolean => solveFor(ctx, [...must, literal]) !== false;
  // Where it may be missing, no number is what it takes.
  if (first > 0 && canBe(notLiteral(leaf.order[first]!))) return null;
  const low = lowest((at) => canBe(notLiteral(leaf.order[at + 1]!)), first, last);
  const high = highest((at) => canBe(leaf.order[at]!), low, last);
  if (low === first && high === last) return null;
  return {
    key: leaf.key,
    low: low === first ? null : lowEnd(leaf, low),
    high: high === last ? null : highEnd(leaf, high),
  };
}

/** The first place for which it holds; it holds for all later ones. */
function lowest(holds: (at: number) => boolean, from: number, to: number): number {
  if (from >= to) return from;
  const middle = (from + to) >> 1;
  return holds(middle) ? lowest(holds, from, middle) : lowest(holds, middle + 1, to);
}

/** The last place for which it holds; it holds for all earlier ones. */
function highest(holds: (at: number) => boolean, from: number, to: number): number {
  if (from >= to) return from;
  const middle = (from + to + 1) >> 1;
  return holds(middle) ? highest(holds, middle, to) : highest(holds, from, middle - 1);
}

function lowEnd(leaf: Leaf, at: number): HullEnd {
  const own = numberAt(leaf, at);
  return isMark(leaf, own) ? { at: own, isOpen: false } : { at: numberAt(leaf, at - 1), isOpen: true };
}

function highEnd(leaf: Leaf, at: number): HullEnd {
  const own = numberAt(leaf, at);
  return isMark(leaf, own) ? { at: own, isOpen: false } : { at: numberAt(leaf, at + 1), isOpen: true };
}

function numberAt({ cells }: Leaf, at: number): Decimal {
  return cells[at]!.value as Decimal;
}

function isMark(leaf: Leaf, value: Decimal): boolean {
  return marksOf(leaf).some((mark) => compare(mark, value) === 0);
}
