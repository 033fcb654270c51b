// Reads of the payload: from JSON, whose shape has been checked, to values of the language.

import type { FieldRead } from '../model/expression.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Facts } from '../model/request.ts';
import type { Type } from '../model/type.ts';
import { type Unknown, unknown, type Value } from '../model/value.ts';
import { fromNumber } from '../value/decimal.ts';
import { parseIp } from '../value/ip.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../value/time.ts';

/** What the variables of the quantifiers around an expression stand for. */
export type Variables = ReadonlyMap<string, Value>;

/** The value of a field, null where it is null, `undefined` where it or a step before it is absent. */
export function readField(field: FieldRead, facts: Facts, variables: Variables): Value | Unknown | undefined {
  if (field.isSigned && facts.request.signed !== true) return unknown;
  const root = field.root === 'payload' ? facts.payload : variables.get(field.root);
  if (field.steps.length === 0) return root;
  let parent: JsonObject | null = null;
  let value = root as Json | undefined;
  for (const step of field.steps) {
    if (!isRecord(value)) return undefined;
    parent = value;
    value = Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value === undefined || value === null ? value : fromJson(field.type, value, parent);
}

function fromJson(type: Type, json: Json, parent: JsonObject | null): Value | Unknown {
  switch (type.kind) {
    case 'boolean':
    case 'text':
      return json as boolean | string;
    case 'number':
    case 'integer':
      return fromNumber(json as number);
    case 'money':
      return { amount: fromNumber(json as number), currency: parent?.[type.currencyField ?? ''] as string };
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
        element === null ? null : (fromJson(type.element.type, element, null) as Value),
      );
    case 'record':
    // Of `any` nothing but its presence is ever asked.
    case 'any':
      return json as JsonObject;
    // No payload field can be declared a duration.
    case 'duration':
      return unknown;
  }
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
