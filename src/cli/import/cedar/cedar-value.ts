// Values of Cedar expressions, written as expressions of Writ. INVARIANT: what has no exact counterpart throws
// `NoCounterpart`, with the reason for the report.

import type { CedarAttributes, CedarEntityType, CedarType } from './cedar-schema.ts';
import type { CedarEntityId, CedarEntityJson } from './cedar-wasm.ts';
import {
  always,
  and,
  type Condition,
  comparison,
  conditionText,
  constant,
  not,
  or,
  test,
} from './condition.ts';
import { type Environment, entityFields, fieldsOf, idField, tagsField } from './environment.ts';
import { text } from './texts.ts';

/** A part of a policy has no counterpart; the message says which and why. */
export class NoCounterpart extends Error {}

/** The least and the largest value of a whole number. */
export interface Bounds {
  readonly low: bigint;
  readonly high: bigint;
}

type ScalarType = Exclude<CedarType, { readonly kind: 'set' | 'record' | 'entity' }>;

/** A place in the payload, or a variable. */
interface Place {
  readonly path: string;
}

export type CedarValue =
  | {
      readonly kind: 'scalar';
      readonly type: ScalarType;
      readonly text: string;
      /** The condition under which the evaluation ends without an error. */
      readonly isDefined: Condition;
      readonly bounds?: Bounds;
      readonly literal?: string | boolean | bigint;
    }
  | {
      readonly kind: 'entity';
      readonly type: string;
      readonly id: string;
      readonly literal?: string;
      readonly place: Place | null;
    }
  | { readonly kind: 'record'; readonly attributes: CedarAttributes; readonly place: Place }
  | { readonly kind: 'record-literal'; readonly values: ReadonlyMap<string, CedarValue> }
  | { readonly kind: 'set'; readonly element: CedarType; readonly place: Place }
  | { readonly kind: 'set-literal'; readonly items: readonly CedarValue[] };

export type ScalarValue = Extract<CedarValue, { readonly kind: 'scalar' }>;
export type EntityValue = Extract<CedarValue, { readonly kind: 'entity' }>;

export function scalar(type: ScalarType['kind'], written: string): ScalarValue {
  return { kind: 'scalar', type: { kind: type }, text: written, isDefined: always };
}

export function entityIdOf(json: CedarEntityJson): CedarEntityId {
  return '__entity' in json ? json.__entity : json;
}

export function entityLiteral({ type, id }: CedarEntityId): EntityValue {
  return { kind: 'entity', type, id: text(id), literal: id, place: null };
}

const longBounds: Bounds = { low: -BigInt(Number.MAX_SAFE_INTEGER), high: BigInt(Number.MAX_SAFE_INTEGER) };

/** The value of a type at a path of the payload, or of a variable. `place` is null where an entity is no record. */
export function valueAt(env: Environment, type: CedarType, path: string): CedarValue {
  switch (type.kind) {
    case 'boolean':
    case 'string':
    case 'decimal':
    case 'ip':
    case 'datetime':
      return scalar(type.kind, path);
    case 'long':
      return { ...scalar('long', path), bounds: longBounds };
    case 'duration':
      throw new NoCounterpart('a duration in the data has no counterpart');
    case 'set':
      return { kind: 'set', element: type.element, place: { path } };
    case 'record':
      return { kind: 'record', attributes: type.attributes, place: { path } };
    case 'entity': {
      const isRecord = env.opened.has(path);
      return {
        kind: 'entity',
        type: type.name,
        id: isRecord ? `${path}.${idField}` : path,
        place: path.startsWith('payload.') ? { path } : null,
      };
    }
  }
}

export function entityTypeOf(env: Environment, name: string): CedarEntityType {
  const type = env.schema.entities.get(name);
  if (type === undefined) throw new NoCounterpart(`the schema has no type \`${name}\``);
  return type;
}

/** The path of the record of an entity, which the payload then has to have. */
function openedPath(env: Environment, { place, type, literal }: EntityValue): string {
  if (place === null)
    throw new NoCounterpart(
      literal === undefined
        ? `elements of sets are ids in the payload, without the attributes and memberships of \`${type}\``
        : `the payload has nothing about the entity \`${type}::${text(literal)}\``,
    );
  env.opened.add(place.path);
  return place.path;
}

/** What a `has` or a `.` finds. */
export interface AttributeRead {
  readonly isPresent: Condition;
  /** Null if the type has no such attribute. */
  readonly read: (() => CedarValue) | null;
}

