// Reads the payload: turns JSON whose shape has been checked into values of the language.

import { currencyOfJson } from '../model/currency.ts';
import type { FieldRead } from '../model/expression.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { PolicySet } from '../model/policy.ts';
import { unknownPayload } from '../model/possibility.ts';
import type { Facts } from '../model/request.ts';
import { isVouched } from '../model/signers.ts';
import type { Field, Shape, Type } from '../model/type.ts';
import { type UnknownValue, unknown, type Value } from '../model/value.ts';
import { fromNumber } from '../value/decimal.ts';
import { parseIp } from '../value/ip.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../value/time.ts';

/** The values of the enclosing quantifiers' variables. */
export type Variables = ReadonlyMap<string, Value>;

export interface FieldScope {
  readonly set: PolicySet;
  readonly facts: Facts;
  readonly variables: Variables;
}

/**
 * Returns the value of a field; null when it is null, `undefined` when it or a step before it is absent. Keys
 * that the action does not declare are not seen, so they count as absent. Every declared field of an unknown
 * payload is unknown, and so is every field of an unknown result.
 */
export function readField(
  field: FieldRead,
  { set, facts, variables }: FieldScope,
): Value | UnknownValue | undefined {
  const isResult = field.root === 'result' && !variables.has(field.root);
  if (isResult && facts.result === undefined) return unknown;
  if (!isVouched(field, facts.request)) return unknown;
  const isPayload = field.root === 'payload';
  const action = set.actions.get(facts.action);
  let shape = (isPayload ? action?.shape : isResult ? action?.result : null) ?? undefined;
  if (isPayload && facts.payload === unknownPayload) return isDeclared(field, shape) ? unknown : undefined;
  let value = (isPayload ? facts.payload : isResult ? facts.result : variables.get(field.root)) as
    | Json
    | undefined;
  if (field.steps.length === 0) return value as Value | undefined;
  let parent: JsonObject | null = null;
  for (const step of field.steps) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    const declared = shape?.fields.find(({ name }) => name === step);
    if (shape !== undefined && declared === undefined) return undefined;
    shape = declared?.type.kind === 'record' ? declared.type.shape : undefined;
    parent = value;
    value = value[step];
  }
  if (value === undefined || value === null) return value;
  // When the payload is unknown, the amount comes from elsewhere.
  const payload = facts.payload === unknownPayload ? null : facts.payload;
  return valueOfJson(field.type, value, { parent, payload });
}

/** Whether every payload of the shape has the field, and not as null. */
export function isAlwaysThere({ root, steps, isSigned }: FieldRead, { set, facts }: FieldScope): boolean {
  if (facts.payload !== unknownPayload || isSigned) return false;
  const fields = root === 'payload' ? fieldsAlong(steps, set.actions.get(facts.action)?.shape) : [];
  return (
    fields.length === steps.length &&
    fields.every(({ isOptional, isNullable, type }) => !isOptional && !isNullable && type.kind !== 'any')
  );
}

function isDeclared({ steps }: FieldRead, shape: Shape | undefined): boolean {
  return fieldsAlong(steps, shape).length === steps.length;
}

/** Returns the declared fields along the steps, up to the first step that is not declared. */
function fieldsAlong(steps: readonly string[], shape: Shape | undefined): readonly Field[] {
  const [step, ...others] = steps;
  const field = shape?.fields.find(({ name }) => name === step);
  if (field === undefined) return [];
  return [field, ...fieldsAlong(others, field.type.kind === 'record' ? field.type.shape : undefined)];
}

/** Where the currency of an amount is looked up. */
interface CurrencyContext {
  /** The record that holds the value. */
  readonly parent: JsonObject | null;
  readonly payload: JsonObject | null;
}

/** Returns the value of JSON in a record whose shape has been checked. */
export function valueOfJson(type: Type, json: Json, ctx: CurrencyContext): Value | UnknownValue {
  switch (type.kind) {
    case 'boolean':
    case 'text':
      return json as boolean | string;
    case 'number':
    case 'integer':
      return fromNumber(json as number);
    case 'money':
      return {
        amount: fromNumber(json as number),
        currency: currencyOfJson(type, ctx.parent, ctx.payload) as string,
      };
    case 'date':
      return parseDate(json as string) ?? unknown;
    case 'timestamp':
      return parseTimestamp(json as string) ?? unknown;
    case 'datetime':
      return parseDatetime(json as string) ?? unknown;
    case 'ip':
      return parseIp(json as string) ?? unknown;
    case 'list':
      return (json as readonly Json[]).map((element) =>
        element === null
          ? null
          : (valueOfJson(type.element.type, element, { ...ctx, parent: null }) as Value),
      );
    case 'record':
    // For `any` only its presence is ever tested.
    case 'any':
      return json as JsonObject;
    // No payload field can be declared as a duration.
    case 'duration':
      return unknown;
  }
}
