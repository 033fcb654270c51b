// Says in one line, for people, what a request is about: the title that its action declares, filled with
// fields of the payload, or else the first short fields. INVARIANT: what an agent sent is shown as data: on
// one line, without invisible characters or characters that change the direction of text, and never so long
// that the rest of the line is lost.

import { cut, escapeControls, length } from '../value/text.ts';
import type { JsonObject } from './json.ts';
import { valueAt } from './request.ts';
import type { ResolvedText } from './trace.ts';

/** Texts and the fields between them, in order. */
export type Title = readonly (string | TitleField)[];

export interface TitleField {
  readonly steps: readonly string[];
  /** For an amount of money, the steps to the field with its currency; else null. */
  readonly currency: readonly string[] | null;
}

/** The most characters of a declared title without its fields. */
export const titleLengthMax = 200;
const fieldLengthMax = 60;
/** The most characters of a title with its fields. */
export const filledTitleLengthMax = 300;
/** The most elements of a list that are shown; the others are counted. */
const elementsMax = 3;
/** The most fields that are shown for a request whose action has no title. */
const shortFieldsMax = 3;
const shortFieldLengthMax = 40;

/**
 * Fills a title with fields of the payload as rules see it. A text that was sent in another spelling is shown
 * beside it: `a@example.com (given as "a@EXAMPLE.com")`. A missing field is shown by its name: `(no vendor)`. A
 * text that would be too long is shown without other spellings, and then ends with `…` in place of whole fields: a
 * part of an amount or a name would read as another one.
 */
export function titleText(title: Title, sent: JsonObject, seen = sent): string {
  let whole = '';
  for (const part of title) whole += partText(part, sent, seen);
  if (whole.length <= filledTitleLengthMax || length(whole) <= filledTitleLengthMax) return whole;
  if (sent !== seen) return titleText(title, seen);
  const parts = title.map((part) => partText(part, sent, seen));
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

function partText(part: Title[number], sent: JsonObject, seen: JsonObject): string {
  return typeof part === 'string' ? part : fieldText(part, sent, seen);
}

function fieldText({ steps, currency }: TitleField, sent: JsonObject, seen: JsonObject): string {
  const value = valueAt(seen, steps);
  if (Array.isArray(value)) return listText(value, valueAt(sent, steps), `(no ${lastOf(steps)})`);
  const code = currency === null ? null : valueAt(seen, currency);
  const text = shown(value, code ?? null) ?? `(no ${lastOf(steps)})`;
  return sent === seen ? text : text + givenAs(valueAt(sent, steps), value);
}

/** The first elements and the number of the others: `ann@example.com, bob@example.com and 3 more`. */
function listText(seen: readonly unknown[], sent: unknown, none: string): string {
  if (seen.length === 0) return none;
  const spellings = Array.isArray(sent) ? (sent as readonly unknown[]) : seen;
  const texts = seen
    .slice(0, elementsMax)
    .map((value, at) => (shown(value, null) ?? '(none)') + givenAs(spellings[at], value));
  const more = seen.length - texts.length;
  if (more > 0) return `${texts.join(', ')} and ${more} more`;
  return texts.length === 1 ? texts[0]! : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

function lastOf(steps: readonly string[]): string {
  return cut(steps.at(-1) ?? '', fieldLengthMax);
}

/** The spelling in which a text was sent, if rules see another one. */
function givenAs(sent: unknown, seen: unknown): string {
  if (typeof sent !== 'string' || sent === seen) return '';
  return ` (given as "${shortened(sent).replaceAll('"', '\\"')}")`;
}

/**
 * Returns the first short fields with their names; an empty text when there are none. `resolved` has the texts
 * that rules see in another spelling.
 */
export function shortFields(payload: JsonObject, resolved: readonly ResolvedText[] = []): string {
  const seen = new Map(resolved.map((one) => [one.pointer, one.resolved]));
  const parts: { readonly plain: string; readonly given: string }[] = [];
  for (const [name, sent] of Object.entries(payload)) {
    const value = seen.get(`/${name}`) ?? sent;
    const text = shown(value, null);
    if (text === null || text.length > shortFieldLengthMax) continue;
    parts.push({ plain: `${cut(escapeControls(name), 40)} ${text}`, given: givenAs(sent, value) });
    if (parts.length === shortFieldsMax) break;
  }
  const whole = parts.map(({ plain, given }) => plain + given).join(', ');
  return length(whole) <= filledTitleLengthMax ? whole : parts.map(({ plain }) => plain).join(', ');
}

/** Returns an amount in the usual notation: `4,200.00 USD`. */
function moneyText(amount: number, currency: string): string {
  const { format, decimalsMin } = moneyFormat(currency);
  return `${plainAmount(amount, decimalsMin) ?? format.format(amount)} ${currency}`;
}

const plainNumber = /^(\d+)(?:\.(\d{1,15}))?$/;
const betweenThousands = /\B(?=(?:\d{3})+$)/g;

/**
 * Formats an ordinary amount as `format` does, in a fifth of the time; null for any other amount. A law in
 * test/laws keeps the two equal.
 */
function plainAmount(amount: number, decimalsMin: number): string | null {
  const [, whole, decimals = ''] = amount > 0 ? (plainNumber.exec(`${amount}`) ?? []) : [];
  if (whole === undefined) return null;
  const grouped = whole.length <= 3 ? whole : whole.replace(betweenThousands, ',');
  const padded = decimals.padEnd(decimalsMin, '0');
  return padded === '' ? grouped : `${grouped}.${padded}`;
}

/** As `moneyText`; null when the currency is no currency code. */
export function moneyTextOrNull(amount: number, currency: unknown): string | null {
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? moneyText(amount, currency) : null;
}

function shown(value: unknown, currency: unknown): string | null {
  if (typeof value === 'number') return moneyTextOrNull(value, currency) ?? String(value);
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? shortened(value) : null;
}

/** Cuts a long text and ends it with `…`. */
function shortened(value: string): string {
  const text = escapeControls(value.length <= fieldLengthMax ? value : cut(value, fieldLengthMax + 1));
  return text.length <= fieldLengthMax || length(text) <= fieldLengthMax
    ? text
    : `${cut(text, fieldLengthMax - 1)}…`;
}

interface MoneyFormat {
  /** Shows as many decimals as the currency has, and more when the amount has more. */
  readonly format: Intl.NumberFormat;
  readonly decimalsMin: number;
}

const formats = new Map<string, MoneyFormat>();

function moneyFormat(currency: string): MoneyFormat {
  const cached = formats.get(currency);
  if (cached !== undefined) return cached;
  const usual = new Intl.NumberFormat('en-US', { style: 'currency', currency }).resolvedOptions();
  const decimalsMin = usual.minimumFractionDigits ?? 2;
  const made: MoneyFormat = {
    format: new Intl.NumberFormat('en-US', { minimumFractionDigits: decimalsMin, maximumFractionDigits: 15 }),
    decimalsMin,
  };
  // Agents choose the codes, so the number of kept formats is bounded.
  if (formats.size < 1_000) formats.set(currency, made);
  return made;
}
