// Writes types, paths and payload issues as text, in the notation of the language.

import { formatDecimal, fromNumber } from '../value/decimal.ts';
import { escapeControls } from '../value/text.ts';
import { formatDate, formatDatetime, formatDuration, formatTimestamp } from '../value/time.ts';
import type { PayloadIssue } from './decision.ts';
import type { StandingScope } from './policy.ts';
import { signedMark } from './signers.ts';
import type { Quantity, Range, Shape, Slot, TextType, Type } from './type.ts';

/** Returns the type as a policy file writes it, on one line. */
export function describeType(type: Type): string {
  switch (type.kind) {
    case 'boolean':
    case 'ip':
    case 'any':
      return type.kind;
    case 'text': {
      if (type.values !== null) return type.values.map((value) => JSON.stringify(value)).join(' | ');
      const patterns = type.patterns.map((pattern) => ` matches '${pattern}'`).join('');
      return `${type.of}${patterns}${rangeText(type.length, formatDecimal)}`;
    }
    case 'money':
      return `money(${type.currencyField ?? ''})${rangeText(type.range, formatDecimal)}`;
    case 'list':
      return `[${describeSlot(type.element)}]${rangeText(type.length, formatDecimal)}`;
    case 'record':
      return describeShape(type.shape);
    default:
      return `${type.kind}${rangeText(type.range, formats[type.kind])}`;
  }
}

/** Returns the type of a slot with its modifiers and `| null`. */
export function describeSlot(slot: Slot): string {
  const modifiers = `${slot.isSecret ? 'secret ' : ''}${signedMark(slot).trimStart()}${slot.isSigned ? ' ' : ''}`;
  return `${modifiers}${describeType(slot.type)}${slot.isNullable ? ' | null' : ''}`;
}

/**
 * Returns a path as a policy file writes it: steps that are not names are quoted, and places in lists count
 * from 0.
 */
export function pathText(root: string, steps: readonly (string | number)[]): string {
  return [root, ...steps.map(stepText)].join('.');
}

export function stepText(step: string | number): string {
  return typeof step === 'number' || /^[A-Za-z_]\w*$/.test(step) ? String(step) : quoted(step);
}

/** Returns a text literal of the language, on one line whatever the text contains. */
export function quoted(text: string): string {
  return escapeControls(JSON.stringify(text));
}

/**
 * Returns the text after the group of an approval that says who may not approve; empty when nobody is
 * excepted.
 */
export function exceptText(except: readonly string[] = []): string {
  return except.length === 0 ? '' : ` except ${except.join(' and ')}`;
}

/** Returns the scope of standing approvals as words, such as `standing per session for 8h up to 10 times`. */
export function standingText({ per, seconds, times }: StandingScope): string {
  const keys = per.length === 0 ? ['agent'] : per;
  const limit = times === null ? '' : ` up to ${times} times`;
  return `standing per ${keys.join(', ')} for ${formatDuration(fromNumber(seconds))}${limit}`;
}

/**
 * Returns which later requests such an approval serves, as words after "later requests", such as
 * ` with the same \`session\` for 8h, at most 10 of them`.
 */
export function servedText({ per, seconds, times }: StandingScope): string {
  const keys = per.map((key) => `\`${key}\``).join(' and ');
  const limit = times === null ? '' : `, at most ${times} of them`;
  return `${keys === '' ? '' : ` with the same ${keys}`} for ${formatDuration(fromNumber(seconds))}${limit}`;
}

/** The message of the payload check for each kind of fault; the issue's pointer gives the place. */
export const payloadFaults = {
  root: 'must be a record',
  missing: 'is required',
  undeclared: 'is not declared',
  /** Of an amount that its currency has no coins for; `digits` is how many decimal places the currency has. */
  finer: (digits: number): string =>
    digits === 0
      ? 'must be whole, since its currency has no smaller unit'
      : `must have at most ${digits} decimal places, as its currency has`,
  mistyped: (slot: Slot): string => `must be ${describeSlot(slot)}${noteOn(slot.type)}`,
} as const;

/** Returns what the name of the type does not say about its values: an example, or further requirements. */
function noteOn(type: Type): string {
  if (type.kind === 'money')
    return `: a number, with a currency code of ISO 4217 such as "USD" in \`${type.currencyField ?? ''}\``;
  const form = type.kind === 'text' ? (type.values === null ? type.of : null) : type.kind;
  return form !== null && Object.hasOwn(notes, form) ? notes[form as keyof typeof notes]! : '';
}

const pathNote = ', without a backslash and without `..` above where it starts';
const notes: Partial<Readonly<Record<Type['kind'] | TextType['of'], string>>> = {
  path: pathNote,
  'path ignoring case': pathNote,
  date: ', such as 2026-03-02',
  timestamp: ', such as 2026-03-02T10:00:00Z',
  datetime: ', such as 2026-03-02T10:00, without an offset',
  url: ', such as https://example.com/a',
  web_address: ', such as www.example.com/a',
};

/** Returns the reason of `invalid_payload`: each place by JSON pointer, never a value. */
export function payloadReason(issues: readonly PayloadIssue[]): string {
  const places = issues.map(({ pointer, message }) => `${pointer === '' ? 'it' : pointer} ${message}`);
  return `The payload does not match the declared shape: ${places.join('; ')}`;
}

const formats: Readonly<Record<Quantity, typeof formatDecimal>> = {
  number: formatDecimal,
  integer: formatDecimal,
  duration: formatDuration,
  date: formatDate,
  timestamp: formatTimestamp,
  datetime: formatDatetime,
};

function rangeText(range: Range, format: typeof formatDecimal): string {
  if (range.low === null && range.high === null) return '';
  return ` ${range.low === null ? '' : format(range.low)}..${range.high === null ? '' : format(range.high)}`;
}

function describeShape(shape: Shape): string {
  const fields = shape.fields.map(
    (field) => `${field.name}${field.isOptional ? '?' : ''}: ${describeSlot(field)}`,
  );
  return `{ ${[...fields, ...(shape.isOpen ? ['...'] : [])].join(', ')} }`;
}
