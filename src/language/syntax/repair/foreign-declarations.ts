// Repairs declarations and clauses in the forms of other languages: payloads, fields, results, approvals.

import type { TokenType } from 'chevrotain';
import {
  builtInTypeWords,
  comparing,
  effects,
  isAnyText,
  isAnyWord,
  keyword,
  literal,
  mistake,
  NameToken,
  relatingWords,
  retype,
  symbol,
  type Token,
  wordTypes,
} from '../parse/tokens.ts';
import {
  type Cursor,
  literalTypes,
  type Repair,
  rebracketed,
  removedToken,
  spanningToken,
  spelled,
} from './cursor.ts';
import { countedByMeter } from './forms.ts';

/** Reads `action mail.send(to: email)` as `action mail.send { to: email }`. */
export function repairPayloadParens(cursor: Cursor): Repair | null {
  const closing = cursor.isBeforePayload ? cursor.closing(0) : null;
  if (closing === null) return null;
  const message = 'a payload is written in braces';
  const help = 'write `{ name: type }`';
  return rebracketed(cursor, closing, { open: ' {', close: '}', message, help, title: 'write braces' });
}

/** Repairs `action a.b = { ... }`, `group g = [...]` and `count: integer = 3`, where no `=` may stand. */
export function repairNoValue(cursor: Cursor): Repair | null {
  const { declaration } = cursor;
  if (cursor.braces > 0) {
    if (declaration !== keyword.action && declaration !== keyword.type && declaration !== keyword.group)
      return null;
    const message = 'a field has no default';
    const help = 'write `name?: type`, and give the value where it is read: `(payload.note else "none")`';
    return { to: literalTypes.has(cursor.type(1)) ? 1 : 0, message, help, read: [] };
  }
  if (cursor.isBeforePayload) {
    const message = 'no `=` is written before a payload';
    return { message, help: 'remove it', write: '', read: [] };
  }
  if (declaration !== keyword.group || cursor.type(1) !== symbol.openSquare) return null;
  const message = 'a group does not list its actions';
  const help = `write it at each action: \`action a.b in ${cursor.at(-1)!.image} { ... }\``;
  return { to: cursor.closing(1) ?? 0, message, help, read: [] };
}

/** Repairs `action a.b: { ... }`: the colon is removed. */
export function repairPayloadColon(cursor: Cursor): Repair | null {
  return cursor.isBeforePayload && cursor.type(1) === symbol.openCurly ? removedToken(cursor) : null;
}

const typeNames: ReadonlySet<string> = new Set([...builtInTypeWords, ...['int', 'str', 'bool', 'float']]);
export const declaresFields: ReadonlySet<unknown> = new Set([
  keyword.action,
  keyword.type,
  keyword.group,
  keyword.table,
]);

/** Repairs the fields `string note`, `to: required email` and `note: optional string`. */
export function repairTypeWord(cursor: Cursor): Repair | null {
  if (!declaresFields.has(cursor.declaration) || cursor.braces === 0) return null;
  const { token } = cursor;
  const name = cursor.at(1);
  if (name === undefined || cursor.beginsLine(1)) return null;
  if (cursor.type(-1) === symbol.colon && /^(?:required|optional|nullable)$/.test(token.image)) {
    const message = `\`${token.image}\` is not a word of a field`;
    if (token.image === 'required')
      return { message, help: 'remove it: fields are required', write: '', read: [] };
    const field = cursor.at(-2)?.image;
    const help = `write \`${field}?: ...\` where it may be absent, \`... | null\` where it may be null`;
    return { message, help, read: [] };
  }
  const isEnd =
    cursor.type(2) === symbol.comma || cursor.type(2) === symbol.closeCurly || cursor.beginsLine(2);
  if (!typeNames.has(token.image) || !isAnyWord(name) || !isEnd) return null;
  const read = [retype(name, NameToken), retype(token, symbol.colon, ':'), retype(token, NameToken)];
  const write = `${name.image}: ${token.image}`;
  return { to: 1, message: 'the type of a field follows its name', write, read };
}

/**
 * Repairs the types in `kind: enum("a", "b")`, `kind: ["a", "b"]` and `kind: "a" or "b"`: the fix is `"a" |
 * "b"`.
 */
