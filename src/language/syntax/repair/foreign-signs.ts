// Signs of other languages → what they mean here: comments, quotes, patterns, currencies, ternaries.

import { Currency, literal, retype, sign, tokenEnd, word } from '../parse/tokens.ts';
import { instead, lookaheadMax } from './foreign-form.ts';
import type { RepairAt } from './problem.ts';

/** A comment behind `//`, or between `/*` and its counterpart. */
export const repairComment: RepairAt = (index, state) => {
  const { image } = state.tokens[index]!;
  const text = image.slice(2, image.endsWith('*/') ? -2 : undefined);
  const write = text
    .split(/\r\n?|\n/)
    .map((line) => `#${line}`)
    .join('\n');
  const help = 'write `#`: a comment runs to the end of its line';
  // What follows on the last line of a comment between two marks would be part of it.
  const after = state.reader.source.text.slice(tokenEnd(state.tokens[index]!)).split(/[\r\n]/, 1)[0]!;
  const isAlone = after.trim() === '';
  const message = `\`${image.slice(0, 2)}\` begins no comment`;
  return instead({ index, taken: 1 }, { message, help, write: isAlone ? write : null }, [], state);
};

export const repairCurlyQuotes: RepairAt = (index, state) => {
  const token = state.tokens[index]!;
  const text = token.image.slice(1, -1);
  const isRaw = '‘’‚'.includes(token.image.charAt(0)) && !text.includes("'");
  const write = isRaw ? `'${text}'` : JSON.stringify(text);
  const message = 'texts stand between straight quotes';
  const better = retype(token, isRaw ? literal.raw : literal.quoted, write);
  return instead({ index, taken: 1 }, { message, help: `write \`${write}\``, write }, [better], state);
};

/** A pattern between slashes, after `matches` or a comparison. */
export const repairRegex: RepairAt = (index, state) => {
  const token = state.tokens[index]!;
  const end = token.image.lastIndexOf('/');
  const pattern = token.image.slice(1, end).replaceAll('\\/', '/');
  const write = `'${pattern}'`;
  const isPlain = !pattern.includes("'") && end === token.image.length - 1;
  const message = 'a regular expression stands between quotes, not slashes';
  const help = isPlain
    ? `write \`${write}\`: it matches the whole text, not a part of it`
    : "write `'...'` without flags: it matches the whole text; `fold(x)` makes case not count";
  const better = retype(token, literal.raw, isPlain ? write : "'.*'");
  return instead({ index, taken: 1 }, { message, help, write: isPlain ? write : null }, [better], state);
};

const currencySigns: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY' };

/** `$1000`, which may mean one of several currencies. */
export const repairCurrencySign: RepairAt = (index, state) => {
  const [token, number] = [state.tokens[index]!, state.tokens[index + 1]];
  if (number?.tokenType !== literal.number) return null;
  const currency = currencySigns[token.image]!;
  const help = `write \`${number.image} ${currency}\`, with the currency that is meant`;
  const tokens = [number, { ...retype(number, Currency, currency) }];
  const message = `\`${token.image}\` is no currency: an amount is a number and three capitals`;
  return instead({ index, taken: 2 }, { message, help, write: null }, tokens, state);
};

export const repairPercent: RepairAt = (index, state) => {
  const number = state.tokens[index - 1];
  const isPart =
    number?.tokenType === literal.number && tokenEnd(number) === state.tokens[index]!.startOffset;
  const share = isPart ? String(Number(number.image.replaceAll('_', '')) / 100) : '0.5';
  const message = isPart ? `\`${number.image}%\` is no number` : '`%` has no meaning here';
  const help = isPart
    ? `write the part of what is meant, such as \`${share} * payload.limit\``
    : 'there is no remainder of a division';
  return instead({ index, taken: 1 }, { message, help, write: null }, [], state);
};

export const repairSemicolon: RepairAt = (index, state) => {
  const help = 'remove it: declarations and rules need nothing between them';
  return instead({ index, taken: 1 }, { message: '`;` ends nothing here', help, write: '' }, [], state);
};

export const repairOptionalDot: RepairAt = (index, state) => {
  const token = state.tokens[index]!;
  const help = 'write `.`, and ask for an optional field by `payload has note`';
  const better = retype(token, sign.dot, '.');
  return instead(
    { index, taken: 1 },
    { message: '`?.` is written `.` here', help, write: '.' },
    [better],
    state,
  );
};

/** `a ? b : c` is read as `a and b or c`. */
export const repairTernary: RepairAt = (index, state) => {
  const token = state.tokens[index]!;
  const end = Math.min(state.tokens.length, index + lookaheadMax);
  for (let at = index + 1; at < end; at++) {
    const { tokenType } = state.tokens[at]!;
    if (tokenType === sign.openCurly || tokenType === sign.closeCurly) break;
    if (tokenType !== sign.colon) continue;
    state.rereads.set(at, retype(state.tokens[at]!, word.or, 'or'));
    const help = 'write `(a and b) or (not a and c)` for `a ? b : c`, or two rules';
    const message = '`? :` chooses between values, which no expression does here';
    return instead(
      { index, taken: 1 },
      { message, help, write: null },
      [retype(token, word.and, 'and')],
      state,
    );
  }
  const help = 'an optional field is written `name?: type`';
  return instead({ index, taken: 1 }, { message: '`?` has no meaning here', help, write: null }, [], state);
};
