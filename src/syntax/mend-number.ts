// A number with a word behind it → money, a duration or a number: `5USD`, `10 m`, `1h30m` and their like.

import { Currency, isAnyWord, literal, retype, sign, type Token } from '../../grammar/tokens.ts';
import { spanning } from '../diagnostic/span.ts';
import { tokenSpan } from './build-context.ts';
import { type MendState, reportProblem } from './mend-state.ts';

/** Mends a number; answers how many tokens that took. */
export function mendNumber(index: number, state: MendState): number {
  const number = state.tokens[index]!;
  const next = state.tokens[index + 1];
  if (next === undefined || !isAnyWord(next) || isLabel(index + 1, state)) {
    state.mended.push(number);
    return 1;
  }
  const isAdjacent = next.startOffset === (number.endOffset ?? number.startOffset) + 1;
  return isAdjacent ? mendAdjacent(number, next, state) : mendApart(number, next, state);
}

function isLabel(index: number, state: MendState): boolean {
  const after = state.tokens[index + 1]?.tokenType;
  return after === sign.colon || after === sign.optional;
}

function mendAdjacent(number: Token, next: Token, state: MendState): number {
  const image = number.image + next.image;
  const span = spanning(tokenSpan(number, state.reader), tokenSpan(next, state.reader));
  if (next.tokenType === Currency || looksLikeCurrency(next)) {
    const write = `${number.image} ${next.image.toUpperCase()}`;
    const message = `\`${image}\` has no blank between amount and currency`;
    reportProblem(span, { code: 'money-spelling', message, write }, state.reader);
    state.mended.push(number, retype(next, Currency, next.image.toUpperCase()));
    return 2;
  }
  const duration = compoundDuration(image) ?? unitDuration(number.image, next.image);
  if (duration !== null || /^\d+(?:\.\d+)?[a-z]+$/.test(image)) {
    const message = `\`${image}\` is not one whole number and one unit`;
    const help = 'durations are written `30s`, `15m`, `24h` or `7d`';
    const problem = { code: 'duration-spelling', message, write: duration } as const;
    reportProblem(span, duration === null ? { ...problem, help } : problem, state.reader);
    state.mended.push(durationToken(number, next, duration ?? '1s'));
    return 2;
  }
  const message = `\`${image}\` is neither a number nor a name`;
  reportProblem(span, { code: 'malformed-number', message, write: null }, state.reader);
  state.mended.push(number);
  return 2;
}

function mendApart(number: Token, next: Token, state: MendState): number {
  const span = spanning(tokenSpan(number, state.reader), tokenSpan(next, state.reader));
  const isSameLine = !/[\r\n]/.test(state.reader.source.text.slice(span.start, span.end));
  const duration = unitDuration(number.image, next.image);
  if (isSameLine && duration !== null) {
    const message = `\`${number.image} ${next.image}\` has a blank between number and unit`;
    reportProblem(span, { code: 'duration-spelling', message, write: duration }, state.reader);
    state.mended.push(durationToken(number, next, duration));
    return 2;
  }
  state.mended.push(number);
  if (!isSameLine || next.tokenType === Currency || !looksLikeCurrency(next)) return 1;
  const better = retype(next, Currency, next.image.toUpperCase());
  const message = `\`${next.image}\` is not a currency: currencies are three capitals`;
  reportProblem(
    tokenSpan(next, state.reader),
    { code: 'money-spelling', message, write: better.image },
    state.reader,
  );
  state.mended.push(better);
  return 2;
}

function looksLikeCurrency({ image }: Token): boolean {
  return ['usd', 'eur', 'gbp', 'jpy', 'chf', 'cad', 'aud', 'cny', 'inr'].includes(image.toLowerCase());
}

function durationToken(number: Token, unit: Token, image: string): Token {
  const end = unit.endOffset === undefined ? {} : { endOffset: unit.endOffset };
  return { ...retype(number, literal.duration, image), ...end };
}

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
type Unit = keyof typeof unitSeconds;

/** `1h30m` as one number of its smallest unit: `90m`; null for anything else. */
function compoundDuration(image: string): string | null {
  if (!/^(?:\d{1,6}[smhd]){2,8}$/.test(image)) return null;
  const parts = [...image.matchAll(/(\d+)([smhd])/g)].map(([, amount, unit]) => ({
    amount: Number(amount),
    unit: unit as Unit,
  }));
  const smallest = parts.map(({ unit }) => unit).sort((a, b) => unitSeconds[a] - unitSeconds[b])[0]!;
  const seconds = parts.reduce((total, { amount, unit }) => total + amount * unitSeconds[unit], 0);
  return `${seconds / unitSeconds[smallest]}${smallest}`;
}

const unitWords: Readonly<Record<string, Unit>> = {
  ...{ s: 's', sec: 's', secs: 's', second: 's', seconds: 's' },
  ...{ m: 'm', min: 'm', mins: 'm', minute: 'm', minutes: 'm' },
  ...{ h: 'h', hr: 'h', hrs: 'h', hour: 'h', hours: 'h', d: 'd', day: 'd', days: 'd' },
};

function unitDuration(amount: string, unit: string): string | null {
  if (!/^\d+$/.test(amount)) return null;
  if (/^(?:w|weeks?)$/.test(unit)) return amount.length > 6 ? null : `${Number(amount) * 7}d`;
  return Object.hasOwn(unitWords, unit) ? `${amount}${unitWords[unit]}` : null;
}
