// The gate: checks whether a payload has its action's declared shape. A JSON pointer names every place that
// does not, in the order of the declaration; undeclared keys come last, in the payload's own order. A payload
// that passes is resolved: rules see every path, URL, host and e-mail address in canonical form.

import { currencyOfJson } from '../model/currency.ts';
import { type PayloadIssue, payloadIssuesMax } from '../model/decision.ts';
import { payloadFaults } from '../model/describe.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { PolicySet } from '../model/policy.ts';
import { unknownPayload } from '../model/possibility.ts';
import type { Facts } from '../model/request.ts';
import type { MoneyType, Range, Shape, Slot, TextType, Type } from '../model/type.ts';
import { canonicalText } from '../value/canonical-text.ts';
import { isCurrency, isInUnits, unitDigits } from '../value/currency.ts';
import { type Decimal, fromNumber, isInRange } from '../value/decimal.ts';
import { parseIp } from '../value/ip.ts';
import { compileRegex } from '../value/regex.ts';
import { cut, escapeControls, length } from '../value/text.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../value/time.ts';

/** Returns the first issues, at most `payloadIssuesMax`; none when the payload has the shape. */
export function checkPayload(shape: Shape, payload: Json): readonly PayloadIssue[] {
  if (!isJsonObject(payload)) return [{ pointer: '', message: payloadFaults.root }];
  return recordIssues(shape, payload, { payload, pointer: '' }).slice(0, payloadIssuesMax);
}

/**
 * Returns the facts with payload and result as rules see them. A payload that does not have its shape, or is
 * resolved already, does not change.
 */
export function resolveFacts(set: PolicySet, facts: Facts): Facts {
  const shape = set.actions.get(facts.action)?.shape;
  if (facts.payload === unknownPayload) return facts;
  const { result: returned, ...others } = facts;
  const result = resolvedResult(set.actions.get(facts.action)?.result ?? null, returned);
  const rawFacts = result === null ? others : { ...others, result };
  return shape === undefined ? rawFacts : { ...rawFacts, payload: resolveRecord(shape, facts.payload) };
}

/**
 * Returns the result in canonical form; null when it is not reported, or does not have the declared shape.
 */
function resolvedResult(shape: Shape | null, result: JsonObject | undefined): JsonObject | null {
  const isKnown = shape !== null && result !== undefined && checkPayload(shape, result).length === 0;
  return isKnown ? resolveRecord(shape, result) : null;
}

export function resolveRecord(shape: Shape, record: JsonObject): JsonObject {
  const fields = Object.entries(record).map(([name, value]) => {
    const field = shape.fields.find((candidate) => candidate.name === name);
    return [name, field === undefined ? value : resolveValue(field.type, value)] as const;
  });
  return Object.fromEntries(fields);
}

function resolveValue(type: Type, json: Json): Json {
  if (type.kind === 'text' && typeof json === 'string') return canonicalText(type.of, json) ?? json;
  if (type.kind === 'record' && isJsonObject(json)) return resolveRecord(type.shape, json);
  if (type.kind !== 'list' || !Array.isArray(json)) return json;
  return json.map((element: Json) => resolveValue(type.element.type, element));
}

const keyCodePointsMax = 100;

function recordIssues(
  shape: Shape,
  record: JsonObject,
  { payload, pointer }: Pick<PayloadContext, 'payload' | 'pointer'>,
): readonly PayloadIssue[] {
  const declared = shape.fields.flatMap((field): readonly PayloadIssue[] => {
    const fieldPointer = `${pointer}/${segment(field.name)}`;
    if (Object.hasOwn(record, field.name))
      return slotIssues(field, record[field.name] as Json, { payload, pointer: fieldPointer, record });
    return field.isOptional ? [] : [{ pointer: fieldPointer, message: payloadFaults.missing }];
  });
  if (shape.isOpen) return declared;
  const names = new Set(shape.fields.map(({ name }) => name));
  const undeclared = Object.keys(record)
    .filter((key) => !names.has(key))
    .map((key) => ({
      pointer: `${pointer}/${segment(cut(escapeControls(key), keyCodePointsMax))}`,
      message: payloadFaults.undeclared,
    }));
  return [...declared, ...undeclared];
}

