// Turns the values of one place of a payload into tests: one that is true of every value that was seen, and one
// that is true of the rare ones. INVARIANT: without enough values, or if they are too different, there is no
// test; a test excludes no value that it was made from, except texts that no policy should hold.

import type { Json } from '../../language/model/json.ts';
import type { MoneyType, Slot, TextType } from '../../language/model/type.ts';
import { compare, formatDecimal, fromNumber } from '../../language/value/decimal.ts';
import {
  classify,
  groupsOf,
  isClosed,
  isLeftOut,
  isOneOf,
  type MembershipTest,
  oneOf,
  type Test,
  type TextOf,
  type ValueGroup,
  valuesMin,
} from './value-classes.ts';

export interface Lesson {
  /** True of every value that was seen; null if the place is not restricted. */
  readonly seen: Test | null;
  /** True of the rare values among them; null if there are none. */
  readonly rare: Test | null;
  /** How many values are rare. */
  readonly rareCount: number;
  /** What the values have in common, such as `12 values`; or why the place is not restricted. */
  readonly basis: string;
}

export function unrestricted(basis: string): Lesson {
  return { seen: null, rare: null, rareCount: 0, basis };
}

/** Values that are seen at most this often are rare. */
export function rareMax(total: number): number {
  return Math.max(1, Math.floor(total / 1_000));
}

/** The values are present, not null, and as rules see them. */
export function learn({ type, ...slot }: Slot, values: readonly Json[], membership: MembershipTest): Lesson {
  if (slot.isSecret) return unrestricted('secret');
  if (slot.isSigned) return unrestricted('signed');
  if (values.length < valuesMin) return unrestricted(`only ${values.length} seen`);
  switch (type.kind) {
    case 'boolean':
      return learnBoolean(values as readonly boolean[]);
    case 'text':
      return learnText(type, values as readonly string[], membership);
    case 'number':
    case 'integer':
      return learnNumbers(type.range, values as readonly number[]);
    case 'ip':
      return learnAddresses(values as readonly string[]);
    case 'date':
    case 'timestamp':
    case 'datetime':
      return unrestricted('times');
    case 'money':
    case 'list':
    case 'record':
    case 'duration':
    case 'any':
      return unrestricted('any value');
  }
}

function learnBoolean(values: readonly boolean[]): Lesson {
  const [first] = values as readonly [boolean, ...boolean[]];
  if (values.some((value) => value !== first)) return unrestricted('both true and false');
  const seen: Test = (subject) => (first ? subject : `not ${subject}`);
  return { seen, rare: null, rareCount: 0, basis: `always ${first}` };
}

function learnText(
  { of, values: declared }: TextType,
  values: readonly string[],
  membership: MembershipTest,
): Lesson {
  const distinct = new Set(values).size;
  const found = of === 'network' ? null : classify(of as TextOf, values, membership);
  if (found === null) return unrestricted(`${distinct} different texts`);
  const { noun, testOf } = found;
  const groups = found.groups.filter((group) => !isLeftOut(group));
  const leftOut = found.groups.length - groups.length;
  const rare = groups.filter(({ count }) => count <= rareMax(values.length));
  const isDeclared = noun === 'values' && declared !== null && declared.length === groups.length;
  return {
    seen: isDeclared ? null : testOf(groups, 'seen'),
    rare: rare.length === 0 || rare.length === groups.length ? null : testOf(rare, 'rare'),
    rareCount: rare.reduce((sum, { count }) => sum + count, 0),
    basis: `${groupsText(noun, groups)}${leftOut === 0 ? '' : `; refused: ${leftOut} that no policy should hold`}`,
  };
}

function groupsText(noun: string, groups: readonly ValueGroup[]): string {
  const classes = groups.filter(({ isClass }) => isClass).length;
  const others = groups.length - classes;
  const own = `${classes} ${classes === 1 ? singular(noun) : noun}`;
  return others === 0 ? own : `${own} and ${others} other ${others === 1 ? 'value' : 'values'}`;
}

function singular(noun: string): string {
  return noun === 'addresses' ? 'address' : noun.slice(0, -1);
}

