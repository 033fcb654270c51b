// Membership: among the elements of a request's lists one by one, in declared lists through sets that are made once.

import type { List } from '../model/policy.ts';
import type { Value } from '../model/value.ts';
import { isDecimal, isMoney } from '../program/condition.ts';
import { plainNumber } from '../program/plain.ts';
import type { Decimal } from '../value/decimal.ts';
import { formatDecimal } from '../value/decimal.ts';
import { formatIp, type Ip } from '../value/ip.ts';
import { fold } from '../value/text.ts';
import { equal, isAmount, type Kleene, type Maybe, type Quantity, type Scalar } from './quantity.ts';

/**
 * Whether some element is the same as the subject, by Kleene's `or`; a null element equals nothing, a list that is
 * not known makes it unknown.
 */
export function among<T>(
  elements: Maybe<readonly Maybe<T>[]>,
  subject: Maybe<T>,
  same: (a: T, b: T) => Kleene,
): Kleene {
  if (elements == null) return 1;
  let result: Kleene = 0;
  for (const element of elements) {
    if (element === null) continue;
    const truth = element === undefined || subject == null ? 1 : same(element, subject);
    if (truth === 2) return 2;
    if (truth === 1) result = 1;
  }
  return result;
}

/** Equality of texts and truth values. */
export function sameScalar(a: string | boolean, b: string | boolean): Kleene {
  return a === b ? 2 : 0;
}

export function sameIp(a: Ip, b: Ip): Kleene {
  return a.family === b.family && a.bits === b.bits ? 2 : 0;
}

/** A declared list made ready: texts as a set, all else as a test. */
export interface PreparedList {
  /** Texts and truth values as they are compared, folded where the list ignores case; null for other types. */
  readonly scalars: ReadonlySet<string | boolean> | null;
  /** For lists of all other types; the subject is known. */
  readonly test: (subject: Quantity | Ip) => Kleene;
}

/** A list of one or more entries. */
export function prepareList(list: List): PreparedList {
  switch (list.type.kind) {
    case 'text':
    case 'boolean': {
      const entries = list.entries as readonly (string | boolean)[];
      const folded = (entry: string | boolean) => (typeof entry === 'string' ? fold(entry) : entry);
      return { scalars: new Set(list.ignoringCase ? entries.map(folded) : entries), test: () => 1 };
    }
    case 'ip': {
      const addresses = new Set(list.entries.map((entry) => formatIp(entry as Ip)));
      return { scalars: null, test: (ip) => (addresses.has(formatIp(ip as Ip)) ? 2 : 0) };
    }
    default: {
      const test = quantityTest(list.entries);
      return { scalars: null, test: (subject) => test(subject as Quantity) };
    }
  }
}

/** The entries of a list of text, folded, for `mentions`. */
export function foldedEntries(list: List): readonly string[] {
  return list.entries.map((entry) => fold(entry as string));
}

/** Exact numbers by their JavaScript number where they have one, else by their text. */
interface NumericSet {
  readonly numbers: Set<number>;
  readonly texts: Set<string>;
}

function quantityTest(entries: readonly Value[]): (subject: Quantity) => Kleene {
  const scalars = entries.map(toScalar);
  const byCurrency = new Map<string | null, NumericSet>();
  for (const scalar of scalars) addTo(byCurrency, scalar);
  const others = byCurrency.size > 1 ? 1 : 0;
  return (subject) => {
    const isSingle = typeof subject !== 'object' || !('low' in subject);
    const set = isSingle ? byCurrency.get(isAmount(subject) ? subject.currency : null) : undefined;
    // Intervals, foreign currencies and the sum of nothing have to be compared one by one.
    if (!isSingle || set === undefined) return among<Quantity>(scalars, subject, equal);
    return hasNumber(set, isAmount(subject) ? subject.amount : (subject as number | Decimal)) ? 2 : others;
  };
}

function toScalar(value: Value): Scalar {
  if (isDecimal(value)) return plainNumber(value) ?? value;
  if (isMoney(value)) return { amount: plainNumber(value.amount) ?? value.amount, currency: value.currency };
  throw new TypeError('a list holds texts, truth values, addresses and quantities');
}

function addTo(byCurrency: Map<string | null, NumericSet>, scalar: Scalar): void {
  const [currency, number] = isAmount(scalar) ? [scalar.currency, scalar.amount] : [null, scalar];
  const set = byCurrency.get(currency) ?? { numbers: new Set(), texts: new Set() };
  byCurrency.set(currency, set);
  if (typeof number === 'number') set.numbers.add(number);
  else set.texts.add(formatDecimal(number));
}

function hasNumber(set: NumericSet, value: number | Decimal): boolean {
  const number = typeof value === 'number' ? value : plainNumber(value);
  if (number !== null) return set.numbers.has(number);
  return set.texts.has(formatDecimal(value as Decimal));
}
