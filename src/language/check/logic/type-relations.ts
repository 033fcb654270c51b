// Which types an operator may combine: what can be compared, ordered and shown, and the common type of two
// values.

import type { Type } from '../../model/type.ts';
import { moneyType } from './literals.ts';
import { commonKind, mergeTypes } from './merge.ts';

/** Numbers and integers are one family; every other kind is a family of its own. */
function family(type: Type): string {
  return type.kind === 'integer' ? 'number' : type.kind;
}

export function isNumeric(type: Type): boolean {
  return family(type) === 'number';
}

/**
 * Whether values of the types can be compared: the two are of one family, and are no lists, records or `any`.
 */
export function areComparable(a: Type, b: Type): boolean {
  return isComparable(a) && family(a) === family(b);
}

/**
 * Whether the two types spell equal values alike, so that comparing the texts compares the values. Always
 * true for types that are no text.
 */
export function areSpeltAlike(a: Type, b: Type): boolean {
  return a.kind !== 'text' || b.kind !== 'text' || commonKind(a, b) !== null;
}

export function isComparable(type: Type): boolean {
  return type.kind !== 'list' && type.kind !== 'record' && type.kind !== 'any';
}

/**
 * Whether values of the type have an order: numbers, money, durations, dates and times have, text and
 * enumerations have not.
 */
export function isOrdered(type: Type): boolean {
  return isComparable(type) && type.kind !== 'boolean' && type.kind !== 'text' && type.kind !== 'ip';
}

/** Whether a reason may show a value of the type: a single value, not a list or a record. */
export function isPrintable(type: Type): boolean {
  return isComparable(type);
}

/** Returns the type of a value that may be of either type; null when there is no such type. */
export function commonType(a: Type, b: Type): Type | null {
  if (a.kind === 'money' && b.kind === 'money') return mergeTypes(a, b) ?? moneyType;
  if (a.kind !== b.kind && isNumeric(a) && isNumeric(b)) return a.kind === 'number' ? a : b;
  return mergeTypes(a, b);
}

/** Whether two enumerations have no value in common, so that they are never equal. */
export function areDisjoint(a: Type, b: Type): boolean {
  if (a.kind !== 'text' || b.kind !== 'text' || a.values === null || b.values === null) return false;
  const { values } = b;
  return !a.values.some((value) => values.includes(value));
}
