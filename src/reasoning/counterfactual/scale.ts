// Handles places whose values have an order: numbers, money, dates, times, meters. Finds the points at which
// decisions can change, and the widest range around a point in which the decision is at least as good as at
// the point.

import type { Expression } from '../../language/model/expression.ts';
import type { Facts } from '../../language/model/request.ts';
import type { Quantity, Range, Type } from '../../language/model/type.ts';
import {
  add,
  compare,
  type Decimal,
  divide,
  floor,
  fractionDigits,
  fromNumber,
  isInRange,
  multiply,
  subtract,
} from '../../language/value/decimal.ts';
import type { Atom } from './atoms.ts';

export interface Scale {
  /** The place as conditions write it, such as `payload.amount`. */
  readonly name: string;
  /** Points at which decisions can change, in ascending order. */
  readonly points: readonly Decimal[];
  /** The points that conditions name. */
  readonly constants: readonly Decimal[];
  /** The smallest distance between two values. */
  readonly step: Decimal;
  readonly current: Decimal | null;
  readonly put: (facts: Facts, value: Decimal) => Facts;
  readonly show: (facts: Facts, value: Decimal) => string;
}

export interface ScaleOptions extends Pick<Scale, 'name' | 'current' | 'put' | 'show'> {
  /** The unit of the constants in conditions. */
  readonly kind: Quantity | 'money';
  readonly key: string;
  readonly range: Range;
  /** How many decimal places the currency of an amount has; null when it is not known, and for other kinds. */
  readonly unitDigits: number | null;
}

const pointsMax = 90;
const decimalPlacesMax = 9;
/** How often a gap between points is halved: enough for a number of 15 digits. */
const halvingsMax = 60;

export function createScale(options: ScaleOptions, atoms: readonly Atom[]): Scale {
  const { name, current, put, show, kind, range, key, unitDigits } = options;
  const read = atoms.filter((atom) => atom.keys.has(key));
  const constants = distinct(read.flatMap(({ parts }) => parts.flatMap((part) => constantOf(part, kind))));
  const ends = [range.low, range.high].filter((end) => end !== null);
  const values = [...constants, ...ends, ...(current === null ? [] : [current])];
  const step: Decimal =
    unitDigits === null || !Number.isFinite(unitDigits)
      ? stepOf(kind, values)
      : { coefficient: 1n, exponent: -unitDigits };
  const around = constants.flatMap((constant) => [subtract(constant, step), constant, add(constant, step)]);
  // If the place is only one term of a sum or a product, no condition names its turning points.
  const far = read.every(({ expression }) => isDirect(expression)) ? [] : farPoints(kind, current, step);
  const points = [...around, ...ends, ...far, current]
    .filter((point) => point !== null)
    .filter(
      (point) => isInRange(range, point) && (unitDigits === null || fractionDigits(point) <= unitDigits),
    );
  const near = distinct(points)
    .toSorted((a, b) => compareDistance(current, a, b))
    .slice(0, pointsMax);
  return { name, constants, step, current, put, show, points: near.toSorted(compare) };
}

/**
 * The points with the nearest to the current value first; in ascending order if there is no current value.
 */
export function byDistance({ points, current }: Scale): readonly Decimal[] {
  return points.toSorted((a, b) => compareDistance(current, a, b));
}

/**
 * The widest condition around `at` in which `isGood` holds: `payload.amount > 5 USD and payload.amount <= 10 USD`. Null if
 * nothing bounds it. `isGood` returns null for values of another shape. It is called at the points, and within a gap only
 * if its result differs between the ends.
 */
export function rangeText(
  scale: Scale,
  at: Decimal,
  { facts, isGood }: { readonly facts: Facts; readonly isGood: (value: Decimal) => boolean | null },
): string | null {
  const judged = scale.points.map((point) => ({ point, good: isGood(point) }));
  const valid = judged.filter(({ good }) => good !== null);
  const here = valid.findIndex(({ point }) => compare(point, at) === 0);
  const beforeRun = valid.slice(0, here).findLastIndex(({ good }) => good === false);
  const afterRun = valid.findIndex(({ good }, index) => index > here && good === false);
  const isInside = (value: Decimal): boolean => isGood(value) === true;
  const edge = (outside: number, inside: number): Edge | null => {
    const [bad, good] = [valid[outside]?.point, valid[inside]?.point];
    return bad === undefined || good === undefined ? null : narrow({ bad, good }, scale.step, isInside);
  };
  const low = edge(beforeRun, beforeRun + 1);
  const high = edge(afterRun, afterRun - 1);
  const show = (value: Decimal): string => scale.show(facts, value);
  if (low !== null && high !== null && compare(low.good, high.good) === 0)
    return `${scale.name} == ${show(low.good)}`;
  const bounds = [
    low === null ? [] : bound(scale, low, ['>=', '>']),
    high === null ? [] : bound(scale, high, ['<=', '<']),
  ];
  const texts = bounds.flatMap(([operator, value]) =>
    operator === undefined || value === undefined ? [] : [`${scale.name} ${operator} ${show(value)}`],
  );
  return texts.length === 0 ? null : texts.join(' and ');
}

interface Edge {
  readonly bad: Decimal;
  readonly good: Decimal;
}

type Operator = '<' | '<=' | '>' | '>=';

