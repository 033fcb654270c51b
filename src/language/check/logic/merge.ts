// Merges the types that several actions give a field, or that branches of an expression have, into one type.
// Types are merged if they are equal apart from ranges and enumerations; the merged type admits all values of
// both. INVARIANT: texts of a kind are merged only with texts in the canonical form of that kind. A constant
// beside the merged type is then read in the form of all its values.

import { haveSameCurrency } from '../../model/currency.ts';
import { allSigners } from '../../model/signers.ts';
import type { Field, Range, Shape, Slot, TextKind, TextType, Type } from '../../model/type.ts';
import { canonicalText } from '../../value/canonical-text.ts';
import { compare, type Decimal } from '../../value/decimal.ts';

/** The type of a field in error, recognised by identity: a read of the field causes no second diagnostic. */
export const failedType: Type = { kind: 'any' };

/**
 * The shape of a record that was read in part, recognised by identity: every field of it counts as one in
 * error.
 */
export const failedShape: Shape = {
  fields: [
    { name: '', type: failedType, isOptional: false, isNullable: false, isSecret: false, isSigned: false },
  ],
  isOpen: true,
};

/** Returns the type of values of either type; null when the types differ. */
export function mergeTypes(a: Type, b: Type): Type | null {
  if (a === failedType || b === failedType) return failedType;
  if (a.kind === 'text' && b.kind === 'text') return mergeTexts(a, b);
  if (a.kind === 'money' && b.kind === 'money') {
    return haveSameCurrency(a, b) ? { ...a, range: hull(a.range, b.range) } : null;
  }
  if (a.kind === 'list' && b.kind === 'list') {
    const element = mergeSlots(a.element, b.element);
    return element === null ? null : { kind: 'list', element, length: hull(a.length, b.length) };
  }
  if (a.kind === 'record' && b.kind === 'record') {
    const shape = mergeShapes(a.shape, b.shape);
    return shape === null ? null : { kind: 'record', shape };
  }
  if (a.kind !== b.kind) return null;
  if ('range' in a && 'range' in b) return { ...a, range: hull(a.range, b.range) } as Type;
  return a;
}

export function mergeSlots(a: Slot, b: Slot): Slot | null {
  const type = mergeTypes(a.type, b.type);
  if (type === null) return null;
  return {
    type,
    isNullable: a.isNullable || b.isNullable,
    isSecret: a.isSecret || b.isSecret,
    ...allSigners(a, b),
  };
}

/** Merges the fields of both shapes; a field that only one shape has becomes optional. */
function mergeShapes(a: Shape, b: Shape): Shape | null {
  if (a === failedShape || b === failedShape) return failedShape;
  const fields: Field[] = [];
  for (const name of new Set([...a.fields, ...b.fields].map((field) => field.name))) {
    const first = a.fields.find((field) => field.name === name);
    const second = b.fields.find((field) => field.name === name);
    if (first === undefined || second === undefined) {
      fields.push({ ...(first ?? second)!, isOptional: true });
      continue;
    }
    const slot = mergeSlots(first, second);
    if (slot === null) return null;
    fields.push({ ...slot, name, isOptional: first.isOptional || second.isOptional });
  }
  return {
    fields: fields.toSorted((x, y) => (x.name < y.name ? -1 : 1)),
    isOpen: a.isOpen || b.isOpen,
  };
}

/**
 * Returns the kind whose form the texts of both types have; null when the two types may spell one value
 * differently.
 */
export function commonKind(a: TextType, b: TextType): TextKind | null {
  if (a.of === b.of) return a.of;
  if (isWebAddress(a.of) && isWebAddress(b.of)) return 'web_address';
  if (isSpeltAs(a, b.of)) return b.of;
  return isSpeltAs(b, a.of) ? a.of : null;
}

/** Whether the kind is a URL or a web address: the canonical form of a URL is also that of a web address. */
function isWebAddress(kind: TextKind): boolean {
  return kind === 'url' || kind === 'web_address';
}

/**
 * Whether all values of an enumeration are in the canonical form of a kind. A value that has no such form
 * passes, because no text of the kind equals it.
 */
function isSpeltAs({ of, values }: TextType, kind: TextKind): boolean {
  if (of !== 'string' || values === null) return false;
  return values.every((value) => (canonicalText(kind, value) ?? value) === value);
}

function mergeTexts(a: TextType, b: TextType): TextType | null {
  const of = commonKind(a, b);
  if (of === null) return null;
  const isJoined = a.values !== null && b.values !== null;
  const samePatterns = JSON.stringify(a.patterns) === JSON.stringify(b.patterns);
  return {
    kind: 'text',
    of,
    values: isJoined ? [...new Set([...a.values, ...b.values])] : null,
    patterns: samePatterns && !isJoined && a.values === b.values ? a.patterns : [],
    length: a.values === b.values ? hull(a.length, b.length) : { low: null, high: null },
  };
}

/** Returns the smallest range that holds both ranges. */
function hull(a: Range, b: Range): Range {
  const widest = (x: Decimal | null, y: Decimal | null, direction: -1 | 1): Decimal | null =>
    x === null || y === null ? null : compare(x, y) === direction ? x : y;
  return { low: widest(a.low, b.low, -1), high: widest(a.high, b.high, 1) };
}