export function repairEnumeration(cursor: Cursor): Repair | null {
  if (!declaresFields.has(cursor.declaration)) return null;
  const message = 'one of several texts is written `"a" | "b"`';
  if (cursor.type(0) === keyword.or) {
    const isBetween = isAnyText(cursor.at(-1)) && isAnyText(cursor.at(1)) && cursor.braces > 0;
    return isBetween ? { message, write: '|', read: cursor.readAs('|') } : null;
  }
  const isType = cursor.type(-1) === symbol.colon || cursor.type(-1) === symbol.optional;
  const open = cursor.type(0) === symbol.openSquare ? 0 : 1;
  if (!isType || (open === 1 && !/^(?:enum|one_?of|choice|literal)$/i.test(cursor.token.image))) return null;
  const closing = brackets.has(cursor.type(open)) ? cursor.closing(open) : null;
  if (closing === null) return null;
  // `["a" | "b"]` is a list of such texts, so `|` is accepted only behind a word such as `enum`.
  const texts = partedBy(cursor.run(open + 1, closing - 1), isAnyText, [
    symbol.comma,
    ...(open === 1 ? [symbol.bar] : []),
  ]);
  if (texts === null || (open === 0 && texts.length < 2)) return null;
  return { to: closing, message, ...joinedBy(cursor.readAs('|')[0]!, texts) };
}

/** The parts of a run that has one of the signs between any two parts; null for any other run. */
function partedBy(
  tokens: readonly Token[],
  isPart: (token: Token) => boolean,
  signs: readonly TokenType[],
): readonly Token[] | null {
  const isParted = tokens.every((one, at) => (at % 2 === 0 ? isPart(one) : signs.includes(one.tokenType)));
  return tokens.length > 0 && isParted ? tokens.filter((_, at) => at % 2 === 0) : null;
}

/** Parts with another sign or word between them, as text to write and as tokens to read. */
function joinedBy(
  between: Token,
  parts: readonly Token[],
): { readonly write: string; readonly read: readonly Token[] } {
  return {
    write: parts.map(({ image }) => image).join(` ${between.image} `),
    read: parts.flatMap((one, at) => (at === 0 ? [one] : [between, one])),
  };
}

const brackets: ReadonlySet<unknown> = new Set([symbol.openParen, symbol.openSquare, symbol.openCurly]);

/** Repairs `amount number`, where the sign between name and type is missing. */
export function repairFieldWithoutColon(cursor: Cursor): Repair | null {
  const isField = declaresFields.has(cursor.declaration) && cursor.braces > 0 && startsField(cursor);
  const type = cursor.at(1);
  const isType = type !== undefined && !cursor.beginsLine(1) && typeNames.has(type.image);
  if (!isField || !isType || cursor.type(2) === symbol.colon || cursor.type(2) === symbol.optional)
    return null;
  const read = [retype(cursor.token, NameToken), retype(type, symbol.colon, ':')];
  const message = `\`:\` is missing between the name of a field and its type`;
  return { message, write: `${cursor.token.image}:`, read };
}

function startsField(cursor: Cursor): boolean {
  const before = cursor.type(-1);
  return cursor.beginsLine(0) || before === symbol.comma || before === symbol.openCurly;
}

/** Repairs `action a.b` with its fields below it, where the opening brace is missing. */
export function repairMissingBrace(cursor: Cursor): Repair | null {
  if (!cursor.isBeforePayload || !isAnyWord(cursor.at(-1)) || !cursor.beginsLine(-1)) return null;
  cursor.braces = 1;
  const name = cursor.at(-1)!;
  const read = [retype(name, symbol.openCurly, '{'), retype(name, NameToken), cursor.token];
  const message = `expected \`{\` before the first field, found \`${name.image}\``;
  return { from: -1, to: 0, code: 'unexpected-token', message, help: 'a payload is written in braces', read };
}

/** Repairs `integer 1...5`, `integer 1-5` and `integer 1 to 5`: the fix is `..`. */
export function repairDots(cursor: Cursor): Repair | null {
  const isNumber = cursor.type(-1) === literal.number && cursor.type(1) === literal.number;
  const isType = declaresFields.has(cursor.declaration) && cursor.braces > 0;
  const isRange = cursor.type(0) === symbol.ellipsis ? literalTypes.has(cursor.type(1)) : isNumber && isType;
  return isRange ? spelled(cursor, '..', 'foreign-operator') : null;
}

/** Repairs `list a: ["x"]` and `list a = {"x"}`, both read as `list a = ["x"]`. */
export function repairListBrackets(cursor: Cursor): Repair | null {
  if (cursor.declaration !== keyword.list || cursor.braces > 0) return null;
  if (cursor.type(0) === symbol.colon) {
    const isValues = cursor.type(1) === symbol.openSquare && literalTypes.has(cursor.type(2));
    if (!isValues) return null;
    cursor.awaitsAssign = false;
    return spelled(cursor, '=', 'foreign-operator');
  }
  const closing = cursor.type(-1) === symbol.assign ? cursor.closing(0) : null;
  if (closing === null) return null;
  cursor.rereads.set(cursor.index + closing, retype(cursor.at(closing)!, symbol.closeSquare, ']'));
  const message = 'a list is written in square brackets';
  return { message, help: 'write `[ ... ]`', read: cursor.readAs('[') };
}

