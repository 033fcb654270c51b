// Joins two declarations of one action into one shape that admits every payload of either side, and lists the
// places in which they differ. INVARIANT: what cannot be joined has the type `any`, so that the formula
// assumes nothing about it.

import { descendants } from '../../language/model/children.ts';
import { haveSameCurrency } from '../../language/model/currency.ts';
import type { Expression, FieldRead } from '../../language/model/expression.ts';
import { isJsonObject, type Json } from '../../language/model/json.ts';
import type { Action, PolicySet } from '../../language/model/policy.ts';
import { type Facts, valueAt } from '../../language/model/request.ts';
import { allSigners } from '../../language/model/signers.ts';
import type { Field, ListType, Range, Shape, Slot, TextType, Type } from '../../language/model/type.ts';
import { compare, type Decimal } from '../../language/value/decimal.ts';
import { memo } from '../../language/value/memo.ts';
import { textVectors } from '../cells/text-vectors.ts';
import { isAlike } from './declarations.ts';
import type { BothSides } from './joint-set.ts';

/** A field that the two sides declare differently. */
export interface ShapeDifference {
  readonly steps: readonly string[];
  /** The field on each side; null when the side does not declare it. */
  readonly field: BothSides<Field | null>;
  /** Whether the record around the field admits undeclared fields. */
  readonly isOpen: BothSides<boolean>;
}

/** A record that admits undeclared fields on one side alone. */
export interface OpenDifference {
  readonly steps: readonly string[];
  readonly isOpen: BothSides<boolean>;
}

export interface ShapeDifferences {
  readonly fields: readonly ShapeDifference[];
  readonly records: readonly OpenDifference[];
}

export function jointActions(before: PolicySet, after: PolicySet): ReadonlyMap<string, Action> {
  const keys = new Set([...before.actions.keys(), ...after.actions.keys()]);
  return new Map([...keys].map((key) => [key, jointAction(before.actions.get(key), after.actions.get(key))]));
}

function jointAction(before: Action | undefined, after: Action | undefined): Action {
  if (before === undefined || after === undefined) return (after ?? before)!;
  return isAlike(before.shape, after.shape)
    ? after
    : { ...after, shape: jointShape(before.shape, after.shape) };
}

function jointShape(before: Shape, after: Shape): Shape {
  const fields = namesOf(before, after).map((name): Field => {
    const [old, now] = [fieldOf(before, name), fieldOf(after, name)];
    if (old === null || now === null) return { ...(now ?? old)!, isOptional: true };
    return {
      name,
      type: jointType(old.type, now.type) ?? { kind: 'any' },
      isNullable: old.isNullable || now.isNullable,
      isOptional: old.isOptional || now.isOptional,
      isSecret: old.isSecret || now.isSecret,
      ...allSigners(old, now),
    };
  });
  return { fields, isOpen: before.isOpen || after.isOpen };
}

function namesOf(before: Shape, after: Shape): readonly string[] {
  return [...new Set([...after.fields, ...before.fields].map(({ name }) => name))];
}

function fieldOf({ fields }: Shape, name: string): Field | null {
  return fields.find((field) => field.name === name) ?? null;
}

/** Null when no type but `any` admits the values of both types. */
function jointType(before: Type, after: Type): Type | null {
  if (isAlike(before, after)) return after;
  switch (before.kind) {
    case 'number':
    case 'integer':
      return after.kind === 'number' || after.kind === 'integer'
        ? {
            kind: after.kind === before.kind ? after.kind : 'number',
            range: hull(before.range, after.range),
          }
        : null;
    case 'duration':
    case 'date':
    case 'timestamp':
    case 'datetime':
      return after.kind === before.kind ? { ...after, range: hull(before.range, after.range) } : null;
    case 'money':
      return after.kind === 'money' && haveSameCurrency(after, before)
        ? { ...after, range: hull(before.range, after.range) }
        : null;
    case 'text':
      return after.kind === 'text' && after.of === before.of ? jointText(before, after) : null;
    case 'list': {
      if (after.kind !== 'list') return null;
      const element = jointSlot(before.element, after.element);
      return element === null ? null : { kind: 'list', element, length: hull(before.length, after.length) };
    }
    case 'record':
      return after.kind === 'record'
        ? { kind: 'record', shape: jointShape(before.shape, after.shape) }
        : null;
    case 'boolean':
    case 'ip':
    case 'any':
      return null;
  }
}

function jointSlot(before: Slot, after: Slot): Slot | null {
  const type = jointType(before.type, after.type);
  return type === null
    ? null
    : {
        ...after,
        type,
        isNullable: before.isNullable || after.isNullable,
        ...allSigners(before, after),
      };
}

function jointText(before: TextType, after: TextType): TextType {
  const values =
    before.values === null || after.values === null
      ? null
      : [...new Set([...before.values, ...after.values])];
  return {
    ...after,
    values,
    patterns: after.patterns.filter((pattern) => before.patterns.includes(pattern)),
    length: hull(before.length, after.length),
  };
}

/**
 * The range from the lower of the two lows to the higher of the two highs; null as an end means unbounded.
 */
function hull(before: Range, after: Range): Range {
  const outer = (a: Decimal | null, b: Decimal | null, sign: number): Decimal | null =>
    a === null || b === null ? null : compare(a, b) * sign >= 0 ? a : b;
  return { low: outer(before.low, after.low, -1), high: outer(before.high, after.high, 1) };
}

