// The sum over a list: an addend for each place of an element, 0 if the place is empty, and one number for
// all elements without a place. INVARIANT: elements without a place may add up to anything that elements can
// add up to, so that what holds with them holds of every list. If there are none, the sum is that of the
// places alone.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import type { Expression, Quantify } from '../../language/model/expression.ts';
import type { Range } from '../../language/model/type.ts';
import { compare, type Decimal, fromNumber, multiply, zero } from '../../language/value/decimal.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import { isValue, isWhere, type Leaf } from '../cells/leaf.ts';
import { type Fraction, fractionOf, noFraction, opposite, wholeFraction } from '../linear/fraction.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { longestOf } from './bounds.ts';
import {
  type Elements,
  type GrowingPart,
  noElements,
  type ProofContext,
  type SlotElement,
} from './context.ts';
import { addLeaf, locationOfField, plainLeaf } from './leaves.ts';
import { type ElementPosition, elementPlaces } from './quantifiers.ts';
import { withVariable } from './rewrite.ts';
import type { Sum } from './sums.ts';

/** How to make the sums inside a list's elements, from `sums.ts`. */
export interface SumParts {
  readonly sumOf: (expression: Expression, elements: Elements) => Sum | null;
  readonly isKnown: (sum: Sum) => readonly SolverLiteral[];
  /** Whether adding up the numbers in `reads` has an exact answer. */
  readonly isExact: (side: Expression, reads: readonly Leaf[]) => SolverLiteral;
  /** A literal that holds if the sum is 0 or less. */
  readonly isAtMostZero: (terms: ReadonlyMap<Leaf, Fraction>, constant: Fraction) => SolverLiteral;
}

/** Null when the formula cannot express the list or what is added up, such as money and nested sums. */
export function listSum(ctx: ProofContext, quantify: Quantify, parts: SumParts): Sum | null {
  const { sources, ...sum } = withVariable(quantify, elementVariable);
  const made = sources.map((source) => sumOfSource(ctx, { ...sum, source }, parts));
  if (made.includes(null)) return null;
  const sums = made as readonly ListTotal[];
  const leaves = sums.flatMap(({ addends, rest }) => [
    ...addends.map(({ leaf }) => leaf),
    ...(rest === null ? [] : [rest.leaf]),
  ]);
  const timesOf = (leaf: Leaf): number => leaves.filter((one) => one === leaf).length;
  return {
    terms: new Map(leaves.map((leaf) => [leaf, fractionOf(fromNumber(timesOf(leaf)))])),
    constant: noFraction,
    currencies: [],
    assumptions: sums.flatMap((one, at) => [
      ...knownOf(ctx, one),
      exactLiteral(ctx, sums.slice(0, at + 1), (reads) =>
        parts.isExact({ ...sum, sources: sources.slice(0, at + 1) }, reads),
      ),
    ]),
    reads: sums.flatMap(({ addends }) => addends.flatMap(({ reads }) => reads)),
  };
}

/** One name for the variable, so that equal sums are equal whatever their variable is called. */
const elementVariable = '$element';

type OfSource = Omit<Quantify, 'sources'> & { readonly source: Expression };

interface ListTotal {
  readonly isListKnown: SolverLiteral;
  readonly addends: readonly Addend[];
  readonly rest: RestOfList | null;
}

function sumOfSource(ctx: ProofContext, sum: OfSource, parts: SumParts): ListTotal | null {
  const list = elementPlaces(ctx, [sum.source], noElements);
  if (list === null) return null;
  const addends = list.keys.map((element) => addendAt(ctx, sum, { element, parts }));
  if (addends.includes(null)) return null;
  const isWhole = (addends as readonly Addend[]).every(({ leaf }) => leaf.domain === 'integer');
  const rest = restOf(ctx, sum, { elements: list.keys, isWhole });
  return { isListKnown: list.isKnown, addends: addends as readonly Addend[], rest };
}

/**
 * Whether adding up is exact. Addends are added in their order, so if the first ones have no exact sum, the
 * whole has none. An empty sum is exact.
 */
function exactLiteral(
  { circuit }: ProofContext,
  sums: readonly ListTotal[],
  isExact: (reads: readonly Leaf[]) => SolverLiteral,
): SolverLiteral {
  const addends = sums.flatMap((one) => one.addends);
  const literal = isExact(addends.flatMap(({ reads }) => reads));
  if (literal !== circuit.yes) circuit.require([literal, ...addends.map(({ isThere }) => isThere)]);
  return literal;
}

/** Literals for each element being known, elements without a place included. */
function knownOf(
  { circuit }: ProofContext,
  { isListKnown, addends, rest }: ListTotal,
): readonly SolverLiteral[] {
  return [
    isListKnown,
    ...addends.map(({ isThere, assumptions: known }) =>
      circuit.or([notLiteral(isThere), circuit.and(known)]),
    ),
    ...(rest === null ? [] : [circuit.or([rest.isWhole, rest.isKnown])]),
  ];
}

interface Addend {
  readonly leaf: Leaf;
  readonly isThere: SolverLiteral;
  readonly assumptions: readonly SolverLiteral[];
  readonly reads: readonly Leaf[];
}

interface ListPosition {
  readonly element: ElementPosition;
  readonly parts: SumParts;
}

