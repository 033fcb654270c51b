// What a value can be. Types are resolved: declared type names are gone, unions are split into an enumeration or a
// null marker, modifiers sit on the slot that holds a value.

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
  /** May be tested for presence and nothing else. */
  | { readonly kind: 'any' };

/** Free text, or text that the gate brings into the one canonical form of its kind. */
export type TextKind = 'string' | CanonicalKind;

export interface TextType {
  readonly kind: 'text';
  readonly of: TextKind;
  /** The values of an enumeration; null for free text. */
  readonly values: readonly string[] | null;
  /** RE2 sources, each of which the whole text must match. */
  readonly patterns: readonly string[];
  /** In code points. */
  readonly length: Range;
}

/**
 * Everything that is measured by one exact decimal: numbers as they are, durations in seconds, dates in days since
 * 1970-01-01, timestamps in seconds since 1970-01-01T00:00Z, datetimes in seconds of wall time since 1970-01-01T00:00.
 */
export interface QuantityType {
  readonly kind: Quantity;
  readonly range: Range;
}

export type Quantity = 'number' | 'integer' | 'duration' | 'date' | 'timestamp' | 'datetime';

export interface MoneyType {
  readonly kind: 'money';
  /** The field with the currency, for fields of a payload; null for values that carry their own. */
  readonly currencyField: string | null;
  /** The steps from the payload to the record that has this field, where it is not the record of the amount itself. */
  readonly currencyRecord?: readonly string[];
  readonly range: Range;
}

export interface ListType {
  readonly kind: 'list';
  readonly element: Slot;
  /** In elements. */
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
  /** Never stored, shown or interpolated in clear. */
  readonly isSecret: boolean;
  /** Known to rules only where somebody vouches for it. */
  readonly isSigned: boolean;
  /** Who has to, where it is signed: `signers` of `vouched.ts`; the agent alone where it is left out. */
  readonly signers?: readonly string[];
}

export interface Field extends Slot {
  readonly name: string;
  readonly isOptional: boolean;
}

export interface Shape {
  readonly fields: readonly Field[];
  /** Keys that are not declared pass, unseen by every policy. */
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

/** Text that is one of `values`. */
export function enumeration(values: readonly string[]): TextType {
  return { ...anyText, values };
}

/** A list of plain elements of one type, of any length. */
export function listOf(type: Type): ListType {
  return {
    kind: 'list',
    element: { type, isNullable: false, isSecret: false, isSigned: false },
    length: unbounded,
  };
}
