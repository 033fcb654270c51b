// Repairs a number with a word behind it, such as `5USD`, `10 m` and `1h30m`: reads it as money, a duration
// or a number. Also repairs dates that are written in another form.

import {
  Currency,
  comparing,
  isAnyWord,
  keyword,
  literal,
  retype,
  symbol,
  type Token,
  tokenEnd,
} from '../parse/tokens.ts';
import { type Cursor, type Repair, spanningToken, spellingByForeignWord } from './cursor.ts';

export function repairNumber(cursor: Cursor): Repair | null {
  const next = cursor.at(1);
  const isLabel = cursor.type(2) === symbol.colon || cursor.type(2) === symbol.optional;
  if (next === undefined || !isAnyWord(next) || isLabel) return null;
  if (cursor.isAdjacent(1)) return repairAdjacent(cursor.token, next);
  return cursor.beginsLine(1) ? null : repairApart(cursor, next);
}

function repairAdjacent(number: Token, next: Token): Repair {
  const image = number.image + next.image;
  const calendar = calendarUnit(number, next);
  if (calendar !== null) return repairMonths(number, next, calendar);
  if (next.tokenType === Currency || looksLikeCurrency(next)) {
    const currency = retype(next, Currency, next.image.toUpperCase());
    const message = `\`${image}\` has no blank between amount and currency`;
    const write = `${number.image} ${currency.image}`;
    return { to: 1, code: 'money-spelling', message, write, read: [number, currency] };
  }
  const clock = clockTime(number.image, next.image);
  if (clock !== null) {
    const read = [spanningToken(retype(number, literal.clock, clock), next)];
    return { to: 1, message: 'a day has 24 hours: clock times have no am and pm', write: clock, read };
  }
  const plain = plainNumber(image);
  const duration = compoundDuration(image) ?? unitDuration(number.image, next.image);
  if (duration !== null || (plain === null && /^\d+(?:\.\d+)?[a-z]+$/.test(image))) {
    const message = `\`${image}\` is not one whole number and one unit`;
    const help = 'durations are written `30s`, `15m`, `24h` or `7d`';
    const remedy = duration === null ? { help } : { write: duration };
    const read = [spanningToken(retype(number, literal.duration, duration ?? '1s'), next)];
    return { to: 1, code: 'duration-spelling', message, ...remedy, read };
  }
  if (plain === null) {
    const message = `\`${image}\` is neither a number nor a name`;
    return { to: 1, code: 'malformed-number', message, read: [number] };
  }
  const message = `\`${image}\` is not a number here: it is written in full`;
  const read = [spanningToken(retype(number, literal.number, plain), next)];
  return { to: 1, code: 'malformed-number', message, write: plain, read };
}

function repairApart(cursor: Cursor, next: Token): Repair | null {
  const number = cursor.token;
  const { image } = next;
  const calendar = calendarUnit(number, next);
  if (calendar !== null) return repairMonths(number, next, calendar);
  const write = unitDuration(number.image, image);
  if (write !== null) {
    const both =
      cursor.type(2) === keyword.and
        ? unitDuration(cursor.at(3)?.image ?? '', cursor.at(4)?.image ?? '')
        : null;
    const sum = both === null ? null : compoundDuration(write + both);
    if (sum !== null) {
      const message = `\`${cursor.text(0, 4)}\` is not one whole number and one unit`;
      const read = [spanningToken(retype(number, literal.duration, sum), cursor.at(4)!)];
      return { to: 4, code: 'duration-spelling', message, write: sum, read };
    }
    const message = `\`${number.image} ${image}\` has a blank between number and unit`;
    const read = [spanningToken(retype(number, literal.duration, write), next)];
    return { to: 1, code: 'duration-spelling', message, write, read };
  }
  const named = currencyNames.get(image);
  if (named === undefined && (next.tokenType === Currency || !looksLikeCurrency(next))) return null;
  const message = `\`${image}\` is not a currency: currencies are three capitals`;
  const currency = named ?? image.toUpperCase();
  const help = `write \`${currency}\`, or the currency that is meant`;
  const remedy = named === undefined ? { write: currency } : { help };
  return { from: 1, code: 'money-spelling', message, ...remedy, read: [retype(next, Currency, currency)] };
}

/**
 * Repairs `2026/12/25`, `12/25/2026` and `25.12.2026` behind a comparison: dates are written `2026-12-25`.
 */
