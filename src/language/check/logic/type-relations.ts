// Which types may meet under an operator: what can be compared, ordered, shown, and the type of either of two values.

import type { Type } from '../../model/type.ts';
import { moneyType } from './literals.ts';
import { commonKind, mergeTypes } from './merge.ts';

/** Numbers and integers are one family; every other kind is its own. */
function family(type: Type): string {
  return type.kind === 'integer' ? 'number' : type.kind;
}

export function isNumeric(type: Type): boolean {
  return family(type) === 'number';
}

/** Whether values of the types can be compared at all: no lists, records or `any`, and one family. */
export function areComparable(a: Type, b: Type): boolean {
  return isComparable(a) && family(a) === family(b);
}

/** Whether two texts are spelt alike, so that equal ones mean the same; so is all that is no text. */
export function areSpeltAlike(a: Type, b: Type): boolean {
  return a.kind !== 'text' || b.kind !== 'text' || commonKind(a, b) !== null;
}

export function isComparable(type: Type): boolean {
  return type.kind !== 'list' && type.kind !== 'record' && type.kind !== 'any';
}

/** Numbers, money, durations, dates and times have an order; text and enumerations have none. */
export function isOrdered(type: Type): boolean {
  return isComparable(type) && type.kind !== 'boolean' && type.kind !== 'text' && type.kind !== 'ip';
}

/** Whether a reason may show it: one value, not a list or a record. */
export function isPrintable(type: Type): boolean {
  return isComparable(type);
}

/** The type of a value that may be of either; null when no type is. */
export function commonType(a: Type, b: Type): Type | null {
  if (a.kind === 'money' && b.kind === 'money') return mergeTypes(a, b) ?? moneyType;
  if (a.kind !== b.kind && isNumeric(a) && isNumeric(b)) return a.kind === 'number' ? a : b;
  return mergeTypes(a, b);
}

/** The values of two enumerations have none in common, so that no comparison of them can be true. */
export function areDisjoint(a: Type, b: Type): boolean {
  if (a.kind !== 'text' || b.kind !== 'text' || a.values === null || b.values === null) return false;
  const { values } = b;
  return !a.values.some((value) => values.includes(value));
}
