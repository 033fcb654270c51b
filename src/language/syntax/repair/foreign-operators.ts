// Repairs signs and brackets of other languages: comments, quotes, patterns, currencies, lists, positions.

import {
  Currency,
  effects,
  isAnyText,
  keyword,
  literal,
  mistake,
  NameToken,
  retype,
  symbol,
  type Token,
  tokenEnd,
  wordTypes,
} from '../parse/tokens.ts';
import {
  beforeCondition,
  type Cursor,
  literalTypes,
  lookaheadMax,
  type Repair,
  rebracketed,
  spanningToken,
} from './cursor.ts';

/** Repairs a comment that begins with `//`, `--` or `/*`: comments begin with `#`. */
export function repairComment(cursor: Cursor): Repair {
  const { image } = cursor.token;
  const lines = image.slice(2, image.endsWith('*/') ? -2 : undefined).split(/\r\n?|\n/);
  const message = `\`${image.slice(0, 2)}\` begins no comment`;
  const help = 'write `#`: a comment runs to the end of its line';
  // A comment between two marks gets no fix if anything follows on its last line, which `#` would make part
  // of the comment.
  const after = cursor.reader.source.text.slice(tokenEnd(cursor.token)).split(/[\r\n]/, 1)[0]!;
  const write = after.trim() === '' ? lines.map((line) => `#${line}`).join('\n') : undefined;
  return { message, help, write, read: [] };
}

export function repairCurlyQuotes(cursor: Cursor): Repair {
  const { image } = cursor.token;
  const text = image.slice(1, -1);
  const isRaw = '‘’‚'.includes(image.charAt(0)) && !text.includes("'");
  const write = isRaw ? `'${text}'` : JSON.stringify(text);
  const read = [retype(cursor.token, isRaw ? literal.raw : literal.quoted, write)];
  return { message: 'texts are written in straight quotes', write, read };
}

/** Repairs a pattern between slashes, behind `matches` or a comparison: patterns stand in quotes. */
export function repairRegex(cursor: Cursor): Repair {
  const { image } = cursor.token;
  const end = image.lastIndexOf('/');
  const pattern = image.slice(1, end).replaceAll('\\/', '/');
  const isPlain = !pattern.includes("'") && end === image.length - 1;
  const write = isPlain ? `'${pattern}'` : undefined;
  const help = isPlain
    ? `write \`${write}\`: it matches the whole text, not a part of it`
    : "write `'...'` without flags: it matches the whole text; `fold(x)` makes case not count";
  const read = [retype(cursor.token, literal.raw, write ?? "'.*'")];
  return { message: 'a regular expression is written in quotes, not slashes', help, write, read };
}

const currencySigns: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY' };

/** Repairs `$1000` and `500€`. There is no fix, since the sign may mean one of several currencies. */
export function repairCurrencySign(cursor: Cursor): Repair {
  const { image } = cursor.token;
  const number = cursor.at(1);
  const currency = currencySigns[image]!;
  const before = cursor.at(-1);
  if (before?.tokenType === literal.number && cursor.isAdjacent(0)) {
    const message = `\`${image}\` is not a currency: currencies are three capitals`;
    const help = `write \`${before.image} ${currency}\`, with the currency that is meant`;
    return { code: 'money-spelling', message, help, read: [retype(cursor.token, Currency, currency)] };
  }
  if (number?.tokenType !== literal.number)
    return { message: `\`${image}\` has no meaning here`, help: 'an amount is written `500 EUR`', read: [] };
  const message = `\`${image}\` is not a currency: an amount is a number and three capitals`;
  const help = `write \`${number.image} ${currency}\`, with the currency that is meant`;
  return { to: 1, message, help, read: [number, retype(number, Currency, currency)] };
}

export function repairPercent(cursor: Cursor): Repair {
  const number = cursor.at(-1);
  if (number?.tokenType !== literal.number || !cursor.isAdjacent(0)) {
    return {
      message: '`%` has no meaning here',
      help: 'there is no operator for the remainder of a division',
      read: [],
    };
  }
  const isOf = cursor.at(1)?.image === 'of' && cursor.type(2) === literal.number;
  if (isOf) return repairShare(cursor, number);
  const share = Number(number.image.replaceAll('_', '')) / 100;
  const help = `write the part of what is meant, such as \`${share} * payload.limit\``;
  return { message: `\`${number.image}%\` is not a number`, help, read: [] };
}

/** Repairs `10% of 500 USD`: the fix is `0.1 * 500 USD`. */
function repairShare(cursor: Cursor, number: Token): Repair {
  const share = String(Number(number.image.replaceAll('_', '')) / 100);
  const read = [retype(number, literal.number, share), ...cursor.readAs('*')];
  return { from: -1, to: 1, message: `\`${number.image}%\` is not a number`, write: `${share} *`, read };
}

