// Tests membership: element by element for the lists of a request, through sets that are made once for
// declared lists.

import type { List } from '../../model/policy.ts';
import type { Value } from '../../model/value.ts';
import { isDecimal, isMoneyTerm } from '../../program/condition.ts';
import { plainNumber } from '../../program/plain.ts';
import type { Decimal } from '../../value/decimal.ts';
import { formatDecimal } from '../../value/decimal.ts';
import { formatIp, type Ip } from '../../value/ip.ts';
import { fold } from '../../value/text.ts';
import {
  equalQuantities,
  isAmount,
  type Kleene,
  type OptionalValue,
  type RuntimeQuantity,
  type RuntimeScalar,
} from './quantity.ts';

/** Whether the first elements of a list are these texts; unknown when the list is unknown. */
export function beginsWith(list: OptionalValue<readonly unknown[]>, texts: readonly string[]): Kleene {
  if (list == null) return 1;
  return texts.every((text, at) => list[at] === text) ? 2 : 0;
}

/**
 * Whether some element equals the subject, by Kleene's `or`. A null element equals nothing; an unknown list
 * makes the result unknown.
 */
export function among<T>(
  elements: OptionalValue<readonly OptionalValue<T>[]>,
  subject: OptionalValue<T>,
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

/** Equality of texts and of truth values. */
export function sameScalar(a: string | boolean, b: string | boolean): Kleene {
  return a === b ? 2 : 0;
}

export function sameIp(a: Ip, b: Ip): Kleene {
  return a.family === b.family && a.bits === b.bits ? 2 : 0;
}

/** A prepared form of a declared list: a set for texts and truth values, a test for other types. */
export interface PreparedList {
  /** The texts and truth values to compare with, folded when the list ignores case; null for other types. */
  readonly scalars: ReadonlySet<string | boolean> | null;
  /** The test for lists of other types. Its subject must be known. */
  readonly test: (subject: RuntimeQuantity | Ip) => Kleene;
}

/** Prepares a list of one or more entries. */
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
      return { scalars: null, test: (subject) => test(subject as RuntimeQuantity) };
    }
  }
}

/** Returns the folded entries of a list of text, for `mentions`. */
export function foldedEntries(list: List): readonly string[] {
  return list.entries.map((entry) => fold(entry as string));
}

/** Exact numbers: by their JavaScript number when they have one, otherwise by their text. */
interface NumericSet {
  readonly numbers: Set<number>;
  readonly texts: Set<string>;
}

function quantityTest(entries: readonly Value[]): (subject: RuntimeQuantity) => Kleene {
  const scalars = entries.map(toScalar);
  const byCurrency = new Map<string | null, NumericSet>();
  for (const scalar of scalars) addTo(byCurrency, scalar);
  const others = byCurrency.size > 1 ? 1 : 0;
  return (subject) => {
    const isSingle = typeof subject !== 'object' || !('low' in subject);
    const set = isSingle ? byCurrency.get(isAmount(subject) ? subject.currency : null) : undefined;
    // Intervals, foreign currencies and the sum of nothing have to be compared one by one.
    if (!isSingle || set === undefined) return among<RuntimeQuantity>(scalars, subject, equalQuantities);
    return hasNumber(set, isAmount(subject) ? subject.amount : (subject as number | Decimal)) ? 2 : others;
  };
}

function toScalar(value: Value): RuntimeScalar {
  if (isDecimal(value)) return plainNumber(value) ?? value;
  if (isMoneyTerm(value))
    return { amount: plainNumber(value.amount) ?? value.amount, currency: value.currency };
  throw new TypeError('a list contains strings, booleans, addresses and quantities');
}

