// Repairs declarations and clauses in the forms of other languages: payloads, fields, results, approvals.

import type { TokenType } from 'chevrotain';
import {
  builtInTypeWords,
  comparing,
  effects,
  isAnyText,
  isAnyWord,
  literal,
  mistake,
  NameToken,
  relatingWords,
  retype,
  sign,
  type Token,
  word,
  wordTypes,
} from '../parse/tokens.ts';
import {
  type Cursor,
  literalTypes,
  needless,
  type Repair,
  rebracketed,
  spelled,
  stretched,
} from './cursor.ts';
import { countedByMeter } from './forms.ts';

/** Reads `action mail.send(to: email)` as `action mail.send { to: email }`. */
export function repairPayloadParens(here: Cursor): Repair | null {
  const closing = here.isBeforePayload ? here.closing(0) : null;
  if (closing === null) return null;
  const message = 'a payload is written in braces';
  const help = 'write `{ name: type }`';
  return rebracketed(here, closing, { open: ' {', close: '}', message, help, title: 'write braces' });
}

/** Repairs `action a.b = { ... }`, `group g = [...]` and `count: integer = 3`, where no `=` may stand. */
export function repairNoValue(here: Cursor): Repair | null {
  const { declaration } = here;
  if (here.braces > 0) {
    if (declaration !== word.action && declaration !== word.type && declaration !== word.group) return null;
    const message = 'a field has no default';
    const help = 'write `name?: type`, and give the value where it is read: `(payload.note else "none")`';
    return { to: literalTypes.has(here.type(1)) ? 1 : 0, message, help, read: [] };
  }
  if (here.isBeforePayload) {
    const message = 'no `=` is written before a payload';
    return { message, help: 'remove it', write: '', read: [] };
  }
  if (declaration !== word.group || here.type(1) !== sign.openSquare) return null;
  const message = 'a group does not list its actions';
  const help = `write it at each action: \`action a.b in ${here.at(-1)!.image} { ... }\``;
  return { to: here.closing(1) ?? 0, message, help, read: [] };
}

/** Repairs `action a.b: { ... }`: the colon is removed. */
export function repairPayloadColon(here: Cursor): Repair | null {
  return here.isBeforePayload && here.type(1) === sign.openCurly ? needless(here) : null;
}

const typeNames: ReadonlySet<string> = new Set([...builtInTypeWords, ...['int', 'str', 'bool', 'float']]);
export const declaresFields: ReadonlySet<unknown> = new Set([word.action, word.type, word.group, word.table]);

/** Repairs the fields `string note`, `to: required email` and `note: optional string`. */
export function repairTypeWord(here: Cursor): Repair | null {
  if (!declaresFields.has(here.declaration) || here.braces === 0) return null;
  const { token } = here;
  const name = here.at(1);
  if (name === undefined || here.beginsLine(1)) return null;
  if (here.type(-1) === sign.colon && /^(?:required|optional|nullable)$/.test(token.image)) {
    const message = `\`${token.image}\` is not a word of a field`;
    if (token.image === 'required')
      return { message, help: 'remove it: fields are required', write: '', read: [] };
    const field = here.at(-2)?.image;
    const help = `write \`${field}?: ...\` where it may be absent, \`... | null\` where it may be null`;
    return { message, help, read: [] };
  }
  const isEnd = here.type(2) === sign.comma || here.type(2) === sign.closeCurly || here.beginsLine(2);
  if (!typeNames.has(token.image) || !isAnyWord(name) || !isEnd) return null;
  const read = [retype(name, NameToken), retype(token, sign.colon, ':'), retype(token, NameToken)];
  const write = `${name.image}: ${token.image}`;
  return { to: 1, message: 'the type of a field follows its name', write, read };
}

/**
 * Repairs the types in `kind: enum("a", "b")`, `kind: ["a", "b"]` and `kind: "a" or "b"`: the fix is `"a" |
 * "b"`.
 */