export function attributeOf(env: Environment, subject: CedarValue, name: string): AttributeRead {
  switch (subject.kind) {
    case 'entity': {
      const type = entityTypeOf(env, subject.type);
      return attributeAt(env, type.attributes, {
        name,
        fields: entityFields(env.schema, type).attributes,
        path: () => openedPath(env, subject),
      });
    }
    case 'record':
      return attributeAt(env, subject.attributes, {
        name,
        fields: fieldsOf(subject.attributes),
        path: () => subject.place.path,
      });
    case 'record-literal': {
      const value = subject.values.get(name);
      return { isPresent: constant(value !== undefined), read: value === undefined ? null : () => value };
    }
    case 'scalar':
    case 'set':
    case 'set-literal':
      throw new NoCounterpart(`\`${name}\` is read from a value without attributes`);
  }
}

interface AttributePlace {
  readonly name: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly path: () => string;
}

function attributeAt(
  env: Environment,
  attributes: CedarAttributes,
  { name, fields, path }: AttributePlace,
): AttributeRead {
  const attribute = attributes.get(name);
  if (attribute === undefined) return { isPresent: constant(false), read: null };
  const field = fields.get(name)!;
  const isPresent = attribute.isRequired ? always : test(`${path()} has ${field}`);
  return { isPresent, read: () => valueAt(env, attribute.type, `${path()}.${field}`) };
}

export function tagsPath(env: Environment, entity: EntityValue): string {
  return `${openedPath(env, entity)}.${tagsField}`;
}

// ---- equality and membership

/** Counts the variables of quantifiers, so that each has a name of its own. */
export interface Variables {
  readonly next: () => string;
}

export interface ValueScope {
  readonly env: Environment;
  readonly variables: Variables;
}

/** Whether two values are equal; both are known to have values. */
export function isEqual(scope: ValueScope, a: CedarValue, b: CedarValue): Condition {
  if (a.kind === 'scalar' && b.kind === 'scalar') return isEqualScalar(a, b);
  if (a.kind === 'entity' && b.kind === 'entity') {
    if (a.type !== b.type) return constant(false);
    if (a.literal !== undefined && b.literal !== undefined) return constant(a.literal === b.literal);
    return comparison(a.id, '==', b.id);
  }
  if (isSet(a) && isSet(b)) return and(containsAll(scope, a, b), containsAll(scope, b, a));
  if (isRecord(a) && isRecord(b)) return isEqualRecord(scope, a, b);
  return constant(false);
}

function isEqualScalar(a: ScalarValue, b: ScalarValue): Condition {
  if (a.type.kind !== b.type.kind) return constant(false);
  if (a.literal !== undefined && b.literal !== undefined) return constant(a.literal === b.literal);
  switch (a.type.kind) {
    case 'boolean': {
      const [one, other] = a.literal === undefined ? [a, b] : [b, a];
      if (other.literal === undefined) return comparison(one.text, '==', other.text);
      return other.literal === true ? test(one.text) : not(test(one.text));
    }
    case 'ip':
      return isEqualIp(a, b);
    default:
      return comparison(a.text, '==', b.text);
  }
}

/** An IPv4-mapped address is the IPv4 address for Writ, and another for Cedar; `is_ipv4` tells them apart. */
function isEqualIp(a: ScalarValue, b: ScalarValue): Condition {
  const [one, other] = a.literal === undefined ? [a, b] : [b, a];
  if (other.literal === undefined)
    return test(
      `(${one.text}.value == ${other.text}.value and ${one.text}.is_ipv4 == ${other.text}.is_ipv4)`,
    );
  const address = String(other.literal);
  if (address.includes('/') && !/\/(?:32|128)$/.test(address)) return constant(false);
  const isIpv4 = test(`${one.text}.is_ipv4`);
  const value = comparison(`${one.text}.value`, '==', text(address.replace(/\/\d+$/, '')));
  return and(address.includes(':') ? not(isIpv4) : isIpv4, value);
}

type SetValue = Extract<CedarValue, { readonly kind: 'set' | 'set-literal' }>;
type RecordValue = Extract<CedarValue, { readonly kind: 'record' | 'record-literal' }>;

export function isSet(value: CedarValue): value is SetValue {
  return value.kind === 'set' || value.kind === 'set-literal';
}

function isRecord(value: CedarValue): value is RecordValue {
  return value.kind === 'record' || value.kind === 'record-literal';
}

function isEqualRecord(scope: ValueScope, a: RecordValue, b: RecordValue): Condition {
  const names = (value: RecordValue): readonly string[] => [
    ...(value.kind === 'record' ? value.attributes : value.values).keys(),
  ];
  const all = [...new Set([...names(a), ...names(b)])];
  return and(
    ...all.map((name) => {
      const [one, other] = [attributeOf(scope.env, a, name), attributeOf(scope.env, b, name)];
      const areAbsent = and(not(one.isPresent), not(other.isPresent));
      if (one.read === null || other.read === null) return areAbsent;
      const areEqual = isEqual(scope, one.read(), other.read());
      return or(areAbsent, and(one.isPresent, other.isPresent, areEqual));
    }),
  );
}

