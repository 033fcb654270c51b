// Shows values in the reasons of decisions: as data, on one line, never longer than a named limit.

import type { RuleHead, Sort } from '../../program/program.ts';
import { formatDecimal } from '../../value/decimal.ts';
import { formatIp, type Ip } from '../../value/ip.ts';
import { cut, escapeControls } from '../../value/text.ts';
import { formatDate, formatDatetime, formatDuration, formatTimestamp } from '../../value/time.ts';
import { exact, highEnd, isAmount, type RuntimeQuantity } from './quantity.ts';

/** The most code points of a shown value. */
const shownLengthMax = 200;

/**
 * Returns the text of a generated code's value for a reason: control characters are escaped, then the text is
 * cut. Undefined shows as "unknown", null as "nothing".
 */
export function showRuntimeValue(value: unknown, sort: Sort, elementSort: Sort | null): string {
  const text = Array.isArray(value)
    ? value.map((element) => plainText(element, elementSort ?? 'text')).join(', ')
    : plainText(value, sort);
  return safeText(text);
}

const printableAscii = /^[ -~]*$/;

/** The length up to which a loop over a text costs less than a regular expression. */
const shortLengthMax = 96;

function isPrintableAscii(text: string): boolean {
  if (text.length > shortLengthMax) return printableAscii.test(text);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/**
 * Returns the text with control characters escaped, then cut to `lengthMax` code points. Short plain text is
 * returned unchanged.
 */
export function safeText(text: string, lengthMax = shownLengthMax): string {
  if (text.length <= lengthMax && isPrintableAscii(text)) return text;
  return cut(escapeControls(text.slice(0, lengthInUnitsMax(lengthMax))), lengthMax);
}

/**
 * The most code units that have to be escaped, because a code point is at most two code units and the rest is
 * cut off.
 */
function lengthInUnitsMax(codePoints: number): number {
  return 2 * codePoints;
}

function plainText(value: unknown, sort: Sort): string {
  if (value === undefined) return 'unknown';
  if (value === null) return 'nothing';
  switch (sort) {
    case 'text':
    case 'boolean':
      return String(value);
    case 'ip':
      return formatIp(value as Ip);
    case 'list':
      return (value as readonly unknown[]).map((element) => plainText(element, 'text')).join(', ');
    case 'record':
      return 'a record';
    case 'any':
      return 'a value';
    case 'money':
    case 'number':
    case 'integer':
    case 'duration':
    case 'date':
    case 'timestamp':
    case 'datetime':
      return quantityText(value as RuntimeQuantity, sort);
  }
}

function quantityText(value: RuntimeQuantity, sort: Sort): string {
  const end = highEnd(value);
  if (!isAmount(end)) return (formats[sort] ?? formatDecimal)(exact(end));
  const amount = formatDecimal(exact(end.amount));
  return end.currency === null ? amount : `${amount} ${end.currency}`;
}

const formats: Partial<Record<Sort, typeof formatDecimal>> = {
  duration: formatDuration,
  date: formatDate,
  timestamp: formatTimestamp,
  datetime: formatDatetime,
};

/** Whether a rule's reason shows no value. */
export function isFixed(rule: RuleHead): boolean {
  return rule.reason.every((part) => typeof part === 'string');
}
