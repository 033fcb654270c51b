// A number with a word behind it → money, a duration or a number: `5USD`, `10 m`, `1h30m` and their like.

import { spanning } from '../../diagnostic/span.ts';
import { type Reader, tokenSpan } from '../parse/context.ts';
import { Currency, isAnyWord, literal, retype, sign, type Token, tokenEnd, word } from '../parse/tokens.ts';
import { type Repair, type RepairState, reportProblem } from './problem.ts';

export function repairNumber(index: number, state: RepairState): Repair | null {
  const number = state.tokens[index]!;
  const next = state.tokens[index + 1];
  if (next === undefined || !isAnyWord(next) || isLabel(index + 1, state)) return null;
  const isAdjacent = next.startOffset === tokenEnd(number);
  return isAdjacent ? repairAdjacent(number, next, state.reader) : repairApart(number, next, state.reader);
}

function isLabel(index: number, { tokens }: RepairState): boolean {
  const after = tokens[index + 1]?.tokenType;
  return after === sign.colon || after === sign.optional;
}

function repairAdjacent(number: Token, next: Token, reader: Reader): Repair {
  const image = number.image + next.image;
  const span = spanning(tokenSpan(number, reader), tokenSpan(next, reader));
  const calendar = calendarUnit(number, next);
  if (calendar !== null) return repairMonths(number, { next, calendar }, reader);
  if (next.tokenType === Currency || looksLikeCurrency(next)) {
    const currency = retype(next, Currency, next.image.toUpperCase());
    const message = `\`${image}\` has no blank between amount and currency`;
    const write = `${number.image} ${currency.image}`;
    reportProblem(span, { code: 'money-spelling', message, write }, reader);
    return { taken: 2, tokens: [number, currency] };
  }
  const write = compoundDuration(image) ?? unitDuration(number.image, next.image);
  if (write !== null || (plainNumber(image) === null && /^\d+(?:\.\d+)?[a-z]+$/.test(image))) {
    const message = `\`${image}\` is not one whole number and one unit`;
    const help = write === null ? 'durations are written `30s`, `15m`, `24h` or `7d`' : undefined;
    reportProblem(span, { code: 'duration-spelling', message, write, help }, reader);
    return { taken: 2, tokens: [durationToken(number, next, write ?? '1s')] };
  }
  const plain = plainNumber(image);
  if (plain !== null) {
    const message = `\`${image}\` is no number here: it is written in full`;
    reportProblem(span, { code: 'malformed-number', message, write: plain }, reader);
    return {
      taken: 2,
      tokens: [{ ...retype(number, literal.number, plain), endOffset: tokenEnd(next) - 1 }],
    };
  }
  const message = `\`${image}\` is neither a number nor a name`;
  reportProblem(span, { code: 'malformed-number', message, write: null }, reader);
  return { taken: 2, tokens: [number] };
}

function repairApart(number: Token, next: Token, reader: Reader): Repair | null {
  const named = Object.hasOwn(currencyNames, next.image) ? currencyNames[next.image]! : null;
  const isOnLine = !/[\r\n]/.test(reader.source.text.slice(number.startOffset, next.startOffset));
  if (named !== null && isOnLine) {
    const message = `\`${next.image}\` is not a currency: currencies are three capitals`;
    const help = `write \`${named}\`, or the currency that is meant`;
    reportProblem(tokenSpan(next, reader), { code: 'money-spelling', message, write: null, help }, reader);
    return { taken: 2, tokens: [number, retype(next, Currency, named)] };
  }
  const calendar = calendarUnit(number, next);
  if (calendar !== null && isOnLine) return repairMonths(number, { next, calendar }, reader);
  const write = unitDuration(number.image, next.image);
  const isMoney = next.tokenType !== Currency && looksLikeCurrency(next);
  if (write === null && !isMoney) return null;
  const between = reader.source.text.slice(number.startOffset, next.startOffset);
  if (/[\r\n]/.test(between)) return null;
  if (write !== null) {
    const message = `\`${number.image} ${next.image}\` has a blank between number and unit`;
    const span = spanning(tokenSpan(number, reader), tokenSpan(next, reader));
    reportProblem(span, { code: 'duration-spelling', message, write }, reader);
    return { taken: 2, tokens: [durationToken(number, next, write)] };
  }
  const better = retype(next, Currency, next.image.toUpperCase());
  const message = `\`${next.image}\` is not a currency: currencies are three capitals`;
  reportProblem(tokenSpan(next, reader), { code: 'money-spelling', message, write: better.image }, reader);
  return { taken: 2, tokens: [number, better] };
}