/** The elements of a set, for a condition about each of them. */
function quantified(
  { env, variables }: ValueScope,
  {
    word,
    set,
    of,
  }: {
    readonly word: 'some' | 'every';
    readonly set: SetValue;
    readonly of: (element: CedarValue) => Condition;
  },
): Condition {
  if (set.kind === 'set-literal') {
    const parts = set.items.map(of);
    return word === 'some' ? or(...parts) : and(...parts);
  }
  requireReadable(set.element);
  const variable = variables.next();
  const condition = of(valueAt(env, set.element, variable));
  if (condition.kind === 'constant')
    return condition.value === (word === 'every') ? condition : isEmptyTest(set.place.path, word === 'every');
  return test(`${word} ${variable} in ${set.place.path} (${conditionText(condition)})`);
}

function requireReadable({ kind }: CedarType): void {
  if (kind === 'set') throw new NoCounterpart('the elements of a set of sets have no counterpart');
}

function isEmptyTest(path: string, isEmpty: boolean): Condition {
  return comparison(`length(${path})`, isEmpty ? '==' : '>', '0');
}

export function isEmpty(set: SetValue): Condition {
  return set.kind === 'set' ? isEmptyTest(set.place.path, true) : constant(set.items.length === 0);
}

export function contains(scope: ValueScope, set: SetValue, value: CedarValue): Condition {
  if (set.kind === 'set-literal') return isAmong(scope, set.items, value);
  requireReadable(set.element);
  const isPlain = ['string', 'long', 'decimal', 'datetime', 'entity'].includes(set.element.kind);
  if (!isPlain || (value.kind !== 'scalar' && value.kind !== 'entity'))
    return quantified(scope, { word: 'some', set, of: (one) => isEqual(scope, one, value) });
  if (set.element.kind === 'entity' && (value.kind !== 'entity' || value.type !== set.element.name))
    return constant(false);
  return test(`${textOf(value)} in ${set.place.path}`);
}

/** Whether the value is one of these; constants become a list. */
function isAmong(scope: ValueScope, items: readonly CedarValue[], value: CedarValue): Condition {
  const same =
    value.kind === 'entity'
      ? items.filter((item) => item.kind === 'entity' && item.type === value.type)
      : items;
  const constants = same.flatMap((item) =>
    isListed(item) && item.literal !== undefined ? [textOf(item)] : [],
  );
  if (
    isListed(value) &&
    value.literal === undefined &&
    constants.length === same.length &&
    constants.length > 1
  )
    return test(`${textOf(value)} in [${[...new Set(constants)].join(', ')}]`);
  return or(...same.map((item) => isEqual(scope, item, value)));
}

/** Whether a list of constants may have the value. */
function isListed(value: CedarValue): value is EntityValue | ScalarValue {
  return value.kind === 'entity' || (value.kind === 'scalar' && ['string', 'long'].includes(value.type.kind));
}

function textOf(value: EntityValue | ScalarValue): string {
  return value.kind === 'entity' ? value.id : value.text;
}

export function containsAll(scope: ValueScope, set: SetValue, others: SetValue): Condition {
  return quantified(scope, { word: 'every', set: others, of: (one) => contains(scope, set, one) });
}

export function containsAny(scope: ValueScope, set: SetValue, others: SetValue): Condition {
  const [through, other] =
    set.kind === 'set' && others.kind === 'set-literal' ? [others, set] : [set, others];
  return quantified(scope, { word: 'some', set: through, of: (one) => contains(scope, other, one) });
}

/** Cedar's `in`: the entity itself, or one that it is a member of, directly or not. */
export function isIn(scope: ValueScope, entity: EntityValue, group: CedarValue): Condition {
  if (isSet(group))
    return quantified(scope, { word: 'some', set: group, of: (one) => isIn(scope, entity, one) });
  if (group.kind !== 'entity') throw new NoCounterpart('the right side of `in` is no entity');
  const isSame = isEqual(scope, entity, group);
  const { env } = scope;
  const type = entityTypeOf(env, entity.type);
  if (isSame === always || !type.ancestors.includes(group.type)) return isSame;
  const field = entityFields(env.schema, type).ancestors.get(group.type)!;
  return or(isSame, test(`${group.id} in ${openedPath(env, entity)}.${field}`));
}