/** Reads `count(*)` as `count()`. */
export function repairCountAll(cursor: Cursor): Repair | null {
  const isAll = cursor.at(-2)?.image === 'count' && cursor.type(-1) === symbol.openParen;
  if (!isAll || cursor.type(1) !== symbol.closeParen) return null;
  return { message: '`count()` counts requests, with nothing in its parentheses', write: '', read: [] };
}

/** Reads `returns { rows: integer }` and `-> { rows: integer }` behind a payload as `result { ... }`. */
export function repairResult(cursor: Cursor): Repair | null {
  if (!cursor.isBeforePayload) return null;
  const isWord = /^(?:returns?|output|response|results)$/.test(cursor.token.image);
  if (isWord && cursor.type(1) === symbol.openCurly) return spelled(cursor, 'result');
  const isArrow = cursor.type(0) === symbol.minus && cursor.type(1) === symbol.above && cursor.isAdjacent(1);
  return isArrow ? { ...spelled(cursor, 'result'), to: 1, message: '`->` is written `result` here' } : null;
}

/** Reads `USD => 200 USD` in a table as `USD: 200 USD`. */
export function repairRowArrow(cursor: Cursor): Repair | null {
  return cursor.declaration === keyword.table && cursor.braces === 1
    ? spelled(cursor, ':', 'foreign-operator')
    : null;
}

/** Reads `require approval from finance`, where a rule begins, as an `escalate` rule. */
export function repairRequire(cursor: Cursor): Repair | null {
  const isOne = /^requires?$/.test(cursor.token.image) && cursor.type(1) === keyword.approval;
  const group = cursor.at(3);
  if (!isOne || !cursor.isInPolicy || group?.tokenType !== NameToken) return null;
  const write = `escalate NAME to ${group.image}`;
  const name = { ...retype(cursor.token, NameToken, 'approval') };
  const read = [...cursor.readAs('escalate'), name, ...cursor.readAs('to'), group];
  const message = 'a rule that asks people begins with `escalate` and its name';
  return { to: 3, message, help: `write \`${write}\` with a name of your own`, read };
}

const isoUnits: Readonly<Record<string, string>> = { S: 's', M: 'm', H: 'h', D: 'd' };

/** Reads `timeout 4h` in a rule as `within 4h`. */
export function repairTimeout(cursor: Cursor): Repair | null {
  const isOne = /^(?:timeout|expires|expiring|every)$/.test(cursor.token.image);
  return isOne && cursor.type(1) === literal.duration && cursor.braces === 1
    ? spelled(cursor, 'within')
    : null;
}

/** Reads `P7D` and `PT15M` as `7d` and `15m`. */
export function repairIsoDuration(cursor: Cursor): Repair | null {
  const { token } = cursor;
  if (!beforeDuration.has(cursor.type(-1))) return null;
  const [, date, amount = '', unit = ''] = /^P(T?)(\d{1,6})([SMHD])$/.exec(token.image) ?? [];
  if (amount === '' || (date === '') !== (unit === 'D')) return null;
  const write = amount + isoUnits[unit];
  const message = `\`${token.image}\` is not how durations are written`;
  return { code: 'duration-spelling', message, write, read: [retype(token, literal.duration, write)] };
}

const beforeDuration: ReadonlySet<unknown> = new Set([
  ...comparing,
  ...[symbol.plus, symbol.minus, keyword.over, keyword.within, keyword.for],
]);

/** Repairs `risk x = 30` and `risk x: +30`: points are written `+30`. */
export function repairPointsSign(cursor: Cursor): Repair | null {
  const number = cursor.at(1);
  if (cursor.type(-2) !== keyword.risk || cursor.braces !== 1) return null;
  if (number?.tokenType === symbol.plus || number?.tokenType === symbol.minus) return removedToken(cursor);
  if (number?.tokenType !== literal.number) return null;
  const read = [retype(cursor.token, symbol.plus, '+'), number];
  const message = 'risk points say by a sign what they do';
  return { to: 1, code: 'points-without-sign', message, write: ` +${number.image}`, read };
}

/** Repairs `allow up to 5 per hour`, which says how often something may happen. */
export function repairRate(cursor: Cursor): Repair | null {
  if (!cursor.isInPolicy || cursor.type(1) !== keyword.to) return null;
  const most = cursor.at(2);
  // Behind a duration, `up to` belongs to a `standing` clause.
  if (most?.tokenType !== literal.number || cursor.type(-1) === literal.duration) return null;
  const message = 'a meter counts how often something happens, and rules read it';
  const help = countedByMeter(most.image);
  const to = cursor.type(3) === keyword.per && isAnyWord(cursor.at(4)) ? 4 : 2;
  // Behind an effect, `up` is read as the name of the rule.
  return { to, message, help, read: effects.has(cursor.type(-1)) ? [cursor.token] : [] };
}