export function repairDate(cursor: Cursor): Repair | null {
  if (!comparing.has(cursor.type(-1))) return null;
  let to = 0;
  while (cursor.at(to + 1) !== undefined && cursor.isAdjacent(to + 1) && partsOfDate.has(cursor.type(to + 1)))
    to++;
  const text = cursor.text(0, to);
  const [, year = '', month = '', day = ''] = /^(\d{4})[-/.](\d\d?)[-/.](\d\d?)$/.exec(text) ?? [];
  const isOther = /^\d\d?[-/.]\d\d?[-/.]\d{4}$/.test(text);
  if (year === '' && !isOther) return null;
  const message = `\`${text}\` is not how a date is written`;
  const write = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  if (isOther) return { to, message, help: 'write year, month and day: `2026-12-25`' };
  return { to, message, write, read: [retype(cursor.token, literal.date, write)] };
}

const partsOfDate: ReadonlySet<unknown> = new Set([literal.number, symbol.slash, symbol.dot, symbol.minus]);

const calendarUnits = {
  year: /^(?:y|yrs?|years?)$/i,
  month: /^(?:mo|mos|mon|mons|mths?|months?)$/i,
};
type CalendarUnit = keyof typeof calendarUnits;

/**
 * The word of the language for a number of years or months. Null for anything else (`m` means minutes), and
 * if the word is already right.
 */
function calendarUnit(
  number: Token,
  { image, startOffset }: Token,
): CalendarUnit | `${CalendarUnit}s` | null {
  const unit = (['year', 'month'] as const).find((one) => calendarUnits[one].test(image));
  if (unit === undefined || !/^\d+$/.test(number.image)) return null;
  const isWord = image === unit || image === `${unit}s`;
  if (isWord && startOffset > tokenEnd(number)) return null;
  return number.image === '1' ? unit : `${unit}s`;
}

/** Reads `18y`, `18 yrs` and `18years` as `18 years`. */
function repairMonths(number: Token, next: Token, calendar: CalendarUnit | `${CalendarUnit}s`): Repair {
  const written =
    next.startOffset > tokenEnd(number) ? `${number.image} ${next.image}` : number.image + next.image;
  const message = `\`${written}\` is not how years and months are written`;
  const write = `${number.image} ${calendar}`;
  return {
    to: 1,
    code: 'duration-spelling',
    message,
    write,
    read: [number, retype(next, keyword[calendar], calendar)],
  };
}

/** Writes `1e3`, `0x10` and `5k` in full; null for anything else. */
function plainNumber(image: string): string | null {
  const [, digits = '', power = ''] = /^([1-9]\d{0,5})e(\d{1,2})$/i.exec(image) ?? [];
  if (digits !== '') return digits + '0'.repeat(Number(power));
  if (/^0x[0-9a-f]{1,12}$/i.test(image)) return String(Number(image));
  const [, amount, size] = /^(\d{1,9})([kKM])$/.exec(image) ?? [];
  return amount === undefined ? null : amount + (size === 'M' ? '000000' : '000');
}

/** Turns `9am` and `12pm` into `09:00` and `12:00`; null for anything else. */
function clockTime(number: string, half: string): string | null {
  if (!/^(?:[1-9]|1[0-2])$/.test(number) || !/^[ap]m$/i.test(half)) return null;
  const hour = (Number(number) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  return `${String(hour).padStart(2, '0')}:00`;
}

function looksLikeCurrency({ image }: Token): boolean {
  return ['usd', 'eur', 'gbp', 'jpy', 'chf', 'cad', 'aud', 'cny', 'inr'].includes(image.toLowerCase());
}

const currencyNames = spellingByForeignWord({
  USD: ['dollars', 'dollar'],
  EUR: ['euros', 'euro'],
  GBP: ['pounds'],
  JPY: ['yen'],
});

const units = {
  s: { seconds: 1, spelled: /^(?:s|secs?|seconds?)$/ },
  m: { seconds: 60, spelled: /^(?:m|mins?|minutes?)$/ },
  h: { seconds: 3_600, spelled: /^(?:h|hrs?|hours?)$/ },
  d: { seconds: 86_400, spelled: /^(?:d|days?)$/ },
};
type Unit = keyof typeof units;

/** Turns `1h30m` into one number of its smallest unit, `90m`; null for anything else. */
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
