// Writes a condition that a request meets by the values of its own payload: exactly those values, or values of the
// same kind, such as addresses of the same domain. INVARIANT: no value of a secret field is written.

import { posix } from 'node:path';
import { pathText, quoted } from '../../language/model/describe.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import type { Field, ListType, Shape, TextType, Type } from '../../language/model/type.ts';
import { unknown } from '../../language/model/value.ts';
import { evaluate } from '../../language/spec/evaluate.ts';
import { toNumber } from '../../language/value/decimal.ts';
import { domain } from '../../language/value/email.ts';
import { parseUrl } from '../../language/value/url.ts';
import { expressionText } from '../../reasoning/counterfactual/change-wording.ts';

/** `same` compares every field with its value, `similar` only those that tell what the request is about. */
export type Closeness = 'same' | 'similar';

/** The longest text that a condition writes out, in UTF-16 units. */
const textMax = 2_000;
const elementsMax = 20;
const freeTextLength = 200;
const fieldsMax = 12;

interface ConditionScope {
  readonly set: PolicySet;
  readonly facts: Facts;
  readonly closeness: Closeness;
}

/** Null when no field of the payload can be compared. */
export function ownCondition(scope: ConditionScope, shape: Shape): string | null {
  const parts = fieldParts(scope, { shape, record: scope.facts.payload, steps: [] });
  return parts.length === 0 || parts.length > fieldsMax ? null : parts.join(' and ');
}

/** The fields that all the shapes have in the same form. */
export function commonShape(shapes: readonly Shape[]): Shape {
  const [first, ...others] = shapes;
  if (first === undefined) return { fields: [], isOpen: false };
  const isIn = (field: Field, { fields }: Shape): boolean => {
    const own = fields.find(({ name }) => name === field.name);
    return own?.type.kind === field.type.kind && own.isOptional === field.isOptional;
  };
  return { ...first, fields: first.fields.filter((field) => others.every((other) => isIn(field, other))) };
}

interface RecordPlace {
  readonly shape: Shape;
  readonly record: JsonObject;
  readonly steps: readonly string[];
}

function fieldParts(scope: ConditionScope, { shape, record, steps }: RecordPlace): readonly string[] {
  const currencies = currenciesOf(shape);
  const compared = shape.fields.filter(({ name, type }) => !currencies.has(name) && !isConstant(type));
  return compared.flatMap((field): readonly string[] => {
    const own = [...steps, field.name];
    const parent = pathText('payload', steps);
    const value = Object.hasOwn(record, field.name) ? record[field.name] : undefined;
    const name = pathText('', [field.name]).slice(1);
    if (value === undefined || value === null) {
      const isOptional = field.isOptional || field.isNullable;
      return isOptional && scope.closeness === 'same' && !field.isSecret
        ? [`not (${parent} has ${name})`]
        : [];
    }
    if (field.isSecret || field.isSigned) return [];
    const parts =
      field.type.kind === 'record' && isJsonObject(value)
        ? fieldParts(scope, { shape: field.type.shape, record: value, steps: own })
        : valueParts(scope, { field, value, steps: own });
    const isMaybeAbsent = (field.isOptional || field.isNullable) && parts.length > 0;
    return isMaybeAbsent ? [`${parent} has ${name}`, ...parts] : parts;
  });
}

/** The fields that name the currency of an amount, with which the amount is compared. */
function currenciesOf({ fields }: Shape): ReadonlySet<string> {
  return new Set(fields.flatMap(({ type }) => (type.kind === 'money' ? (type.currencyField ?? []) : [])));
}

function isConstant(type: Type): boolean {
  return type.kind === 'text' && type.values?.length === 1;
}

interface FieldPlace {
  readonly field: Field;
  readonly value: Json;
  readonly steps: readonly string[];
}