/** Repairs `f"..."` and `'...'i`: no letter stands before or behind a text. */
export function repairTextLetter(cursor: Cursor): Repair | null {
  const { image } = cursor.token;
  if (isAnyText(cursor.at(1)) && cursor.isAdjacent(1) && /^[rfub]$/i.test(image))
    return { message: 'a text has no letter before its quotes', help: 'remove it', write: '', read: [] };
  if (!isAnyText(cursor.at(-1)) || !cursor.isAdjacent(0) || !/^[gimsux]+$/.test(image)) return null;
  const help = 'remove it: where case does not count, compare `fold(x)` or `lower(x)`';
  return { message: 'a text has no flags after its quotes', help, read: [] };
}

/**
 * Repairs `"{payload.note else "-"}"`: a text between double quotes ends at the next one, so texts in a
 * placeholder stand between single quotes.
 */
export function repairQuotesInPlaceholder(cursor: Cursor): Repair | null {
  if (cursor.type(-1) !== keyword.because && !cursor.isBeforePayload) return null;
  let to = 0;
  let text = cursor.token.image;
  while (hasOpenPlaceholder(text)) {
    to++;
    if (cursor.at(to) === undefined || cursor.beginsLine(to) || to === lookaheadMax) return null;
    text = cursor.text(0, to);
  }
  if (to === 0) return null;
  const inner = text.slice(1, -1);
  if (!text.endsWith('"') || inner.includes("'")) return null;
  const write = `"${inner.replaceAll('"', "'")}"`;
  const read = [spanningToken(retype(cursor.token, literal.quoted, write), cursor.at(to)!)];
  // A title has no texts in its placeholders, which the checker reports.
  if (cursor.isBeforePayload) return { to, read };
  const message = 'a double quote in a placeholder ends the whole text';
  return { to, message, help: 'write single quotes in the placeholder', write, read };
}

/** Whether a `{` of the text has no `}` yet; `{{` is a brace of the text. */
function hasOpenPlaceholder(text: string): boolean {
  return text.replaceAll('{{', '').lastIndexOf('{') > text.lastIndexOf('}');
}

/** Repairs `'it\'s'`: a raw text has no escapes, so it ends behind the backslash. */
export function repairRawEscape(cursor: Cursor): Repair | null {
  if (!cursor.token.image.endsWith("\\'") || cursor.at(1) === undefined || !cursor.isAdjacent(1)) return null;
  let to = 1;
  while (cursor.at(to) !== undefined && cursor.type(to) !== mistake.unterminatedRaw && !cursor.beginsLine(to))
    to++;
  const rest = cursor.at(to);
  if (rest?.tokenType !== mistake.unterminatedRaw || rest.image.trim() !== "'") return null;
  const text = cursor.text(0, to).trim().slice(1, -1).replaceAll("\\'", "'");
  const write = JSON.stringify(text);
  const message = 'a raw text has no escapes, so this one ends after the backslash';
  return { to, message, write, read: [retype(cursor.token, literal.quoted, write)] };
}

/** Reads `when { a }` as `when (a)`. */
export function repairConditionBraces(cursor: Cursor): Repair | null {
  const closing = beforeCondition.has(cursor.type(-1)) ? cursor.closing(0) : null;
  if (closing === null) return null;
  const message = 'a condition has no braces';
  const help = 'write `( ... )`';
  return rebracketed(cursor, closing, { open: '(', close: ')', message, help, title: 'write parentheses' });
}

const roots = ['payload', 'agent', 'request', 'action'];

/**
 * Repairs `payload.tags[0]`, since elements have no positions, and `payload["count"]`, since a field stands
 * behind a dot. A single name before the bracket may be the name of a table.
 */
export function repairPosition(cursor: Cursor): Repair | null {
  const path = cursor.type(-1) === NameToken && cursor.isAdjacent(0) ? cursor.pathBefore(0) : null;
  const closing = path === null ? null : cursor.closing(0);
  if (path === null || closing === null || closing === 1) return null;
  if (path.length === 1 && !roots.includes(path.text)) return null;
  const run = { from: -path.length, to: closing };
  const inner = cursor.at(1);
  if (!isAnyText(inner) || closing !== 2) {
    const help = `go through all of them: \`some x in ${path.text} (x == ...)\``;
    return { ...run, message: 'elements of a list have no positions', help };
  }
  const field = inner.image.slice(1, -1);
  const write = `${path.text}.${/^[A-Za-z_]\w*$/.test(field) ? field : inner.image}`;
  return { ...run, message: 'a field is written after a dot', write };
}

/** Reads `string[]` as `[string]`. */
export function repairListType(cursor: Cursor): Repair | null {
  const before = cursor.type(-1);
  const isType = before === symbol.colon || before === symbol.optional || before === symbol.assign;
  if (!isType || cursor.type(2) !== symbol.closeSquare || !cursor.isAdjacent(1)) return null;
  const read = [
    retype(cursor.at(1)!, symbol.openSquare),
    cursor.token,
    retype(cursor.at(2)!, symbol.closeSquare),
  ];
  const message = 'the type of a list contains the type of its elements';
  return { to: 2, message, write: `[${cursor.token.image}]`, read };
}