interface PayloadContext {
  /** The whole payload. */
  readonly payload: JsonObject;
  readonly pointer: string;
  /** The record that holds the slot; null for an element of a list. */
  readonly record: JsonObject | null;
}

function slotIssues(
  slot: Slot,
  json: Json,
  { payload, pointer, record }: PayloadContext,
): readonly PayloadIssue[] {
  if (json === null && slot.isNullable) return [];
  const mistyped = (): readonly PayloadIssue[] => [{ pointer, message: payloadFaults.mistyped(slot) }];
  const { type } = slot;
  const unless = (isOfType: boolean): readonly PayloadIssue[] => (isOfType ? [] : mistyped());
  switch (type.kind) {
    case 'any':
      return [];
    case 'boolean':
      return unless(typeof json === 'boolean');
    case 'text':
      return unless(typeof json === 'string' && isOfTextType(type, json));
    case 'number':
      return unless(isNumber(json) && isInRange(type.range, fromNumber(json)));
    case 'integer':
      return unless(isNumber(json) && Number.isInteger(json) && isInRange(type.range, fromNumber(json)));
    case 'money':
      return moneyIssues(slot, type, json, { payload, pointer, record });
    case 'date':
      return unless(isTime(parseDate, type.range, json));
    case 'timestamp':
      return unless(isTime(parseTimestamp, type.range, json));
    case 'datetime':
      return unless(isTime(parseDatetime, type.range, json));
    case 'ip':
      return unless(typeof json === 'string' && parseIp(json) !== null);
    case 'list': {
      if (!Array.isArray(json) || !isInRange(type.length, fromNumber(json.length))) return mistyped();
      return json.flatMap((element: Json, index) =>
        slotIssues(type.element, element, { payload, pointer: `${pointer}/${index}`, record: null }),
      );
    }
    case 'record':
      return isJsonObject(json) ? recordIssues(type.shape, json, { payload, pointer }) : mistyped();
    // No payload field can be declared as a duration.
    case 'duration':
      return mistyped();
  }
}

/** Whether a text has the type; patterns and length are tested on its canonical form. */
export function isOfTextType(type: TextType, sent: string): boolean {
  const text = canonicalText(type.of, sent);
  if (text === null || (type.values !== null && !type.values.includes(text))) return false;
  const matches = type.patterns.map(compileRegex);
  return (
    matches.every((match) => typeof match === 'function' && match(text)) &&
    isInRange(type.length, fromNumber(length(text)))
  );
}

/**
 * Finds out whether a number is an amount of the type, in whole units of its currency. A currency that is
 * missing or no text is an issue of its own field only.
 */
function moneyIssues(
  slot: Slot,
  type: MoneyType,
  json: Json,
  { payload, pointer, record }: PayloadContext,
): readonly PayloadIssue[] {
  const mistyped = [{ pointer, message: payloadFaults.mistyped(slot) }];
  if (!isNumber(json) || !isInRange(type.range, fromNumber(json))) return mistyped;
  const currency = currencyOfJson(type, record, payload);
  if (typeof currency !== 'string') return [];
  if (!isCurrency(currency)) return mistyped;
  if (isInUnits(fromNumber(json), currency)) return [];
  return [{ pointer, message: payloadFaults.finer(unitDigits(currency)) }];
}

function isTime(parse: (text: string) => Decimal | null, range: Range, json: Json): boolean {
  const time = typeof json === 'string' ? parse(json) : null;
  return time !== null && isInRange(range, time);
}

function isNumber(json: Json): json is number {
  return typeof json === 'number' && Number.isFinite(json);
}

/** Returns a name as a segment of an RFC 6901 pointer. */
function segment(name: string): string {
  return /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;
}
