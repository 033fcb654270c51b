// The truths of a condition over the cells of a leaf, as spans of neighbouring cells with the same truth. If
// the form of a condition is constant between the values that it names, the definition is evaluated once
// between them instead of once for each cell.

import type { Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { compare, type Decimal } from '../../language/value/decimal.ts';
import { fold } from '../../language/value/text.ts';
import { type Cell, type CellValue, isValue, type Leaf, type LeafAtom } from './leaf.ts';
import { foldedKeys, plainKeys } from './text-keys.ts';

export interface CellSpan {
  readonly from: number;
  readonly to: number;
  /** The truth of the condition in these cells; "open" if the value of a cell does not settle it. */
  readonly truth: SpecTruth | 'open';
}

/** The spans in order and without gaps. */
export function cellSpansOf(leaf: Leaf, atom: LeafAtom): readonly CellSpan[] {
  const starts = startsOf(leaf, atom);
  const spans: CellSpan[] = [];
  for (const [at, from] of starts.entries()) {
    const to = (starts[at + 1] ?? leaf.cells.length) - 1;
    const truth = truthIn(leaf, atom, leaf.cells[from]!);
    const last = spans.at(-1);
    if (last?.truth === truth) spans[spans.length - 1] = { ...last, to };
    else spans.push({ from, to, truth });
  }
  return spans;
}

export function isOpenIn({ understood }: LeafAtom, { isOther, isBeyond }: Cell): boolean {
  if (isBeyond === true) return understood.kind === 'hours' || understood.kind === 'local-date';
  return isOther && understood.kind !== 'presence';
}

function truthIn(leaf: Leaf, atom: LeafAtom, cell: Cell): SpecTruth | 'open' {
  if (isOpenIn(atom, cell)) return 'open';
  return truthAtValue(leaf, atom, cell.value);
}

/**
 * The truth of the condition, by the definition, when the leaf has the value. Long lists are looked up by key
 * instead of walked through.
 */
export function truthAtValue(leaf: Leaf, atom: LeafAtom, value: CellValue): SpecTruth {
  const isMember = isValue(value) ? membershipOf(leaf, atom) : null;
  return isMember === null ? atom.truthAt(value) : isMember(value as Value);
}

/**
 * The cells at which the truth of the condition may change: every cell, unless the form of the condition
 * allows fewer.
 */
function startsOf(leaf: Leaf, atom: LeafAtom): readonly number[] {
  if (atom.understood.kind !== 'values') return [...leaf.cells.keys()];
  const { values } = atom.understood;
  switch (leaf.domain) {
    case 'number':
    case 'integer':
      return sorted(
        leaf,
        (values as readonly Decimal[]).flatMap((value) => aroundNumber(leaf, value)),
      );
    case 'text':
      return sorted(
        leaf,
        [...placesOf(leaf, values)].flatMap((index) => [index, index + 1]),
      );
    default:
      return [...leaf.cells.keys()];
  }
}

/** Indexes of the cells that hold one of the texts. */
function placesOf({ cells, indexes }: Leaf, values: readonly Value[]): ReadonlySet<number> {
  const spans = new Set<number>();
  if (values.length > cells.length) {
    const named = plainKeys(values);
    for (const [at, { value }] of cells.entries()) if (named.has(value as Value)) spans.add(at);
    return spans;
  }
  for (const value of values) {
    const index = indexes.get(value as string);
    if (index !== undefined) spans.add(index);
  }
  return spans;
}

/**
 * Indexes of cells in order: the given ones, each state that is no value, the first value, and the cell of
 * all other texts.
 */
function sorted({ cells, domain }: Leaf, indexes: readonly number[]): readonly number[] {
  const firstValue = cells.findIndex(({ value }) => isValue(value));
  const states = firstValue < 0 ? cells.length : firstValue;
  const starts = new Set([...Array.from({ length: states }, (_, at) => at), states, ...indexes]);
  if (domain === 'text') starts.add(cells.length - 1);
  return [...starts].filter((at) => at < cells.length).sort((a, b) => a - b);
}

/**
 * The index of the number's cell and the next index; for a number without a cell, the index at which it would
 * stand.
 */
function aroundNumber({ cells }: Leaf, value: Decimal): readonly number[] {
  let [low, high] = [0, cells.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const cell = cells[middle]!.value;
    if (isValue(cell) && compare(cell as Decimal, value) >= 0) high = middle;
    else low = middle + 1;
  }
  const isOwn = low < cells.length && compare(cells[low]!.value as Decimal, value) === 0;
  return isOwn ? [low, low + 1] : [low];
}

const listedMax = 64;
const memberships = new WeakMap<LeafAtom, (value: Value) => boolean>();

/**
 * A look-up by key for long lists, which the definition walks through; null for a short list. A law among the
 * tests holds both equal.
 */
function membershipOf(leaf: Leaf, atom: LeafAtom): ((value: Value) => boolean) | null {
  const { understood } = atom;
  if (leaf.domain !== 'text' || !('values' in understood)) return null;
  if (understood.values.length + leaf.cells.length < listedMax) return null;
  const cached = memberships.get(atom);
  if (cached !== undefined) return cached;
  const isMember = newMembership(understood);
  if (isMember !== null) memberships.set(atom, isMember);
  return isMember;
}

function newMembership(
  understood: Extract<LeafAtom['understood'], { readonly values: readonly Value[] }>,
): ((value: Value) => boolean) | null {
  if (understood.kind === 'values') {
    const { values, otherwise } = understood;
    const named = plainKeys(values);
    return (value) => named.has(value) !== otherwise;
  }
  if (!understood.isFolded) return null;
  const folded = foldedKeys(understood.values);
  return (value) => folded.has(fold(value as string));
}
