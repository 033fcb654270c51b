// Turns type nodes into types: declared names are inlined, a union becomes an enumeration or a null marker,
// modifiers move to the slot. A type in error is reported once and yields null.

import type { Span } from '../../diagnostic/span.ts';
import { agentSigner, allSigners } from '../../model/signers.ts';
import {
  anyText,
  booleanType,
  enumeration,
  type Field,
  quantity,
  type Range,
  type Shape,
  type Slot,
  type TextKind,
  type Type,
  unbounded,
} from '../../model/type.ts';
import type { BuiltInTypeWord } from '../../syntax/parse/tokens.ts';
import type {
  FieldNode,
  LiteralNode,
  NameNode,
  RecordBody,
  TextLiteral,
  TypeDeclaration,
  TypeNode,
  TypeRange,
} from '../../syntax/tree/tree.ts';
import { isCurrency } from '../../value/currency.ts';
import { compare, type Decimal, isInteger, zero } from '../../value/decimal.ts';
import { compileRegex } from '../../value/regex.ts';
import type { Environment } from '../incremental/environment.ts';
import { memoized } from '../incremental/memoized.ts';
import { patternFor, readLiteral, readLiteralAs } from '../logic/literals.ts';
import { failedShape, failedType } from '../logic/merge.ts';
import { followDependencies } from '../messages/dependencies.ts';
import {
  currencyFieldUnfit,
  enumerationValueTwice,
  fieldDeclaredTwice,
  moneyInList,
  nameOfOtherKind,
  patternOnOtherType,
  rangeBoundMismatch,
  rangeEmpty,
  rangeNotAllowed,
  regexInvalid,
  tooDeepDeclaration,
  typeRecursive,
  typeTooLarge,
  unionInvalid,
  unknownType,
} from '../messages/errors.ts';
import { unknownCurrency, valuesUnquoted } from '../messages/value-errors.ts';
import { declaredNames, namesOf } from './declared-names.ts';

/**
 * The most fields of one payload, with the fields of a shared type counted at each place where the type
 * occurs.
 */
export const payloadFieldsMax = 10_000;

const textOf = (of: TextKind): Type => ({ ...anyText, of });
const typesByWord = {
  string: textOf('string'),
  email: textOf('email'),
  url: textOf('url'),
  web_address: textOf('web_address'),
  host: textOf('host'),
  path: textOf('path'),
  boolean: booleanType,
  number: quantity('number'),
  integer: quantity('integer'),
  date: quantity('date'),
  timestamp: quantity('timestamp'),
  datetime: quantity('datetime'),
  ip: { kind: 'ip' },
  any: { kind: 'any' },
} satisfies Readonly<Record<BuiltInTypeWord, Type>>;
const builtInTypes = new Map<string, Type>(Object.entries(typesByWord));

/** Names of the types that exist without a declaration, `money` included. */
const builtInTypeNames: readonly string[] = [...builtInTypes.keys(), 'money'];

/** Returns the slot that a type node describes; null, with a diagnostic, when the type is in error. */
export function resolveType(node: TypeNode, env: Environment): Slot | null {
  switch (node.kind) {
    case 'named-type':
      return resolveNamed(node, env);
    case 'money-type': {
      const money: Type = { kind: 'money', currencyField: node.currency.text, range: unbounded };
      return withRange(plain(money), node.range, env);
    }
    case 'text-type':
      return plain(enumeration([node.text.value]));
    case 'null-type':
      env.report(unionInvalid(node.span));
      return null;
    case 'list-type': {
      const element = resolveType(node.element, env);
      if (element === null) return null;
      if (element.type.kind === 'money') {
        env.report(moneyInList(node.element.span));
        return null;
      }
      return withRange(plain({ kind: 'list', element, length: unbounded }), node.range, env);
    }
    case 'record-type':
      return plain({ kind: 'record', shape: resolveShape(node.body, env) });
    case 'modified-type': {
      const slot = resolveType(node.type, env);
      if (slot === null) return null;
      if (node.modifier === 'secret') return { ...slot, isSecret: true };
      const signature = { isSigned: true, signers: [node.by?.value ?? agentSigner] };
      return { ...slot, ...allSigners(slot, signature) };
    }
    case 'union-type':
      return resolveUnion(node, env);
  }
}

/**
 * Returns the shape of a record, fields in error included. `placeCurrencies` handles amounts whose currency
 * is in a record around this record.
 */
export function resolveShape(body: RecordBody, env: Environment): Shape {
  if (body.isBroken === true) return failedShape;
  const fields: Field[] = [];
  const places = new Map<string, NameNode>();
  for (const field of body.fields) {
    const earlier = places.get(field.name.text);
    if (earlier !== undefined) env.report(fieldDeclaredTwice(field.name, earlier));
    else places.set(field.name.text, field.name);
    const slot = resolveType(field.type, env);
    const resolvedSlot = slot ?? plain(failedType);
    if (earlier === undefined)
      fields.push({ ...resolvedSlot, name: field.name.text, isOptional: field.isOptional });
  }
  const byName = new Map(fields.map((field) => [field.name, field]));
  for (const field of body.fields) checkCurrencyField(field, byName, env);
  const sorted = fields.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { fields: sorted, isOpen: body.isOpen };
}