/** Repairs `x in ("a", "b")` and `x in {"a"}`: a list is written in square brackets. */
export function repairTuple(cursor: Cursor): Repair | null {
  const isCurly = cursor.type(1) === symbol.openCurly;
  const closing = isCurly || cursor.type(1) === symbol.openParen ? cursor.closing(1) : null;
  if (closing === null || closing === 2) return null;
  const inner = cursor.run(2, closing - 1);
  const isSeveral = isCurly || inner.some(({ tokenType }) => tokenType === symbol.comma);
  if (!isSeveral || !inner.every(isOfList)) return null;
  const [open, close] = [cursor.at(1)!, cursor.at(closing)!];
  const read = [retype(open, symbol.openSquare, '['), ...inner, retype(close, symbol.closeSquare, ']')];
  return { from: 1, to: closing, message: listMessage, write: `[${cursor.text(2, closing - 1)}]`, read };
}

/** Reads `x in "a" or "b"` as `x in ["a", "b"]`. */
export function repairInOr(cursor: Cursor): Repair | null {
  let to = 1;
  while (
    literalTypes.has(cursor.type(to)) &&
    joinsValues.has(cursor.type(to + 1)) &&
    literalTypes.has(cursor.type(to + 2))
  )
    to += 2;
  if (to === 1 || !endsCondition.has(cursor.type(to + 1))) return null;
  const values = cursor.run(1, to).filter((_, index) => index % 2 === 0);
  return { from: 1, to, message: listMessage, write: listText(values), read: listOf(values) };
}

const endsCondition: ReadonlySet<unknown> = new Set([
  ...effects,
  ...wordTypes('and', 'or', 'unless', 'because', 'risk', 'shadow'),
  ...[symbol.closeParen, symbol.closeCurly, undefined],
]);
const joinsValues: ReadonlySet<unknown> = new Set([keyword.or, symbol.bar]);

const listMessage = 'a list is written in square brackets';

function isOfList({ tokenType }: Token): boolean {
  return literalTypes.has(tokenType) || tokenType === symbol.comma || tokenType === symbol.minus;
}

/** Repairs a list with a dash before each entry, behind the `=` of its declaration. */
export function repairDashedList(cursor: Cursor): Repair | null {
  if (cursor.type(-2) !== keyword.list) return null;
  let to = 0;
  while (
    cursor.type(to + 1) === symbol.minus &&
    literalTypes.has(cursor.type(to + 2)) &&
    cursor.beginsLine(to + 1)
  )
    to += 2;
  if (to === 0) return null;
  const values = cursor.run(1, to).filter((_, index) => index % 2 === 1);
  const help = `write \`${listText(values)}\``;
  const isCommented = cursor.text(2, to).slice(0, -values.at(-1)!.image.length).includes('#');
  const write = isCommented ? undefined : listText(values);
  return { from: 1, to, message: listMessage, help, write, read: listOf(values) };
}

function listText(values: readonly Token[]): string {
  return `[${values.map(({ image }) => image).join(', ')}]`;
}

/** The tokens of a list of values that are written one behind the other. */
function listOf(values: readonly Token[]): readonly Token[] {
  const [first, last] = [values[0]!, values.at(-1)!];
  const end = tokenEnd(last);
  const comma = retype(first, symbol.comma, ',');
  return [
    { ...retype(first, symbol.openSquare, '['), endOffset: first.startOffset - 1 },
    ...values.flatMap((value, index) => (index === 0 ? [value] : [comma, value])),
    { ...retype(last, symbol.closeSquare, ']'), startOffset: end, endOffset: end - 1 },
  ];
}

/** Reads `1,000` as `1_000` outside of brackets, where no comma may stand. */
export function repairThousands(cursor: Cursor): Repair | null {
  let to = 0;
  while (to < 14 && isThousands(cursor, to)) to += 2;
  if (to === 0 || cursor.isInBrackets()) return null;
  const write = cursor.text(0, to).replaceAll(',', '_');
  const read = [spanningToken(retype(cursor.token, literal.number, write), cursor.at(to)!)];
  return { to, message: 'digits are not parted by commas', write, read };
}

function isThousands(cursor: Cursor, offset: number): boolean {
  const [number, next] = [cursor.at(offset)!, cursor.at(offset + 2)];
  if (cursor.type(offset + 1) !== symbol.comma || next?.tokenType !== literal.number) return false;
  if (!cursor.isAdjacent(offset + 1) || !cursor.isAdjacent(offset + 2)) return false;
  return /^\d{3}(?:\.\d+)?$/.test(next.image) && /^\d{1,3}$/.test(number.image);
}
