// Sets of the values that a condition leaves: ranges of numbers, and texts that are listed or excluded.
// Computes what two sets share, and whether that is nothing.

import { compare, type Decimal } from '../../value/decimal.ts';

/**
 * A set of values: a range of numbers, each end included or not, or texts, either those listed or all others.
 */
export type Values =
  | { readonly kind: 'range'; readonly low: End | null; readonly high: End | null }
  | { readonly kind: 'texts'; readonly texts: ReadonlySet<string>; readonly isComplement: boolean };

export interface End {
  readonly value: Decimal;
  readonly isOpen: boolean;
}

/** Returns the values that are in both sets. */
export function intersection(a: Values, b: Values): Values {
  if (a.kind === 'range' && b.kind === 'range') {
    return { kind: 'range', low: tighter(a.low, b.low, 1), high: tighter(a.high, b.high, -1) };
  }
  if (a.kind === 'texts' && b.kind === 'texts') return textIntersection(a, b);
  return a;
}

function tighter(a: End | null, b: End | null, direction: 1 | -1): End | null {
  if (a === null || b === null) return a ?? b;
  const order = compare(a.value, b.value);
  if (order === 0) return a.isOpen ? a : b;
  return order === direction ? a : b;
}

export type Texts = Extract<Values, { kind: 'texts' }>;

function textIntersection(a: Texts, b: Texts): Texts {
  if (a.isComplement && b.isComplement) {
    return a.texts.size === 0
      ? b
      : b.texts.size === 0
        ? a
        : { ...a, texts: new Set([...a.texts, ...b.texts]) };
  }
  const [listed, other] = a.isComplement ? [b, a] : [a, b];
  if (other.isComplement && other.texts.size === 0) return listed;
  // The smaller of two lists is iterated, because enumerations may be long.
  if (!other.isComplement && other.texts.size < listed.texts.size) return textIntersection(other, listed);
  let isWhole = true;
  for (const text of listed.texts) isWhole &&= other.texts.has(text) !== other.isComplement;
  if (isWhole) return listed;
  const texts = [...listed.texts].filter((text) => other.texts.has(text) !== other.isComplement);
  return { kind: 'texts', texts: new Set(texts), isComplement: false };
}

/** Whether no value is in both sets, without computing their intersection. */
export function areDisjointSets(a: Values, b: Values): boolean {
  if (a.kind !== 'texts' || b.kind !== 'texts') return isEmpty(intersection(a, b));
  if (a.isComplement && b.isComplement) return false;
  if (a.texts === b.texts) return a.isComplement !== b.isComplement || a.texts.size === 0;
  const [listed, other] = a.isComplement ? [b, a] : [a, b];
  for (const text of listed.texts) if (other.texts.has(text) !== other.isComplement) return false;
  return true;
}

/** Whether the set holds no value. */
export function isEmpty(values: Values): boolean {
  if (values.kind === 'texts') return !values.isComplement && values.texts.size === 0;
  if (values.low === null || values.high === null) return false;
  const order = compare(values.low.value, values.high.value);
  return order > 0 || (order === 0 && (values.low.isOpen || values.high.isOpen));
}

/** One statement of a condition about one value. */
export interface DomainAtom {
  /**
   * What the statement is about: a field, the length of a field, an amount in one currency, or a condition as
   * a whole.
   */
  readonly key: string;
  readonly values: Values;
  /** All values that are possible. */
  readonly all: Values;
  /** Whether the value can be unknown; a condition that is not false is then not necessarily true. */
  readonly mayBeUnknown: boolean;
}