function resolveNamed(node: Extract<TypeNode, { kind: 'named-type' }>, env: Environment): Slot | null {
  const builtIn = builtInTypes.get(node.name.text);
  const slot = builtIn === undefined ? resolveDeclared(node.name, env) : plain(builtIn);
  if (slot === null) return null;
  const cased = node.ignoringCase ? ignoringCase(slot) : slot;
  return withRange(withPattern(cased, node.pattern, env), node.range, env);
}

/** Returns the slot of `path ignoring case`; the grammar allows `ignoring case` after no other type. */
function ignoringCase(slot: Slot): Slot {
  return slot.type.kind === 'text' ? { ...slot, type: { ...slot.type, of: 'path ignoring case' } } : slot;
}

function resolveDeclared(name: NameNode, env: Environment): Slot | null {
  const kind = env.query('kind', name.text);
  if (kind === undefined) {
    env.report(unknownType(name, [...builtInTypeNames, ...namesOf(env, 'type')]));
    return null;
  }
  env.use(name.text);
  if (kind !== 'type') {
    env.report(nameOfOtherKind(name, kind, 'type'));
    return null;
  }
  return env.query('type', name.text) ?? null;
}

/** Resolves every declared type, each after the types that it names. */
export function resolveDeclaredTypes(env: Environment): void {
  const typesIn = (name: string): readonly string[] => {
    const declaration = env.declarations.get(name);
    if (declaration?.kind !== 'type') return [];
    return namedTypes(declaration.type).filter((used) => env.declarations.get(used)?.kind === 'type');
  };
  const { circles, tooDeep, order } = followDependencies(declaredNames(env, 'type'), typesIn);
  for (const name of [...circles.keys(), ...tooDeep]) env.types.set(name, null);
  for (const name of order) {
    const declaration = env.declarations.get(name);
    if (declaration?.kind !== 'type') continue;
    if (circles.has(name)) env.report(typeRecursive(declaration.name));
    else if (tooDeep.has(name)) env.report(tooDeepDeclaration(declaration.name));
    else
      env.types.set(
        name,
        memoized(env, declaration, () => resolveOne(declaration, env)),
      );
  }
}

function resolveOne({ name, type }: TypeDeclaration, env: Environment): Slot | null {
  const slot = resolveType(type, env);
  if (slot === null || fieldCount(slot.type) <= payloadFieldsMax) return slot;
  env.report(typeTooLarge(name, payloadFieldsMax));
  return null;
}

/**
 * Returns the number of fields of a type, with those of nested types. A shared type counts at each place
 * where it occurs.
 */
export function fieldCount(type: Type): number {
  if (type.kind === 'list') return fieldCount(type.element.type);
  if (type.kind !== 'record') return 0;
  const cached = fieldCounts.get(type.shape);
  if (cached !== undefined) return cached;
  const count = type.shape.fields.reduce((sum, field) => sum + 1 + fieldCount(field.type), 0);
  fieldCounts.set(type.shape, count);
  return count;
}

const fieldCounts = new WeakMap<Shape, number>();

function namedTypes(node: TypeNode): readonly string[] {
  switch (node.kind) {
    case 'named-type':
      return [node.name.text];
    case 'list-type':
      return namedTypes(node.element);
    case 'record-type':
      return node.body.fields.flatMap((field) => namedTypes(field.type));
    case 'modified-type':
      return namedTypes(node.type);
    case 'union-type':
      return node.members.flatMap(namedTypes);
    case 'money-type':
    case 'text-type':
    case 'null-type':
      return [];
  }
}

function resolveUnion(node: Extract<TypeNode, { kind: 'union-type' }>, env: Environment): Slot | null {
  const members = node.members.filter((member) => member.kind !== 'null-type');
  const words = members.flatMap((member) => (member.kind === 'named-type' ? [member.name] : []));
  if (
    words.length > 0 &&
    words.length === members.length &&
    words.every(({ text }) => isUndeclared(text, env))
  ) {
    env.report(valuesUnquoted(words));
    return null;
  }
  const slots = members.map((member) => resolveType(member, env));
  if (slots.includes(null)) return null;
  const resolved = slots.filter((slot) => slot !== null);
  const isNullable = members.length < node.members.length || resolved.some((slot) => slot.isNullable);
  const [first, ...rest] = resolved;
  if (first === undefined) {
    env.report(unionInvalid(node.span));
    return null;
  }
  const isSecret = resolved.some((slot) => slot.isSecret);
  if (rest.length === 0) return { ...first, isNullable };
  const values = resolved.flatMap((slot) => (slot.type.kind === 'text' ? (slot.type.values ?? []) : []));
  if (!resolved.every((slot) => slot.type.kind === 'text' && slot.type.values !== null)) {
    env.report(unionInvalid(node.span));
    return null;
  }
  reportRepeated(members, env);
  return { type: enumeration([...new Set(values)]), isNullable, isSecret, ...allSigners(...resolved) };
}

