// One type from the types that several actions give a field, or the branches of an expression. Types are equal when
// they are after dropping ranges, joining enumerations and taking kinds of text as text; the merged type admits all
// that the merged ones admit.

import type { Field, Range, Shape, Slot, TextType, Type } from '../../model/type.ts';
import { compare, type Decimal } from '../../value/decimal.ts';

/** The type of a field in error, told by identity: what reads it draws no second diagnostic. */
export const failedType: Type = { kind: 'any' };

/** The type of values of either type; null when they are of different types. */
export function mergeTypes(a: Type, b: Type): Type | null {
  if (a === failedType || b === failedType) return failedType;
  if (a.kind === 'text' && b.kind === 'text') return differInCase(a, b) ? null : mergeTexts(a, b);
  if (a.kind === 'money' && b.kind === 'money') {
    return a.currencyField === b.currencyField ? { ...a, range: hull(a.range, b.range) } : null;
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
    isSigned: a.isSigned || b.isSigned,
  };
}

/** Fields of either shape; one that is missing in the other becomes optional. */
function mergeShapes(a: Shape, b: Shape): Shape | null {
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

/** Letters of one are folded, and a pattern or text beside both would be right for one of them alone. */
function differInCase(a: TextType, b: TextType): boolean {
  if (a.of === b.of || a.values !== null || b.values !== null) return false;
  return a.of === 'path ignoring case' || b.of === 'path ignoring case';
}

function mergeTexts(a: TextType, b: TextType): TextType {
  const isJoined = a.values !== null && b.values !== null;
  const samePatterns = JSON.stringify(a.patterns) === JSON.stringify(b.patterns);
  return {
    kind: 'text',
    of: a.of === b.of ? a.of : 'string',
    values: isJoined ? [...new Set([...a.values, ...b.values])] : null,
    patterns: samePatterns && !isJoined && a.values === b.values ? a.patterns : [],
    length: a.values === b.values ? hull(a.length, b.length) : { low: null, high: null },
  };
}

/** The smallest range that holds both. */
function hull(a: Range, b: Range): Range {
  const widest = (x: Decimal | null, y: Decimal | null, direction: -1 | 1): Decimal | null =>
    x === null || y === null ? null : compare(x, y) === direction ? x : y;
  return { low: widest(a.low, b.low, -1), high: widest(a.high, b.high, 1) };
}
