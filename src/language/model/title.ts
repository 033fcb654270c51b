// What a request is about, in one line for people: the title that its action declares, filled with fields of the payload,
// or else the first short fields. INVARIANT: what an agent has sent is shown as data: on one line, without characters that
// are not seen or turn the text around, and never so long that the rest of the line is lost.

import { cut, escapeControls, length } from '../value/text.ts';
import type { JsonObject } from './json.ts';
import { valueAt } from './request.ts';

/** Texts and the fields between them, in order. */
export type Title = readonly (string | TitleField)[];

export interface TitleField {
  readonly steps: readonly string[];
  /** Of an amount of money, the steps to the field with its currency; else null. */
  readonly currency: readonly string[] | null;
}

/** Characters of a declared title without its fields. */
export const titleLengthMax = 200;
const fieldLengthMax = 60;
/** Characters of a title with its fields. */
export const filledTitleLengthMax = 300;
/** Fields that are shown of a request whose action has no title. */
const shortFieldsMax = 3;
const shortFieldLengthMax = 40;

/**
 * A field that the payload does not have is shown by its name: `(no vendor)`. What would be too long ends with `…`, which
 * stands for whole fields: a part of an amount or a name would be another one.
 */
export function titleText(title: Title, payload: JsonObject): string {
  let whole = '';
  for (const part of title) whole += partText(part, payload);
  if (whole.length <= filledTitleLengthMax || length(whole) <= filledTitleLengthMax) return whole;
  const parts = title.map((part) => partText(part, payload));
  let text = '';
  let left = filledTitleLengthMax - 1;
  for (const [index, part] of parts.entries()) {
    const needed = length(part);
    if (needed > left) return `${text}${typeof title[index] === 'string' ? cut(part, left) : ''}…`;
    text += part;
    left -= needed;
  }
  return text;
}

function partText(part: Title[number], payload: JsonObject): string {
  return typeof part === 'string' ? part : fieldText(part, payload);
}

function fieldText({ steps, currency }: TitleField, payload: JsonObject): string {
  const value = valueAt(payload, steps);
  const code = currency === null ? null : valueAt(payload, currency);
  return shown(value, code ?? null) ?? `(no ${cut(steps.at(-1) ?? '', fieldLengthMax)})`;
}

/** The first fields that are short, with their names; empty where there are none. */
export function shortFields(payload: JsonObject): string {
  const short = Object.entries(payload).flatMap(([name, value]) => {
    const text = shown(value, null);
    return text === null || text.length > shortFieldLengthMax
      ? []
      : [`${cut(escapeControls(name), 40)} ${text}`];
  });
  return short.slice(0, shortFieldsMax).join(', ');
}

/** An amount as people write it: `4,200.00 USD`. */
function moneyText(amount: number, currency: string): string {
  const { format, decimalsMin } = moneyFormat(currency);
  return `${plainAmount(amount, decimalsMin) ?? format.format(amount)} ${currency}`;
}

const plainNumber = /^(\d+)(?:\.(\d{1,15}))?$/;
const betweenThousands = /\B(?=(?:\d{3})+$)/g;

/** What the format makes of an ordinary amount, in a fifth of its time; null where it is none. A law holds the two equal. */
function plainAmount(amount: number, decimalsMin: number): string | null {
  const [, whole, decimals = ''] = amount > 0 ? (plainNumber.exec(`${amount}`) ?? []) : [];
  if (whole === undefined) return null;
  const grouped = whole.length <= 3 ? whole : whole.replace(betweenThousands, ',');
  const shown = decimals.padEnd(decimalsMin, '0');
  return shown === '' ? grouped : `${grouped}.${shown}`;
}

/** As `moneyText`; null where the currency is no code. */
export function moneyShown(amount: number, currency: unknown): string | null {
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? moneyText(amount, currency) : null;
}

function shown(value: unknown, currency: unknown): string | null {
  if (typeof value === 'number') return moneyShown(value, currency) ?? String(value);
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? shortened(value) : null;
}

/** What is cut ends with `…`. */
function shortened(value: string): string {
  const text = escapeControls(value.length <= fieldLengthMax ? value : cut(value, fieldLengthMax + 1));
  return text.length <= fieldLengthMax || length(text) <= fieldLengthMax
    ? text
    : `${cut(text, fieldLengthMax - 1)}…`;
}

interface MoneyFormat {
  /** With as many decimals as the currency has, and more where the amount has more. */
  readonly format: Intl.NumberFormat;
  readonly decimalsMin: number;
}

const formats = new Map<string, MoneyFormat>();

function moneyFormat(currency: string): MoneyFormat {
  const known = formats.get(currency);
  if (known !== undefined) return known;
  const usual = new Intl.NumberFormat('en-US', { style: 'currency', currency }).resolvedOptions();
  const decimalsMin = usual.minimumFractionDigits ?? 2;
  const made: MoneyFormat = {
    format: new Intl.NumberFormat('en-US', { minimumFractionDigits: decimalsMin, maximumFractionDigits: 15 }),
    decimalsMin,
  };
  // Agents choose the codes, of which there are no more than letters allow.
  if (formats.size < 1_000) formats.set(currency, made);
  return made;
}