function addendAt(
  ctx: ProofContext,
  { variable, body }: OfSource,
  { element, parts }: ListPosition,
): Addend | null {
  const sum = parts.sumOf(body, new Map([[variable, element.element]]));
  if (sum === null || sum.currencies.length > 0) return null;
  const reads = [...sum.terms.keys()].flatMap((term) => ('isKnown' in term ? [] : [term]));
  if (reads.length < sum.terms.size) return null;
  const addends = parts.isKnown(sum);
  const key = `addend ${placeKey(element.element)} ${canonicalMeaning(body)}`;
  const made = ctx.leaves.get(key);
  if (made !== undefined) return { leaf: made, isThere: element.isThere, assumptions: addends, reads };
  const leaf = addLeaf(ctx, { ...plainLeaf(ctx, key, isWhole(sum) ? 'integer' : 'number'), marks: [zero] });
  tieToPlace(ctx, leaf, { element, sum, parts });
  return { leaf, isThere: element.isThere, assumptions: addends, reads };
}

function isWhole({ terms, constant }: Sum): boolean {
  return (
    constant.bottom === 1n &&
    [...terms].every(
      ([term, { bottom }]) => bottom === 1n && !('isKnown' in term) && term.domain === 'integer',
    )
  );
}

function placeKey(element: SlotElement): string {
  return element.kind === 'slot' ? element.key : canonicalMeaning(element.literal);
}

/** The addend is the element's own number if the place has an element, else 0. */
function tieToPlace(
  ctx: ProofContext,
  leaf: Leaf,
  { element, sum, parts }: ListPosition & { readonly sum: Sum },
): void {
  const { circuit } = ctx;
  const terms = sum.terms as ReadonlyMap<Leaf, Fraction>;
  const less = new Map([
    [leaf, wholeFraction],
    ...[...terms].map(([one, by]) => [one, opposite(by)] as const),
  ]);
  const more = new Map([[leaf, opposite(wholeFraction)], ...terms]);
  const isNone = notLiteral(element.isThere);
  circuit.require([isNone, parts.isAtMostZero(less, opposite(sum.constant))]);
  circuit.require([isNone, parts.isAtMostZero(more, sum.constant)]);
  ctx.afterCut.push(() => circuit.require([element.isThere, isZero(ctx, leaf)]));
}

function isZero({ circuit }: ProofContext, leaf: Leaf): SolverLiteral {
  return isWhere(leaf, ({ value }) => isValue(value) && compare(value as Decimal, zero) === 0, circuit);
}

interface RestOfList {
  readonly leaf: Leaf;
  /** Whether every element has a place. */
  readonly isWhole: SolverLiteral;
  readonly isKnown: SolverLiteral;
}

interface PlacesOfSum {
  readonly elements: readonly ElementPosition[];
  /** Whether only whole numbers are added up. */
  readonly isWhole: boolean;
}

/** What the elements without a place add up to; null when there can be none. */
function restOf(ctx: ProofContext, sum: OfSource, { elements, isWhole }: PlacesOfSum): RestOfList | null {
  const longest = constantOf(sum.source, ctx.set) === null ? longestOf(sum.source) : elements.length;
  if (longest <= elements.length || ctx.faults.has('sums-lack-their-rest')) return null;
  const key = `rest ${canonicalMeaning(sum.source)} ${canonicalMeaning(sum.body)}`;
  const cached = ctx.rests.get(key);
  if (cached !== undefined) return cached;
  const { low, high } = rangeOfRest(ctx, sum, { elements, longest });
  const leaf = addLeaf(ctx, {
    ...plainLeaf(ctx, key, isWhole && elements.length > 0 ? 'integer' : 'number'),
    fits: (value) =>
      (low === null || compare(low, value as Decimal) <= 0) &&
      (high === null || compare(value as Decimal, high) <= 0),
    marks: [zero, low, high].filter((end) => end !== null),
  });
  const rest = { leaf, isWhole: ctx.circuit.free(true), isKnown: ctx.circuit.free(true) };
  ctx.rests.set(key, rest);
  const grows = growingOf(sum, leaf);
  ctx.bounds.set(key, { span: sum.span, literal: rest.isWhole, why: 'huge payloads', ...grows });
  ctx.afterCut.push(() => {
    ctx.circuit.require([notLiteral(rest.isWhole), isZero(ctx, leaf)]);
    // Elements fill the places first.
    for (const { isThere } of elements) ctx.circuit.require([rest.isWhole, isThere]);
  });
  return rest;
}

interface LengthLimit {
  readonly elements: readonly ElementPosition[];
  readonly longest: number;
}

/** The range of the rest; bounded only if a single declared number is added up. */
function rangeOfRest(
  ctx: ProofContext,
  { body, variable }: OfSource,
  { elements, longest }: LengthLimit,
): Range {
  const [first] = elements;
  const open: Range = { low: null, high: null };
  if (first === undefined || body.kind !== 'field') return open;
  const type = locationOfField(ctx, body, new Map([[variable, first.element]]))?.slot.type;
  if (type?.kind !== 'number' && type?.kind !== 'integer') return open;
  const { low, high } = type.range;
  const isHighKnown = high !== null && Number.isFinite(longest) && compare(zero, high) <= 0;
  return {
    low: low !== null && compare(zero, low) <= 0 ? zero : null,
    high: isHighKnown ? multiply(high, fromNumber(longest - elements.length)) : null,
  };
}

/** How to turn the rest into a request: by elements that hold what is missing from the sum. */
function growingOf({ source, body }: OfSource, rest: Leaf): { readonly grows?: GrowingPart } {
  if (source.kind !== 'field' || source.root !== 'payload' || body.kind !== 'field') return {};
  const key = ['payload', ...source.steps].join('.');
  return { grows: { kind: 'addends', key, around: [], adds: { leaf: rest, steps: body.steps } } };
}