export function repairEnumeration(here: Cursor): Repair | null {
  if (!declaresFields.has(here.declaration)) return null;
  const message = 'one of several texts is written `"a" | "b"`';
  if (here.type(0) === word.or) {
    const isBetween = isAnyText(here.at(-1)) && isAnyText(here.at(1)) && here.braces > 0;
    return isBetween ? { message, write: '|', read: here.readAs('|') } : null;
  }
  const isType = here.type(-1) === sign.colon || here.type(-1) === sign.optional;
  const open = here.type(0) === sign.openSquare ? 0 : 1;
  if (!isType || (open === 1 && !/^(?:enum|one_?of|choice|literal)$/i.test(here.token.image))) return null;
  const closing = brackets.has(here.type(open)) ? here.closing(open) : null;
  if (closing === null) return null;
  // `["a" | "b"]` is a list of such texts, so `|` is accepted only behind a word such as `enum`.
  const texts = partedBy(here.run(open + 1, closing - 1), isAnyText, [
    sign.comma,
    ...(open === 1 ? [sign.bar] : []),
  ]);
  if (texts === null || (open === 0 && texts.length < 2)) return null;
  return { to: closing, message, ...joinedBy(here.readAs('|')[0]!, texts) };
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

const brackets: ReadonlySet<unknown> = new Set([sign.openParen, sign.openSquare, sign.openCurly]);

/** Repairs `amount number`, where the sign between name and type is missing. */
export function repairFieldWithoutColon(here: Cursor): Repair | null {
  const isField = declaresFields.has(here.declaration) && here.braces > 0 && startsField(here);
  const type = here.at(1);
  const isType = type !== undefined && !here.beginsLine(1) && typeNames.has(type.image);
  if (!isField || !isType || here.type(2) === sign.colon || here.type(2) === sign.optional) return null;
  const read = [retype(here.token, NameToken), retype(type, sign.colon, ':')];
  const message = `\`:\` is missing between the name of a field and its type`;
  return { message, write: `${here.token.image}:`, read };
}

function startsField(here: Cursor): boolean {
  const before = here.type(-1);
  return here.beginsLine(0) || before === sign.comma || before === sign.openCurly;
}

/** Repairs `action a.b` with its fields below it, where the opening brace is missing. */
export function repairMissingBrace(here: Cursor): Repair | null {
  if (!here.isBeforePayload || !isAnyWord(here.at(-1)) || !here.beginsLine(-1)) return null;
  here.braces = 1;
  const name = here.at(-1)!;
  const read = [retype(name, sign.openCurly, '{'), retype(name, NameToken), here.token];
  const message = `expected \`{\` before the first field, found \`${name.image}\``;
  return { from: -1, to: 0, code: 'unexpected-token', message, help: 'a payload is written in braces', read };
}

/** Repairs `integer 1...5`, `integer 1-5` and `integer 1 to 5`: the fix is `..`. */
export function repairDots(here: Cursor): Repair | null {
  const isNumber = here.type(-1) === literal.number && here.type(1) === literal.number;
  const isType = declaresFields.has(here.declaration) && here.braces > 0;
  const isRange = here.type(0) === sign.ellipsis ? literalTypes.has(here.type(1)) : isNumber && isType;
  return isRange ? spelled(here, '..', 'foreign-operator') : null;
}

/** Repairs `list a: ["x"]` and `list a = {"x"}`, both read as `list a = ["x"]`. */
export function repairListBrackets(here: Cursor): Repair | null {
  if (here.declaration !== word.list || here.braces > 0) return null;
  if (here.type(0) === sign.colon) {
    const isValues = here.type(1) === sign.openSquare && literalTypes.has(here.type(2));
    if (!isValues) return null;
    here.awaitsAssign = false;
    return spelled(here, '=', 'foreign-operator');
  }
  const closing = here.type(-1) === sign.assign ? here.closing(0) : null;
  if (closing === null) return null;
  here.rereads.set(here.index + closing, retype(here.at(closing)!, sign.closeSquare, ']'));
  const message = 'a list is written in square brackets';
  return { message, help: 'write `[ ... ]`', read: here.readAs('[') };
}

/** Reads `count(*)` as `count()`. */
export function repairCountAll(here: Cursor): Repair | null {
  const isAll = here.at(-2)?.image === 'count' && here.type(-1) === sign.openParen;
  if (!isAll || here.type(1) !== sign.closeParen) return null;
  return { message: '`count()` counts requests, with nothing in its parentheses', write: '', read: [] };
}

/** Reads `returns { rows: integer }` and `-> { rows: integer }` behind a payload as `result { ... }`. */
export function repairResult(here: Cursor): Repair | null {
  if (!here.isBeforePayload) return null;
  const isWord = /^(?:returns?|output|response|results)$/.test(here.token.image);
  if (isWord && here.type(1) === sign.openCurly) return spelled(here, 'result');
  const isArrow = here.type(0) === sign.minus && here.type(1) === sign.above && here.isAdjacent(1);
  return isArrow ? { ...spelled(here, 'result'), to: 1, message: '`->` is written `result` here' } : null;
}

/** Reads `USD => 200 USD` in a table as `USD: 200 USD`. */
export function repairRowArrow(here: Cursor): Repair | null {
  return here.declaration === word.table && here.braces === 1 ? spelled(here, ':', 'foreign-operator') : null;
}

/** Reads `require approval from finance`, where a rule begins, as an `escalate` rule. */
export function repairRequire(here: Cursor): Repair | null {
  const isOne = /^requires?$/.test(here.token.image) && here.type(1) === word.approval;
  const group = here.at(3);
  if (!isOne || !here.isInPolicy || group?.tokenType !== NameToken) return null;
  const write = `escalate NAME to ${group.image}`;
  const name = { ...retype(here.token, NameToken, 'approval') };
  const read = [...here.readAs('escalate'), name, ...here.readAs('to'), group];
  const message = 'a rule that asks people begins with `escalate` and its name';
  return { to: 3, message, help: `write \`${write}\` with a name of your own`, read };
}

const isoUnits: Readonly<Record<string, string>> = { S: 's', M: 'm', H: 'h', D: 'd' };

/** Reads `timeout 4h` in a rule as `within 4h`. */
export function repairTimeout(here: Cursor): Repair | null {
  const isOne = /^(?:timeout|expires|expiring|every)$/.test(here.token.image);
  return isOne && here.type(1) === literal.duration && here.braces === 1 ? spelled(here, 'within') : null;
}

/** Reads `P7D` and `PT15M` as `7d` and `15m`. */
export function repairIsoDuration(here: Cursor): Repair | null {
  const { token } = here;
  if (!beforeDuration.has(here.type(-1))) return null;
  const [, date, amount = '', unit = ''] = /^P(T?)(\d{1,6})([SMHD])$/.exec(token.image) ?? [];
  if (amount === '' || (date === '') !== (unit === 'D')) return null;
  const write = amount + isoUnits[unit];
  const message = `\`${token.image}\` is not how durations are written`;
  return { code: 'duration-spelling', message, write, read: [retype(token, literal.duration, write)] };
}

const beforeDuration: ReadonlySet<unknown> = new Set([
  ...comparing,
  ...[sign.plus, sign.minus, word.over, word.within, word.for],
]);

/** Repairs `risk x = 30` and `risk x: +30`: points are written `+30`. */
export function repairPointsSign(here: Cursor): Repair | null {
  const number = here.at(1);
  if (here.type(-2) !== word.risk || here.braces !== 1) return null;
  if (number?.tokenType === sign.plus || number?.tokenType === sign.minus) return needless(here);
  if (number?.tokenType !== literal.number) return null;
  const read = [retype(here.token, sign.plus, '+'), number];
  const message = 'risk points say by a sign what they do';
  return { to: 1, code: 'points-without-sign', message, write: ` +${number.image}`, read };
}

/** Repairs `allow up to 5 per hour`, which says how often something may happen. */
export function repairRate(here: Cursor): Repair | null {
  if (!here.isInPolicy || here.token.image !== 'up' || here.type(1) !== word.to) return null;
  const most = here.at(2);
  if (most?.tokenType !== literal.number) return null;
  const message = 'a meter counts how often something happens, and rules read it';
  const help = countedByMeter(most.image);
  const to = here.type(3) === word.per && isAnyWord(here.at(4)) ? 4 : 2;
  // Behind an effect, `up` is read as the name of the rule.
  return { to, message, help, read: effects.has(here.type(-1)) ? [here.token] : [] };
}

/** Repairs `x in group admins` and `x in list admins`. */
export function repairKindOfList(here: Cursor): Repair | null {
  const name = here.at(1);
  if (here.type(-1) !== word.in || !isAnyWord(name) || here.beginsLine(0)) return null;
  const message = '`in` takes only the name of a list';
  return { to: 1, message, write: name!.image, read: [name!] };
}

/** Repairs `to 2 finance`, `to "finance"` and `to [finance, owner]`, which say whom a rule asks. */
export function repairAsked(here: Cursor): Repair | null {
  const [number, group] = [here.at(1), here.at(2)];
  if (!here.isInPolicy) return null;
  if (number?.tokenType === literal.number && isAnyWord(group)) {
    const read = [here.token, group!, ...here.readAs('needs'), number];
    const write = `to ${group!.image} needs ${number.image}`;
    return { to: 2, message: 'the number of people follows their group', write, read };
  }
  if (isAnyText(number) && /^.[a-z][a-z0-9_]*.$/.test(number.image)) {
    const write = number.image.slice(1, -1);
    const message = 'an approval group is named without quotes';
    return { from: 1, message, write, read: [retype(number, NameToken, write)] };
  }
  const closing = number?.tokenType === sign.openSquare ? here.closing(1) : null;
  if (closing === null) return null;
  const names = partedBy(here.run(2, closing - 1), isAnyWord, [sign.comma]);
  if (names === null) return null;
  const { write, read } = joinedBy(here.readAs('and')[0]!, names);
  const message = 'the groups of a rule have no brackets';
  return { to: closing, message, write: `to ${write}`, read: [here.token, ...read] };
}

/** Repairs `deny too-many` and `policy big-orders`: names are in snake_case. */
export function repairDashedName(here: Cursor): Repair | null {
  const isFirst = here.type(-1) !== undefined && (effects.has(here.type(-1)) || named.has(here.type(-1)));
  let to = 0;
  while (
    here.type(to + 1) === sign.minus &&
    isAnyWord(here.at(to + 2)) &&
    here.isAdjacent(to + 1) &&
    here.isAdjacent(to + 2)
  )
    to += 2;
  if (!isFirst || to === 0) return null;
  const write = here.text(0, to).replaceAll('-', '_');
  const read = [stretched(retype(here.token, NameToken, write), here.at(to)!)];
  return { to, code: 'name-style', message: `\`${here.text(0, to)}\` is not in snake_case`, write, read };
}

/**
 * Repairs `except payload.vendor == "a"`, where a condition stands instead of a person: the fix is `unless`.
 */
export function repairExcept(here: Cursor): Repair | null {
  if (!here.isInPolicy) return null;
  const next = here.pathEnd(1);
  // A `within` with a duration, such as `within 4h`, is the next clause and no comparison.
  const isTime = here.type(next) === word.within && here.type(next + 1) === literal.duration;
  if (isAnyText(here.at(1))) {
    const message = 'who may not approve is named by a field of the payload';
    return { to: 1, message, help: 'write such as `except payload.asked_by.id`', read: [] };
  }
  const isPerson = here.type(1) === NameToken && (isTime || !compares.has(here.type(next)));
  return isPerson ? null : spelled(here, 'unless');
}

const compares: ReadonlySet<unknown> = new Set([
  ...comparing,
  ...wordTypes(...relatingWords, 'has', 'is', 'not'),
  ...[sign.openParen, sign.openSquare, sign.plus, sign.minus],
]);

const named: ReadonlySet<unknown> = new Set([
  ...[word.risk, word.policy, word.list, word.let, word.meter, word.type, word.hours, word.table],
  ...[word.group, word.approvers, word.guarantee, word.to],
]);

/** Reads `a ?? b` as `a else b`. */
export function repairCoalesce(here: Cursor): Repair | null {
  const isTwice = here.type(1) === mistake.question && here.isAdjacent(1);
  if (!isTwice) return null;
  return { ...spelled(here, 'else'), to: 1, message: '`??` is written `else` here' };
}