const addressesMax = 256;

function learnAddresses(values: readonly string[]): Lesson {
  const groups = groupsOf(values, (value) => value);
  if (!isClosed(groups, values.length, addressesMax))
    return unrestricted(`${groups.length} different addresses`);
  const list = oneOf(groups.map(({ name }) => name));
  const seen: Test = (subject) => `${subject} ${groups.length === 1 ? '==' : 'in'} ${list}`;
  return { seen, rare: null, rareCount: 0, basis: groupsText('addresses', groups) };
}

// ---- amounts

/** The fewest numbers of which the largest can be rare, and how much larger than the others they are. */
const outliersFrom = 100;
const usualShare = 0.99;
const outlierTimes = 2;

interface Spread {
  readonly low: number;
  readonly high: number;
  /** The largest usual number; null if no number is much larger than the others. */
  readonly usualHigh: number | null;
  readonly outliers: number;
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const usual = sorted[Math.ceil(usualShare * sorted.length) - 1]!;
  const isFar = sorted.length >= outliersFrom && usual > 0 && high > outlierTimes * usual;
  if (!isFar) return { low, high, usualHigh: null, outliers: 0 };
  return { low, high, usualHigh: usual, outliers: sorted.filter((one) => one > usual).length };
}

function learnNumbers({ low, high }: MoneyType['range'], values: readonly number[]): Lesson {
  const spread = spreadOf(values);
  const isDeclared =
    low !== null &&
    high !== null &&
    compare(low, fromNumber(spread.low)) === 0 &&
    compare(high, fromNumber(spread.high)) === 0;
  const seen: Test = (subject) => rangeTest(subject, spread, '');
  const { usualHigh, outliers } = spread;
  return {
    seen: isDeclared ? null : seen,
    rare: usualHigh === null ? null : (subject) => `${subject} > ${numeral(usualHigh)}`,
    rareCount: outliers,
    basis: rangeText(spread, ''),
  };
}

function rangeTest(subject: string, { low, high }: Spread, unit: string): string {
  return low === high
    ? `${subject} == ${numeral(low)}${unit}`
    : `${subject} in ${numeral(low)}${unit}..${numeral(high)}${unit}`;
}

function rangeText({ low, high }: Spread, unit: string): string {
  return low === high ? `${numeral(low)}${unit}` : `${numeral(low)}${unit} to ${numeral(high)}${unit}`;
}

function numeral(value: number): string {
  return formatDecimal(fromNumber(value));
}

/** An amount with its currency. */
export interface Amount {
  readonly amount: number;
  readonly currency: string;
}

/** The place of the currency of an amount; null if its declaration names only one. */
export type CurrencyPlace = string | null;

export function learnAmounts(amounts: readonly Amount[], currency: CurrencyPlace): Lesson {
  if (amounts.length < valuesMin) return unrestricted(`only ${amounts.length} seen`);
  const byCurrency = [...Map.groupBy(amounts, (one) => one.currency)]
    .map(([code, own]) => ({ code, spread: spreadOf(own.map(({ amount }) => amount)) }))
    .toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const inCurrency = (code: string, test: string): string =>
    currency === null ? test : `${isOneOf(currency, [code])} and ${test}`;
  const anyOf = (tests: readonly string[]): string => tests.map((test) => `(${test})`).join(' or ');
  const far = byCurrency.filter(({ spread }) => spread.usualHigh !== null);
  const rare: Test = (subject) =>
    anyOf(
      far.map(({ code, spread }) => inCurrency(code, `${subject} > ${numeral(spread.usualHigh!)} ${code}`)),
    );
  return {
    seen: (subject) =>
      anyOf(byCurrency.map(({ code, spread }) => inCurrency(code, rangeTest(subject, spread, ` ${code}`)))),
    rare: far.length === 0 ? null : rare,
    rareCount: far.reduce((sum, { spread }) => sum + spread.outliers, 0),
    basis: byCurrency.map(({ code, spread }) => rangeText(spread, ` ${code}`)).join(', '),
  };
}