function valueParts(scope: ConditionScope, { field: { type }, value, steps }: FieldPlace): readonly string[] {
  const path = pathText('payload', steps);
  if (type.kind === 'boolean') return [value === true ? path : `not ${path}`];
  if (type.kind === 'text' && typeof value === 'string')
    return textParts(scope.closeness, { type, path, value });
  if (type.kind === 'list' && Array.isArray(value)) return listParts(scope.closeness, type, { path, value });
  if (type.kind === 'number' || type.kind === 'integer' || type.kind === 'money')
    return amountParts(scope, { type, path, steps });
  const isExact = scope.closeness === 'same' && (type.kind === 'date' || type.kind === 'timestamp');
  const literal = isExact ? literalAt(scope, type, steps) : null;
  return literal === null ? [] : [`${path} == ${literal}`];
}

interface TextPlace {
  readonly type: TextType;
  readonly path: string;
  readonly value: string;
}

function textParts(closeness: Closeness, { type, path, value }: TextPlace): readonly string[] {
  if (value.length > textMax) return [];
  if (closeness === 'same' || type.values !== null) return [`${path} == ${quoted(value)}`];
  const kind = kindPart(type.of, path, value);
  if (kind !== null) return [kind];
  return isFree(type) ? [] : [`${path} == ${quoted(value)}`];
}

/** Texts that say something in words, not ones that name something. */
function isFree({ patterns, length }: TextType): boolean {
  return patterns.length === 0 && (length.high === null || toNumber(length.high) > freeTextLength);
}

/** The condition that a text is of the same domain, host or folder; null for texts of other kinds. */
function kindPart(of: TextType['of'], path: string, value: string): string | null {
  if (of === 'email') return `domain(${path}) == ${quoted(domain(value))}`;
  if (of === 'url') {
    const host = parseUrl(value)?.host;
    return host === undefined ? null : `host(${path}) == ${quoted(host)}`;
  }
  if (of !== 'path') return null;
  const folder = posix.dirname(value);
  return folder === '/' || folder === '.' ? null : `${path} inside ${quoted(folder)}`;
}

interface ListPlace {
  readonly path: string;
  readonly value: readonly Json[];
}

function listParts(
  closeness: Closeness,
  { element: { type: element }, length }: ListType,
  { path, value }: ListPlace,
): readonly string[] {
  if (value.length > elementsMax || element.kind !== 'text') return [];
  if (value.length === 0) return [`length(${path}) == 0`];
  const texts = value.map(String);
  const isByDomain = closeness === 'similar' && element.of === 'email';
  if (closeness === 'similar' && !isByDomain && element.values === null && isFree(element)) return [];
  const entries = [...new Set(isByDomain ? texts.map(domain) : texts)].map(quoted).join(', ');
  const test = isByDomain ? `domain(one) in [${entries}]` : `one in [${entries}]`;
  const isNeverEmpty = length.low !== null && toNumber(length.low) > 0;
  const count = closeness === 'same' ? [`length(${path}) == ${value.length}`] : [`length(${path}) >= 1`];
  const counted = closeness === 'similar' && isNeverEmpty ? [] : count;
  return [...counted, `every one in ${path} (${test})`];
}

interface AmountPlace {
  readonly type: Extract<Type, { readonly range: unknown }>;
  readonly path: string;
  readonly steps: readonly string[];
}

function amountParts(scope: ConditionScope, { type, path, steps }: AmountPlace): readonly string[] {
  const literal = literalAt(scope, type, steps);
  if (literal === null) return [];
  if (scope.closeness === 'same') return [`${path} == ${literal}`];
  if (type.range.low !== null) return [`${path} <= ${literal}`];
  if (literal.startsWith('-')) return [`${path} == ${literal}`];
  const nothing = literal.replace(/^[\d._]+/, '0');
  return [`${path} in ${nothing}..${literal}`];
}

/** The value of a field as the language writes it; null when it is unknown, such as an amount without a currency. */
function literalAt({ set, facts }: ConditionScope, type: Type, steps: readonly string[]): string | null {
  const span = { file: '', start: 0, end: 0 };
  const read = {
    kind: 'field',
    root: 'payload',
    steps,
    type,
    span,
    isSigned: false,
    isSecret: false,
  } as const;
  const scope = { set, facts, risk: { low: 0, high: 0 }, variables: new Map() };
  const value = evaluate(read, scope);
  if (value === unknown || value === null) return null;
  const isBare = typeof value === 'object' && 'currency' in value && value.currency === null;
  return isBare ? null : expressionText(set, { kind: 'literal', type, value, span });
}