export function shapeDifferences(
  before: Shape,
  after: Shape,
  steps: readonly string[] = [],
): ShapeDifferences {
  const isOpen = { before: before.isOpen, after: after.isOpen };
  const differences: ShapeDifference[] = [];
  const inner: ShapeDifferences[] = [];
  for (const name of namesOf(before, after)) {
    const field = { before: fieldOf(before, name), after: fieldOf(after, name) };
    const path = [...steps, name];
    if (differs(field)) differences.push({ steps: path, field, isOpen });
    const [old, now] = [field.before?.type, field.after?.type];
    if (old?.kind === 'record' && now?.kind === 'record')
      inner.push(shapeDifferences(old.shape, now.shape, path));
  }
  return {
    fields: [...differences, ...inner.flatMap(({ fields }) => fields)],
    records: [
      ...(before.isOpen === after.isOpen ? [] : [{ steps, isOpen }]),
      ...inner.flatMap(({ records }) => records),
    ],
  };
}

/**
 * Whether the sides admit different values in the field. Two records do not count; their fields are compared
 * one by one.
 */
function differs({ before, after }: BothSides<Field | null>): boolean {
  if (before === null || after === null) return true;
  if (before.isOptional !== after.isOptional || before.isNullable !== after.isNullable) return true;
  const areRecords = before.type.kind === 'record' && after.type.kind === 'record';
  return !areRecords && !isAlike(before.type, after.type);
}

/**
 * How JSON writes the values of a type. `writingOf` returns null for a type whose values may be written in
 * any way.
 */
type JsonForm = 'boolean' | 'string' | 'number' | 'list' | 'record';

function writingOf({ kind }: Type): JsonForm | null {
  switch (kind) {
    case 'boolean':
    case 'list':
    case 'record':
      return kind;
    case 'number':
    case 'integer':
    case 'duration':
    case 'money':
      return 'number';
    case 'text':
    case 'date':
    case 'timestamp':
    case 'datetime':
    case 'ip':
      return 'string';
    case 'any':
      return null;
  }
}

/**
 * Whether each field of the payload has the form in which the condition reads it. If not, the side that the
 * condition belongs to refuses the payload before any rule.
 */
export function isReadable(condition: Expression, { payload }: Facts): boolean {
  return payloadReads(condition).every(({ type, steps }) => {
    const value = valueAt(payload, steps);
    return value === undefined || isWrittenAs(type, value as Json);
  });
}

const knownReads = new WeakMap<Expression, readonly PayloadRead[]>();

type PayloadRead = FieldRead & Expression;

function payloadReads(condition: Expression): readonly PayloadRead[] {
  return memo(knownReads, condition, () =>
    descendants(condition).filter(
      (part): part is PayloadRead => part.kind === 'field' && part.root === 'payload',
    ),
  );
}

/** Whether JSON writes the value like the type's values; null always counts. */
function isWrittenAs(type: Type, value: Json): boolean {
  if (value === null) return true;
  switch (type.kind) {
    case 'any':
      return true;
    case 'list':
      return Array.isArray(value) && value.every((one: Json) => isWrittenAs(type.element.type, one));
    case 'record':
      return (
        isJsonObject(value) &&
        type.shape.fields.every(
          ({ name, type: own }) => !Object.hasOwn(value, name) || isWrittenAs(own, value[name] as Json),
        )
      );
    default:
      return typeof value === writingOf(type);
  }
}

/** Whether no value but null belongs to both types. */
export function areDisjoint(one: Type, other: Type): boolean {
  const [own, others] = [writingOf(one), writingOf(other)];
  return own !== null && others !== null && own !== others;
}

/** Whether every value of `one` is known to belong to `other`. */
export function impliesType(one: Type, other: Type): boolean {
  if (other.kind === 'any' || isAlike(one, other)) return true;
  if (other.kind === 'text') return isFreeText(other) ? writingOf(one) === 'string' : impliesText(one, other);
  if (other.kind === 'list') return one.kind === 'list' && impliesList(one, other);
  return other.kind === 'number' && one.kind === 'integer' && isWithin(one.range, other.range);
}

function isFreeText({ of, values, patterns, length }: TextType): boolean {
  return (
    of === 'string' && values === null && patterns.length === 0 && length.low === null && length.high === null
  );
}

function impliesList(one: ListType, other: ListType): boolean {
  const [element, others] = [one.element, other.element];
  return (
    isWithin(one.length, other.length) &&
    (others.isNullable || !element.isNullable) &&
    impliesType(element.type, others.type)
  );
}

/** Compares patterns by stepping their automata together; false when that does not decide the question. */
function impliesText(one: Type, other: TextType): boolean {
  if (one.kind !== 'text' || one.of !== other.of) return false;
  if (one.values !== null || other.values !== null || !isWithin(one.length, other.length)) return false;
  const vectors = textVectors([...one.patterns, ...other.patterns]);
  const count = one.patterns.length;
  return (
    vectors?.every(
      ({ answers }) => answers.slice(0, count).includes(false) || !answers.slice(count).includes(false),
    ) === true
  );
}

function isWithin(inner: Range, outer: Range): boolean {
  const isLow = outer.low === null || (inner.low !== null && compare(outer.low, inner.low) <= 0);
  return isLow && (outer.high === null || (inner.high !== null && compare(inner.high, outer.high) <= 0));
}
