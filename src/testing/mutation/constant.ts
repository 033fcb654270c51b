// The constants next to a constant: one unit of the last written digit away, one of a currency's smallest
// unit, one of a duration's own unit, one day, or one minute.

import type { LiteralNode } from '../../language/syntax/tree/tree.ts';
import { unitDigits } from '../../language/value/currency.ts';
import {
  add,
  type Decimal,
  formatDecimal,
  fromNumber,
  negate,
  parseDecimal,
} from '../../language/value/decimal.ts';
import { formatDate, parseDate, secondsPerDay } from '../../language/value/time.ts';

/** The texts one step below and one step above; empty for a constant without an order. */
export function neighbours(literal: LiteralNode): readonly string[] {
  switch (literal.kind) {
    case 'number':
      return around(literal.text, fractionDigits(literal.text));
    case 'money': {
      const unit = unitDigits(literal.currency);
      const digits = Number.isFinite(unit) ? unit : fractionDigits(literal.amount);
      return around(literal.amount, digits).map((amount) => `${amount} ${literal.currency}`);
    }
    case 'duration':
      return around(literal.text.slice(0, -1), 0).map((count) => `${count}${literal.text.at(-1)}`);
    case 'months': {
      const [count = '', unit] = literal.text.split(' ');
      return around(count, 0).map((moved) => `${moved} ${unit}`);
    }
    case 'date':
      return dates(literal.text);
    case 'instant':
      return instants(literal.text);
    case 'clock':
      return clocks(literal.text);
    case 'text':
    case 'boolean':
    case 'null':
      return [];
  }
}

const directions = [-1, 1] as const;

function around(written: string, digits: number): readonly string[] {
  const value = parseDecimal(written.replaceAll('_', '').replace(/^\+/, ''));
  if (value === null) return [];
  const unit: Decimal = { coefficient: 1n, exponent: -digits };
  return [negate(unit), unit].flatMap((step) => {
    const moved = add(value, step);
    return moved === null ? [] : [writtenLike(written, formatDecimal(moved))];
  });
}

/** The moved number with the sign and the digit grouping of the number that it replaces. */
function writtenLike(written: string, moved: string): string {
  const sign = written.startsWith('+') && !moved.startsWith('-') ? '+' : '';
  const [whole = '', fraction] = moved.split('.');
  const grouped = written.includes('_') ? whole.replace(/\B(?=(?:\d{3})+$)/g, '_') : whole;
  return `${sign}${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

function fractionDigits(written: string): number {
  return written.split('.')[1]?.length ?? 0;
}

function dates(written: string): readonly string[] {
  const day = parseDate(written);
  if (day === null) return [];
  return directions.flatMap((step) => {
    const moved = add(day, fromNumber(step));
    return moved === null ? [] : [formatDate(moved)];
  });
}

/** Moves the last written part, minutes or seconds, and keeps the offset. */
function instants(written: string): readonly string[] {
  const match = /^(.{10})[Tt ](\d\d):(\d\d)(?::(\d\d))?(.*)$/.exec(written);
  if (match === null) return [];
  const [, date = '', hour, minute, second, rest = ''] = match;
  const hasSeconds = second !== undefined;
  const time = Date.parse(`${date}T${hour}:${minute}:${second ?? '00'}Z`);
  // A file with errors may hold an invalid date.
  if (Number.isNaN(time)) return [];
  return directions.map((step) => {
    const moved = new Date(time + step * (hasSeconds ? 1_000 : 60_000)).toISOString();
    return `${moved.slice(0, hasSeconds ? 19 : 16)}${rest}`;
  });
}

function clocks(written: string): readonly string[] {
  const [hours = 0, minutes = 0] = written.split(':').map(Number);
  const minutesPerDay = secondsPerDay / 60;
  return directions
    .map((step) => hours * 60 + minutes + step)
    .filter((moved) => moved >= 0 && moved <= minutesPerDay)
    .map((moved) => `${padded(Math.floor(moved / 60))}:${padded(moved % 60)}`);
}

function padded(part: number): string {
  return String(part).padStart(2, '0');
}