const calendarUnits = {
  year: /^(?:y|yrs?|years?)$/i,
  month: /^(?:mo|mos|mon|mons|mths?|months?)$/i,
};

/** The word of the language for a number of years or months; null for anything else, `m` being minutes, and for the word itself. */
function calendarUnit(number: Token, { image, startOffset }: Token): string | null {
  const unit = (['year', 'month'] as const).find((one) => calendarUnits[one].test(image));
  if (unit === undefined || !/^\d+$/.test(number.image)) return null;
  const isWord = image === unit || image === `${unit}s`;
  if (isWord && startOffset > tokenEnd(number)) return null;
  return number.image === '1' ? unit : `${unit}s`;
}

/** `18y`, `18 yrs` and `18years` into `18 years`. */
function repairMonths(
  number: Token,
  { next, calendar }: { readonly next: Token; readonly calendar: string },
  reader: Reader,
): Repair {
  const span = spanning(tokenSpan(number, reader), tokenSpan(next, reader));
  const written = reader.source.text.slice(span.start, span.end);
  const message = `\`${written}\` is not how years and months are written`;
  const write = `${number.image} ${calendar}`;
  reportProblem(span, { code: 'duration-spelling', message, write }, reader);
  return { taken: 2, tokens: [number, retype(next, word[calendar as 'year'], calendar)] };
}

/** `1e3`, `0x10` and `5k` in full; null for anything else. */
function plainNumber(image: string): string | null {
  const [, digits = '', power = ''] = /^([1-9]\d{0,5})e(\d{1,2})$/i.exec(image) ?? [];
  if (digits !== '') return digits + '0'.repeat(Number(power));
  if (/^0x[0-9a-f]{1,12}$/i.test(image)) return String(Number(image));
  const [, amount, size] = /^(\d{1,9})([kKM])$/.exec(image) ?? [];
  return amount === undefined ? null : amount + (size === 'M' ? '000000' : '000');
}

function looksLikeCurrency({ image }: Token): boolean {
  return ['usd', 'eur', 'gbp', 'jpy', 'chf', 'cad', 'aud', 'cny', 'inr'].includes(image.toLowerCase());
}

const currencyNames: Readonly<Record<string, string>> = {
  dollars: 'USD',
  dollar: 'USD',
  euros: 'EUR',
  euro: 'EUR',
  pounds: 'GBP',
  yen: 'JPY',
};

function durationToken(number: Token, unit: Token, image: string): Token {
  return { ...retype(number, literal.duration, image), endOffset: tokenEnd(unit) - 1 };
}

const units = {
  s: { seconds: 1, spelled: /^(?:s|secs?|seconds?)$/ },
  m: { seconds: 60, spelled: /^(?:m|mins?|minutes?)$/ },
  h: { seconds: 3_600, spelled: /^(?:h|hrs?|hours?)$/ },
  d: { seconds: 86_400, spelled: /^(?:d|days?)$/ },
};
type Unit = keyof typeof units;

/** `1h30m` as one number of its smallest unit: `90m`; null for anything else. */
function compoundDuration(image: string): string | null {
  if (!/^(?:\d{1,6}[smhd]){2,8}$/.test(image)) return null;
  const parts = [...image.matchAll(/(\d+)([smhd])/g)].map(([, amount, unit]) => ({
    amount: Number(amount),
    unit: unit as Unit,
  }));
  const smallest = parts.map(({ unit }) => unit).sort((a, b) => units[a].seconds - units[b].seconds)[0]!;
  const seconds = parts.reduce((total, { amount, unit }) => total + amount * units[unit].seconds, 0);
  return `${seconds / units[smallest].seconds}${smallest}`;
}

function unitDuration(amount: string, word: string): string | null {
  if (!/^\d+$/.test(amount)) return null;
  if (/^(?:w|weeks?)$/.test(word)) return amount.length > 6 ? null : `${Number(amount) * 7}d`;
  const unit = Object.entries(units).find(([, { spelled }]) => spelled.test(word))?.[0];
  return unit === undefined ? null : amount + unit;
}
