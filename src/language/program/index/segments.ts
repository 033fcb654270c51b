// Turns bounds on one number into a structure that finds all bounds that contain a number. The ends of the
// bounds cut the numbers into elementary segments, with a tree above them. Each pair of bounds is filed at
// the few nodes that cover it exactly, so it takes logarithmic room however wide it is. INVARIANT: a rule is
// found once for each pair of bounds that contains the number, and for no other.

import type { Bounds } from './index-key.ts';
import { fileAll, type Postings, type PrefixPosting } from './prefixes.ts';

export interface Segments {
  /** Where segments meet, ascending. Segment 2i lies before end i, segment 2i + 1 is exactly that end. */
  readonly ends: Float64Array;
  readonly grid: Grid;
  /** By segment, the lowest node above it that has a rule; -1 for none. Nodes without a rule are not kept. */
  readonly lowest: Int32Array;
  /** By node, the next node above it that has a rule; -1 for none. */
  readonly above: Int32Array;
  readonly nodes: Postings;
}

/**
 * A uniform grid over the ends, with as many cells as ends. Cell c has the ends from `starts[c]` up to
 * `starts[c + 1]`. The grid tells where to look in a long list; when many ends are in one cell, they are
 * searched as without a grid.
 */
interface Grid {
  readonly origin: number;
  readonly cellsPerUnit: number;
  readonly starts: Int32Array;
}

export interface BoundRule {
  readonly rule: number;
  readonly bounds: Bounds;
}

export function createSegments(rules: readonly BoundRule[]): Segments {
  const finite = rules.flatMap(({ bounds: { low, high } }) => [low, high].filter(Number.isFinite));
  const ends = Float64Array.from(new Set(finite)).sort();
  const leaves = 2 ** Math.ceil(Math.log2(2 * ends.length + 1));
  const postings: PrefixPosting[] = [];
  for (const { rule, bounds } of rules) {
    let left = leaves + leftmost(ends, bounds);
    let right = leaves + rightmost(ends, bounds) + 1;
    while (left < right) {
      if (left % 2 === 1) {
        postings.push({ index: left, rule });
        left += 1;
      }
      if (right % 2 === 1) {
        right -= 1;
        postings.push({ index: right, rule });
      }
      left /= 2;
      right /= 2;
    }
  }
  return { ends, grid: createGrid(ends), ...keepHolding(postings, leaves, 2 * ends.length + 1) };
}

/**
 * Keeps only the nodes that have a rule and numbers them again, so that a way up meets no other nodes. In the
 * tree, 1 is the root, and 2n and 2n + 1 are below n.
 */
function keepHolding(
  postings: readonly PrefixPosting[],
  leaves: number,
  segments: number,
): Pick<Segments, 'lowest' | 'above' | 'nodes'> {
  const holds = new Uint8Array(2 * leaves);
  for (const { index } of postings) holds[index] = 1;
  const above: number[] = [];
  // For every node of the tree: the node itself or the next one above it that has a rule.
  const nearest = new Int32Array(2 * leaves).fill(-1);
  for (let node = 1; node < 2 * leaves; node += 1) {
    nearest[node] = nearest[node >> 1]!;
    if (holds[node] === 1) nearest[node] = above.push(nearest[node]!) - 1;
  }
  const renumbered = postings.map(
    ({ index: place, rule }): PrefixPosting => ({ index: nearest[place]!, rule }),
  );
  return {
    lowest: nearest.slice(leaves, leaves + segments),
    above: Int32Array.from(above),
    nodes: fileAll(renumbered, above.length),
  };
}

/** Appends the rules whose bounds contain the number to `found`, from `count` on. Returns the new count. */
export function findInSegments(
  segments: Segments,
  number: number,
  matched: Int32Array,
  count: number,
): number {
  const { ends, grid, nodes, above } = segments;
  const { offsets, rules } = nodes;
  const cell = cellOf(grid, number);
  const end = firstNotBelow(ends, number, grid.starts[cell]!, grid.starts[cell + 1]!);
  const segment = ends[end] === number ? 2 * end + 1 : 2 * end;
  let next = count;
  for (let node = segments.lowest[segment]!; node >= 0; node = above[node]!) {
    const to = offsets[node + 1]!;
    for (let at = offsets[node]!; at < to; at += 1) {
      matched[next] = rules[at]!;
      next += 1;
    }
  }
  return next;
}

/**
 * Returns the share of all ends that lies within the bounds. It estimates how often the bounds hold, as far
 * as the rules themselves can tell.
 */
export function shareOfEnds(sortedEnds: Float64Array, { low, high }: Bounds): number {
  const inside = firstNotBelow(sortedEnds, high) - firstNotBelow(sortedEnds, low);
  return (inside + 1) / (sortedEnds.length + 1);
}

function leftmost(ends: Float64Array, { low, isLowIncluded }: Bounds): number {
  if (low === Number.NEGATIVE_INFINITY) return 0;
  return 2 * firstNotBelow(ends, low) + (isLowIncluded ? 1 : 2);
}

function rightmost(ends: Float64Array, { high, isHighIncluded }: Bounds): number {
  if (high === Number.POSITIVE_INFINITY) return 2 * ends.length;
  return 2 * firstNotBelow(ends, high) + (isHighIncluded ? 1 : 0);
}

/**
 * Returns the place of the first end in the range that is not below the number, or the end of the range when
 * there is none.
 */
function firstNotBelow(ends: Float64Array, number: number, from = 0, to = ends.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

function createGrid(ends: Float64Array): Grid {
  const [origin, last] = [ends[0] ?? 0, ends.at(-1) ?? 0];
  const cells = Math.max(1, ends.length);
  const width = (last - origin) / cells;
  const cellsPerUnit = Number.isFinite(width) && width > 0 ? 1 / width : 0;
  const starts = new Int32Array(cells + 1);
  const grid = { origin, cellsPerUnit: Number.isFinite(cellsPerUnit) ? cellsPerUnit : 0, starts };
  for (const end of ends) starts[cellOf(grid, end) + 1]! += 1;
  for (let cell = 0; cell < cells; cell += 1) starts[cell + 1]! += starts[cell]!;
  return grid;
}

/**
 * Returns the cell of a number. A larger number is never in an earlier cell, so an end in an earlier cell is
 * smaller.
 */
function cellOf({ origin, cellsPerUnit, starts }: Grid, number: number): number {
  const cell = Math.floor((number - origin) * cellsPerUnit);
  return Math.min(Math.max(cell, 0), starts.length - 2);
}
