// Finds what is wrong with a payload: a simple walk along the declared shape, in the order of its
// declaration. An issue names the place and what should be there, and never a value. The walk runs only when
// the generated check has refused a payload.

import { currencyOfJson } from '../../model/currency.ts';
import { type PayloadIssue, payloadIssuesMax } from '../../model/decision.ts';
import { payloadFaults } from '../../model/describe.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Range, Shape, Slot, TextType, Type } from '../../model/type.ts';
import { canonicalText } from '../../value/canonical-text.ts';
import { isAmountOf, isCurrency, unitDigits } from '../../value/currency.ts';
import { type Decimal, fromNumber, isInRange } from '../../value/decimal.ts';
import { parseIp } from '../../value/ip.ts';
import { compileRegex } from '../../value/regex.ts';
import { cut, escapeControls, length } from '../../value/text.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../../value/time.ts';

/** The most code points of an undeclared key that a pointer quotes. */
const quotedKeyLengthMax = 100;

/** Returns the first issues of a payload, at most ten. Empty when the payload has the shape. */
export function payloadIssues(shape: Shape, payload: Json): readonly PayloadIssue[] {
  const issues: PayloadIssue[] = [];
  if (!isJsonObject(payload)) return [{ pointer: '', message: payloadFaults.root }];
  checkRecord(issues, { shape, record: payload, pointer: '', payload });
  return issues.slice(0, payloadIssuesMax);
}

/**
 * A value at its place in a payload. `owner` is the record in which a sibling field may name the value's
 * currency; `payload` is the whole payload.
 */
interface ValueLocation {
  readonly slot: Slot;
  readonly value: unknown;
  readonly pointer: string;
  readonly owner: JsonObject;
  readonly payload: JsonObject;
}

function checkSlot(issues: PayloadIssue[], placed: ValueLocation): void {
  const { slot, value, pointer, owner, payload } = placed;
  if (issues.length >= payloadIssuesMax || (value === null && slot.isNullable)) return;
  const { type } = slot;
  const currency = currencyOf(type, placed);
  if (!isOfType(type, value) || (currency !== null && !isCurrency(currency))) {
    issues.push({ pointer, message: payloadFaults.mistyped(slot) });
  } else if (currency !== null && !isAmountOf(value as number, currency)) {
    issues.push({ pointer, message: payloadFaults.finer(unitDigits(currency)) });
  } else if (type.kind === 'record') {
    checkRecord(issues, { shape: type.shape, record: value as JsonObject, pointer, payload });
  } else if (type.kind === 'list') {
    for (const [at, element] of (value as readonly unknown[]).entries()) {
      if (issues.length >= payloadIssuesMax) return;
      checkSlot(issues, { slot: type.element, value: element, pointer: `${pointer}/${at}`, owner, payload });
    }
  }
}

function checkRecord(
  issues: PayloadIssue[],
  {
    shape,
    record,
    pointer,
    payload,
  }: { shape: Shape; record: JsonObject; pointer: string; payload: JsonObject },
): void {
  for (const field of shape.fields) {
    const at = `${pointer}/${escapePointer(field.name)}`;
    const value = ownValue(record, field.name);
    if (value !== undefined) checkSlot(issues, { slot: field, value, pointer: at, owner: record, payload });
    else if (!field.isOptional) issues.push({ pointer: at, message: payloadFaults.missing });
  }
  if (shape.isOpen) return;
  const declared = new Set(shape.fields.map((field) => field.name));
  for (const key of Object.keys(record)) {
    if (issues.length >= payloadIssuesMax) return;
    if (declared.has(key)) continue;
    const quoted = escapePointer(cut(escapeControls(key), quotedKeyLengthMax));
    issues.push({ pointer: `${pointer}/${quoted}`, message: payloadFaults.undeclared });
  }
}

/** Whether the value itself is of the type. The contents of a record or list are checked separately. */
function isOfType(type: Type, value: unknown): boolean {
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'any':
      return true;
    case 'text':
      return typeof value === 'string' && isText(type, value);
    case 'number':
    case 'money':
      return typeof value === 'number' && Number.isFinite(value) && isInRange(type.range, fromNumber(value));
    case 'integer':
      return Number.isInteger(value) && isInRange(type.range, fromNumber(value as number));
    case 'date':
      return isPoint(value, type.range, parseDate);
    case 'timestamp':
      return isPoint(value, type.range, parseTimestamp);
    case 'datetime':
      return isPoint(value, type.range, parseDatetime);
    case 'duration':
      return false;
    case 'ip':
      return typeof value === 'string' && parseIp(value) !== null;
    case 'list':
      return Array.isArray(value) && isInRange(type.length, fromNumber(value.length));
    case 'record':
      return isJsonObject(value);
  }
}

/**
 * The currency of an amount. Null for one that is missing or not a text, because it has an issue at its own
 * place, and for other types.
 */
function currencyOf(type: Type, { owner, payload }: ValueLocation): string | null {
  if (type.kind !== 'money') return null;
  const currency = currencyOfJson(type, owner, payload);
  return typeof currency === 'string' ? currency : null;
}

function isPoint(value: unknown, range: Range, parse: (text: string) => Decimal | null): boolean {
  const point = typeof value === 'string' ? parse(value) : null;
  return point !== null && isInRange(range, point);
}

/** Whether a text meets its type. Values, length and patterns apply to the canonical form. */
function isText(type: TextType, sent: string): boolean {
  const text = canonicalText(type.of, sent);
  return (
    text !== null &&
    (type.values === null || type.values.includes(text)) &&
    isInRange(type.length, fromNumber(length(text))) &&
    type.patterns.every((pattern) => matches(pattern, text))
  );
}

function matches(pattern: string, text: string): boolean {
  const test = compileRegex(pattern);
  return typeof test === 'function' && test(text);
}

function ownValue(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Escapes a segment of a JSON pointer (RFC 6901). */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