function addTo(byCurrency: Map<string | null, NumericSet>, scalar: RuntimeScalar): void {
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

/** A set of texts that can be asked whether it contains a text. */
export interface TextSet {
  has(text: string): boolean;
}

/**
 * Sets of texts that are written out in rules. Texts become numbers, sets become ascending numbers, and equal
 * sets are stored once.
 */
export interface TextSets {
  of(texts: readonly string[]): TextSet;
}

/** Creates the sets that a whole program shares. All of their numbers are in one array. */
export function createTextSets(): TextSets {
  const numbers = new Map<string, number>();
  const pool = new NumberPool();
  const pooled = new Map<number, PooledSet[]>();
  const numberOf = (text: string): number => {
    const before = numbers.get(text);
    if (before !== undefined) return before;
    numbers.set(text, numbers.size);
    return numbers.size - 1;
  };
  return {
    of: (texts) => {
      const own = Int32Array.from(new Set(texts.map(numberOf))).sort();
      const hash = hashOf(own);
      const alike = pooled.get(hash) ?? [];
      const before = alike.find((set) => set.equals(own));
      if (before !== undefined) return before;
      const set = new PooledSet(numbers, pool, own);
      alike.push(set);
      pooled.set(hash, alike);
      return set;
    },
  };
}

/** Hashes the numbers with FNV-1a. */
function hashOf(numbers: Int32Array): number {
  let hash = 0x811c9dc5;
  for (const number of numbers) hash = Math.imul(hash ^ number, 0x01000193);
  return hash;
}

/** A class, because it grows. */
class NumberPool {
  numbers = new Int32Array(64);
  count = 0;

  /** Appends the numbers and returns where they begin. */
  add(numbers: Int32Array): number {
    const from = this.count;
    this.count += numbers.length;
    if (this.count > this.numbers.length) {
      const larger = new Int32Array(Math.max(this.count, Math.ceil(1.5 * this.numbers.length)));
      larger.set(this.numbers.subarray(0, from));
      this.numbers = larger;
    }
    this.numbers.set(numbers, from);
    return from;
  }
}

/**
 * The most words of bits for each number of a set. Sets whose numbers are close enough together for that are
 * kept as bits.
 */
const wordsPerNumberMax = 2;
const bitsPerWord = 32;

/** A class, because there are many instances, and methods take no memory in each. */
class PooledSet implements TextSet {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #pool: NumberPool;
  readonly #lowest: number;
  /** The highest number minus the lowest. */
  readonly #span: number;
  readonly #isBits: boolean;
  readonly #from: number;
  readonly #to: number;

  /** The numbers in `own` must be ascending. */
  constructor(numbers: ReadonlyMap<string, number>, pool: NumberPool, ownNumbers: Int32Array) {
    this.#numbers = numbers;
    this.#pool = pool;
    this.#lowest = ownNumbers[0] ?? 0;
    this.#span = (ownNumbers.at(-1) ?? -1) - this.#lowest;
    const words = Math.floor(this.#span / bitsPerWord) + 1;
    this.#isBits = words <= wordsPerNumberMax * ownNumbers.length;
    const kept = this.#isBits ? bitsOf(ownNumbers, words) : ownNumbers;
    this.#from = pool.add(kept);
    this.#to = this.#from + kept.length;
  }

  equals(other: Int32Array): boolean {
    const { numbers } = this.#pool;
    const ownNumbers = numbers.subarray(this.#from, this.#to);
    const lowest = other[0] ?? 0;
    if (lowest !== this.#lowest || (other.at(-1) ?? -1) - lowest !== this.#span) return false;
    const kept = this.#isBits ? bitsOf(other, ownNumbers.length) : other;
    return ownNumbers.length === kept.length && ownNumbers.every((number, at) => number === kept[at]);
  }

  has(text: string): boolean {
    const number = this.#numbers.get(text);
    if (number === undefined) return false;
    const offset = number - this.#lowest;
    if (offset < 0 || offset > this.#span) return false;
    const { numbers } = this.#pool;
    if (this.#isBits) return ((numbers[this.#from + (offset >>> 5)]! >>> (offset & 31)) & 1) === 1;
    let low = this.#from;
    let high = this.#to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numbers[middle]! < number) low = middle + 1;
      else high = middle;
    }
    return low < this.#to && numbers[low] === number;
  }
}

/** Returns bits in which each number, minus the lowest, is the position of a set bit. */
function bitsOf(numbers: Int32Array, words: number): Int32Array {
  const bits = new Int32Array(words);
  for (const number of numbers) {
    const offset = number - numbers[0]!;
    bits[offset >>> 5]! |= 1 << (offset & 31);
  }
  return bits;
}