/** The bound that states an edge, with a constant of a condition if there is one at the edge. */
function bound(
  scale: Scale,
  { bad, good }: Edge,
  [inclusive, exclusive]: readonly [Operator, Operator],
): [Operator, Decimal] {
  const isConstant = (value: Decimal): boolean =>
    scale.constants.some((constant) => compare(constant, value) === 0);
  return !isConstant(good) && isConstant(bad) ? [exclusive, bad] : [inclusive, good];
}

/** Halves the gap of an edge until its ends are one step apart. */
function narrow(edge: Edge, step: Decimal, isInside: (value: Decimal) => boolean): Edge {
  let { bad, good } = edge;
  for (let halving = 0; halving < halvingsMax; halving++) {
    const middle = middleOf(bad, good, step);
    if (middle === null) break;
    if (isInside(middle)) good = middle;
    else bad = middle;
  }
  return { bad, good };
}

/** A value between two others, a whole number of steps from the smaller; null if there is none. */
function middleOf(a: Decimal, b: Decimal, step: Decimal): Decimal | null {
  const [low, high] = compare(a, b) < 0 ? [a, b] : [b, a];
  const gap = subtract(high, low);
  const steps = gap && divide(gap, step);
  const half = steps && divide(steps, fromNumber(2));
  const offset = half && multiply(floor(half), step);
  const middle = offset && add(low, offset);
  return middle === null || compare(middle, low) === 0 || compare(middle, high) === 0 ? null : middle;
}

function constantOf(part: Expression, kind: Quantity | 'money'): readonly Decimal[] {
  if (part.kind !== 'literal' || part.value === null || typeof part.value !== 'object') return [];
  const isNumber = kind === 'number' || kind === 'integer';
  const isOfKind = isNumber
    ? part.type.kind === 'number' || part.type.kind === 'integer'
    : part.type.kind === kind;
  if (!isOfKind) return [];
  if (kind === 'money') return 'amount' in part.value ? [part.value.amount as Decimal] : [];
  return 'coefficient' in part.value ? [part.value as Decimal] : [];
}

function stepOf(kind: Quantity | 'money', values: readonly Decimal[]): Decimal {
  const coarsest = kind === 'number' || kind === 'money' ? -2 : 0;
  const finest = kind === 'integer' || kind === 'date' ? 0 : -decimalPlacesMax;
  const exponent = Math.max(finest, Math.min(coarsest, ...values.map((value) => value.exponent)));
  return { coefficient: 1n, exponent };
}

/** Whether the expression compares the place, or a meter that reads the place, with a constant. */
function isDirect(expression: Expression): boolean {
  const isRead = ({ kind }: Expression): boolean => kind === 'field' || kind === 'meter';
  if (expression.kind === 'compare') {
    const { left, right } = expression;
    return (isRead(left) && right.kind === 'literal') || (isRead(right) && left.kind === 'literal');
  }
  return expression.kind === 'has' || expression.kind === 'is-null' || expression.kind === 'in-range';
}

const farFactors: Readonly<Partial<Record<Quantity, readonly number[]>>> = {
  date: [1, 7, 30, 365, 3_650],
  timestamp: [60, 3_600, 86_400, 604_800, 2_592_000, 31_536_000],
  datetime: [60, 3_600, 86_400, 604_800, 2_592_000, 31_536_000],
};
const powers = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

function farPoints(
  kind: Quantity | 'money',
  current: Decimal | null,
  step: Decimal,
): readonly (Decimal | null)[] {
  const distances = (kind === 'money' ? undefined : farFactors[kind])?.map(fromNumber);
  const center = current ?? fromNumber(0);
  if (distances !== undefined)
    return distances.flatMap((distance) => [add(center, distance), subtract(center, distance)]);
  const sizes = powers.map(fromNumber);
  const multiples = sizes.flatMap((size) => {
    const smaller = divide(center, size);
    const steps = smaller && divide(smaller, step);
    return [multiply(center, size), steps && multiply(floor(steps), step)];
  });
  return [...multiples, ...sizes.flatMap((size) => [size, subtract(fromNumber(0), size)]), fromNumber(0)];
}

function distinct(values: readonly Decimal[]): readonly Decimal[] {
  return values
    .toSorted(compare)
    .filter((value, index, sorted) => index === 0 || compare(value, sorted[index - 1]!) !== 0);
}

function compareDistance(current: Decimal | null, a: Decimal, b: Decimal): number {
  return current === null
    ? compare(a, b)
    : compare(distance(current, a), distance(current, b)) || compare(a, b);
}

function distance(a: Decimal, b: Decimal): Decimal {
  const difference = subtract(a, b);
  if (difference === null) return fromNumber(Number.MAX_SAFE_INTEGER);
  return difference.coefficient < 0n ? { ...difference, coefficient: -difference.coefficient } : difference;
}

/** The scale of a type whose values are one number; null for other types. */
export function measureOf(type: Type): { readonly kind: Quantity | 'money'; readonly range: Range } | null {
  switch (type.kind) {
    case 'money':
    case 'number':
    case 'integer':
    case 'date':
    case 'timestamp':
    case 'datetime':
    case 'duration':
      return { kind: type.kind, range: type.range };
    default:
      return null;
  }
}