function isUndeclared(name: string, env: Environment): boolean {
  return !builtInTypes.has(name) && env.query('kind', name) === undefined;
}

function reportRepeated(members: readonly TypeNode[], env: Environment): void {
  const seen = new Set<string>();
  for (const member of members) {
    if (member.kind !== 'text-type') continue;
    if (seen.has(member.text.value)) env.report(enumerationValueTwice(member.text));
    seen.add(member.text.value);
  }
}

function withPattern(slot: Slot, pattern: TextLiteral | null, env: Environment): Slot {
  if (pattern === null) return slot;
  if (slot.type.kind !== 'text' || slot.type.values !== null) {
    env.report(patternOnOtherType(pattern.span, slot.type));
    return slot;
  }
  const test = compileRegex(pattern.value);
  if (typeof test !== 'function') {
    env.report(regexInvalid(pattern, test.error));
    return slot;
  }
  const source = patternFor(slot.type, pattern.value);
  return { ...slot, type: { ...slot.type, patterns: [...slot.type.patterns, source] } };
}

function withRange(slot: Slot, range: TypeRange | null, env: Environment): Slot {
  if (range === null) return slot;
  const bounds = boundsType(slot.type);
  if (bounds === null) {
    env.report(rangeNotAllowed(range.span, slot.type));
    return slot;
  }
  const low = readBound(range.low, bounds, env);
  const high = readBound(range.high, bounds, env);
  if (low !== null && high !== null && compare(low, high) > 0) env.report(rangeEmpty(range.span));
  return { ...slot, type: narrowed(slot.type, { low, high }) };
}

/**
 * What the bounds of a type's range are: counts for texts and lists, amounts for money, else values of the
 * type. Null when the type can have no range.
 */
function boundsType(type: Type): Type | 'count' | 'amount' | null {
  switch (type.kind) {
    case 'text':
      return type.values === null ? 'count' : null;
    case 'list':
      return 'count';
    case 'money':
      return 'amount';
    case 'boolean':
    case 'record':
    case 'ip':
    case 'any':
      return null;
    default:
      return type;
  }
}

function readBound(
  node: LiteralNode | null,
  bounds: Type | 'count' | 'amount',
  env: Environment,
): Decimal | null {
  if (node === null) return null;
  if (bounds !== 'count' && bounds !== 'amount') return readLiteralAs(node, bounds, env) as Decimal | null;
  if (node.kind !== 'number') {
    env.report(rangeBoundMismatch(node.span, bounds));
    return null;
  }
  const value = readLiteral(node, env) as Decimal | null;
  const isCount = value !== null && isInteger(value) && compare(value, zero) >= 0;
  if (bounds === 'count' && value !== null && !isCount) env.report(rangeBoundMismatch(node.span, bounds));
  return value;
}

function narrowed(type: Type, range: Range): Type {
  switch (type.kind) {
    case 'text':
    case 'list':
      return { ...type, length: intersection(type.length, range) };
    case 'boolean':
    case 'record':
    case 'ip':
    case 'any':
      return type;
    default:
      return { ...type, range: intersection(type.range, range) };
  }
}

function intersection(a: Range, b: Range): Range {
  const pick = (x: Decimal | null, y: Decimal | null, direction: -1 | 1): Decimal | null =>
    x === null ? y : y === null ? x : compare(x, y) === direction ? x : y;
  return { low: pick(a.low, b.low, 1), high: pick(a.high, b.high, -1) };
}

/**
 * Checks the currency field in the same record as its amount: a text that is present whenever the amount is.
 */
function checkCurrencyField(node: FieldNode, fields: ReadonlyMap<string, Field>, env: Environment): void {
  const field = fields.get(node.name.text);
  if (field?.type.kind !== 'money') return;
  const currency = fields.get(field.type.currencyField ?? '');
  if (currency === undefined) return;
  const span = node.type.kind === 'money-type' ? node.type.currency.span : node.type.span;
  checkCurrency(span, { amount: field, currency }, env);
}

interface WithCurrency {
  readonly amount: Field;
  readonly currency: Field;
}

/** Reports a field that cannot name the currency of the amount. */
export function checkCurrency(span: Span, { amount, currency }: WithCurrency, env: Environment): void {
  if (currency.type === failedType) return;
  const isText = currency.type.kind === 'text' && !currency.isSecret;
  const mayMiss = currency.isOptional || currency.isNullable;
  const amountMayMiss = amount.isOptional || amount.isNullable;
  if (!isText || (mayMiss && !amountMayMiss)) env.report(currencyFieldUnfit(span, currency.name));
  const values = currency.type.kind === 'text' ? (currency.type.values ?? []) : [];
  const stray = values.find((value) => !isCurrency(value));
  if (stray !== undefined) env.report(unknownCurrency(span, stray));
}

function plain(type: Type): Slot {
  return { type, isNullable: false, isSecret: false, isSigned: false };
}
