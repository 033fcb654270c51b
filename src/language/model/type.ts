// The types of values. Types are resolved: names of declared types are replaced by their types, unions by an
// enumeration or a null marker; modifiers are on the slot that holds a value.

import type { CanonicalKind } from '../value/canonical-text.ts';
import type { Decimal } from '../value/decimal.ts';

export type Type =
  | { readonly kind: 'boolean' }
  | TextType
  | QuantityType
  | MoneyType
  | { readonly kind: 'ip' }
  | ListType
  | { readonly kind: 'record'; readonly shape: Shape }
  /** May only be tested for presence. */
  | { readonly kind: 'any' };

/** Free text, or text that the gate brings into the canonical form of its kind. */
export type TextKind = 'string' | CanonicalKind;

export interface TextType {
  readonly kind: 'text';
  readonly of: TextKind;
  /** The values of an enumeration; null for free text. */
  readonly values: readonly string[] | null;
  /** RE2 sources, each of which the whole text must match. */
  readonly patterns: readonly string[];
  /** The range of the length, in code points. */
  readonly length: Range;
}

/**
 * A type whose values are one exact decimal each: numbers themselves, durations in seconds, dates in days
 * since 1970-01-01, timestamps in seconds since 1970-01-01T00:00Z, datetimes in seconds of local time since
 * 1970-01-01T00:00.
 */
export interface QuantityType {
  readonly kind: Quantity;
  readonly range: Range;
}

export type Quantity = 'number' | 'integer' | 'duration' | 'date' | 'timestamp' | 'datetime';

export interface MoneyType {
  readonly kind: 'money';
  /** The field with the currency, for amounts in a payload; null for values that carry their own currency. */
  readonly currencyField: string | null;
  /**
   * The steps from the payload to the record with this field; absent when it is the record of the amount
   * itself.
   */
  readonly currencyRecord?: readonly string[];
  readonly range: Range;
}

export interface ListType {
  readonly kind: 'list';
  readonly element: Slot;
  /** The range of the number of elements. */
  readonly length: Range;
}

/** A range with both ends included; null is an open end. */
export interface Range {
  readonly low: Decimal | null;
  readonly high: Decimal | null;
}

/** A place that holds a value: a field, or the elements of a list. */
export interface Slot {
  readonly type: Type;
  readonly isNullable: boolean;
  /** Whether the value is secret: never stored, shown or interpolated in clear. */
  readonly isSecret: boolean;
  /** Whether rules know the value only if its signers vouch for it. */
  readonly isSigned: boolean;
  /** Who must vouch for a signed value, as in `signersOf` of `signers.ts`; the agent alone when absent. */
  readonly signers?: readonly string[];
}

export interface Field extends Slot {
  readonly name: string;
  readonly isOptional: boolean;
}

export interface Shape {
  readonly fields: readonly Field[];
  /** Whether undeclared keys are accepted; no policy sees them. */
  readonly isOpen: boolean;
}

export const unbounded: Range = { low: null, high: null };

/** Free text without limits. */
export const anyText: TextType = {
  kind: 'text',
  of: 'string',
  values: null,
  patterns: [],
  length: unbounded,
};

export const booleanType: Type = { kind: 'boolean' };

export function quantity(kind: Quantity): QuantityType {
  return { kind, range: unbounded };
}

/** Returns the type of text that is one of `values`. */
export function enumeration(values: readonly string[]): TextType {
  return { ...anyText, values };
}

/** Returns the type of a list of plain elements of one type, of any length. */
export function listOf(type: Type): ListType {
  return {
    kind: 'list',
    element: { type, isNullable: false, isSecret: false, isSigned: false },
    length: unbounded,
  };
}