/** Repairs `x in group admins` and `x in list admins`. */
export function repairKindOfList(cursor: Cursor): Repair | null {
  const name = cursor.at(1);
  if (cursor.type(-1) !== keyword.in || !isAnyWord(name) || cursor.beginsLine(0)) return null;
  const message = '`in` takes only the name of a list';
  return { to: 1, message, write: name!.image, read: [name!] };
}

/** Repairs `to 2 finance`, `to "finance"` and `to [finance, owner]`, which say whom a rule asks. */
export function repairAsked(cursor: Cursor): Repair | null {
  const [number, group] = [cursor.at(1), cursor.at(2)];
  if (!cursor.isInPolicy || cursor.type(-1) === keyword.up) return null;
  if (number?.tokenType === literal.number && isAnyWord(group)) {
    const read = [cursor.token, group!, ...cursor.readAs('needs'), number];
    const write = `to ${group!.image} needs ${number.image}`;
    return { to: 2, message: 'the number of people follows their group', write, read };
  }
  if (isAnyText(number) && /^.[a-z][a-z0-9_]*.$/.test(number.image)) {
    const write = number.image.slice(1, -1);
    const message = 'an approval group is named without quotes';
    return { from: 1, message, write, read: [retype(number, NameToken, write)] };
  }
  const closing = number?.tokenType === symbol.openSquare ? cursor.closing(1) : null;
  if (closing === null) return null;
  const names = partedBy(cursor.run(2, closing - 1), isAnyWord, [symbol.comma]);
  if (names === null) return null;
  const { write, read } = joinedBy(cursor.readAs('and')[0]!, names);
  const message = 'the groups of a rule have no brackets';
  return { to: closing, message, write: `to ${write}`, read: [cursor.token, ...read] };
}

/** Repairs `deny too-many` and `policy big-orders`: names are in snake_case. */
export function repairDashedName(cursor: Cursor): Repair | null {
  const isFirst =
    cursor.type(-1) !== undefined && (effects.has(cursor.type(-1)) || named.has(cursor.type(-1)));
  let to = 0;
  while (
    cursor.type(to + 1) === symbol.minus &&
    isAnyWord(cursor.at(to + 2)) &&
    cursor.isAdjacent(to + 1) &&
    cursor.isAdjacent(to + 2)
  )
    to += 2;
  if (!isFirst || to === 0) return null;
  const write = cursor.text(0, to).replaceAll('-', '_');
  const read = [spanningToken(retype(cursor.token, NameToken, write), cursor.at(to)!)];
  return { to, code: 'name-style', message: `\`${cursor.text(0, to)}\` is not in snake_case`, write, read };
}

/**
 * Repairs `except payload.vendor == "a"`, where a condition stands instead of a person: the fix is `unless`.
 */
export function repairExcept(cursor: Cursor): Repair | null {
  if (!cursor.isInPolicy) return null;
  const next = cursor.pathEnd(1);
  // A `within` with a duration, such as `within 4h`, is the next clause and no comparison.
  const isTime = cursor.type(next) === keyword.within && cursor.type(next + 1) === literal.duration;
  if (isAnyText(cursor.at(1))) {
    const message = 'who may not approve is named by a field of the payload';
    return { to: 1, message, help: 'write such as `except payload.asked_by.id`', read: [] };
  }
  const isPerson = cursor.type(1) === NameToken && (isTime || !compares.has(cursor.type(next)));
  return isPerson ? null : spelled(cursor, 'unless');
}

const compares: ReadonlySet<unknown> = new Set([
  ...comparing,
  ...wordTypes(...relatingWords, 'has', 'is', 'not'),
  ...[symbol.openParen, symbol.openSquare, symbol.plus, symbol.minus],
]);

const named: ReadonlySet<unknown> = new Set([
  ...[
    keyword.risk,
    keyword.policy,
    keyword.list,
    keyword.let,
    keyword.meter,
    keyword.type,
    keyword.hours,
    keyword.table,
  ],
  ...[keyword.group, keyword.approvers, keyword.guarantee, keyword.to],
]);

/** Reads `a ?? b` as `a else b`. */
export function repairCoalesce(cursor: Cursor): Repair | null {
  const isTwice = cursor.type(1) === mistake.question && cursor.isAdjacent(1);
  if (!isTwice) return null;
  return { ...spelled(cursor, 'else'), to: 1, message: '`??` is written `else` here' };
}
