// Repairs whole lines, rules and groups in the order of other languages, and suggests what to write. The
// tokens of most are skipped.

import {
  bracketStep,
  effects,
  isAnyText,
  isAnyWord,
  isReservedToken,
  keyword,
  literal,
  mistake,
  NameToken,
  retype,
  symbol,
  typeOfName,
} from '../parse/tokens.ts';
import {
  type Cursor,
  clauseStarts,
  emptyName,
  lookaheadMax,
  type Repair,
  removedToken,
  spanningToken,
  spelled,
} from './cursor.ts';

const oneSet = 'remove it: all files of a directory are one policy set';
const noDefault = 'remove it: what no `allow` grants is refused';
const imported = { message: 'files are not imported', help: oneSet };

const lines = new Map<string, { readonly message: string; readonly help: string }>([
  ['import', imported],
  ['use', imported],
  ['include', { message: 'files are not included', help: oneSet }],
  ['package', { message: 'files belong to no package', help: oneSet }],
  ['namespace', { message: 'files belong to no namespace', help: oneSet }],
  ['module', { message: 'files belong to no module', help: oneSet }],
  ['default', { message: 'nothing is declared as the default', help: noDefault }],
]);

/**
 * Repairs lines such as `import data.orders` outside of declarations, and `default allow = false` also in a
 * policy.
 */
export function repairForeignLine(cursor: Cursor): Repair | null {
  const { image } = cursor.token;
  const isDefault = cursor.isInPolicy && image === 'default';
  const foreign = cursor.braces === 0 || isDefault ? lines.get(image) : undefined;
  if (foreign === undefined || !cursor.beginsLine(0)) return null;
  let to = 0;
  while (!cursor.beginsLine(to + 1) && cursor.type(to + 1) !== symbol.closeCurly) to++;
  const rest = cursor.run(1, to);
  const isOther = rest.some(({ tokenType }) => tokenType === symbol.openCurly || tokenType === keyword.on);
  if (rest.length === 0 || isOther) return null;
  const isAllowed = image === 'default' && rest.some((token) => token.image === 'true');
  return { to, ...foreign, write: isAllowed ? undefined : '', read: [] };
}

const endsSearch: ReadonlySet<unknown> = new Set([
  ...effects,
  ...[keyword.when, keyword.unless, keyword.policy, symbol.openCurly, symbol.closeCurly],
]);

/**
 * Repairs `when c then deny x`, `when c -> deny x` and `if c { deny x }` where a rule begins: the effect goes
 * first.
 */
export function repairConditionFirst(cursor: Cursor): Repair | null {
  if (!cursor.isInPolicy) return null;
  if (cursor.type(0) !== keyword.when && cursor.token.image !== 'if') return null;
  if (effects.has(cursor.type(-2))) return null;
  let end = 1;
  while (
    end < lookaheadMax &&
    cursor.at(end) &&
    !endsSearch.has(cursor.type(end)) &&
    cursor.at(end)!.image !== 'then'
  )
    end++;
  // The condition ends where the effect begins, or before what stands between the two.
  const arrow = effects.has(cursor.type(end)) ? arrowBefore(cursor, end) : 0;
  const effectAt = arrow > 0 ? end : end + 1;
  const [effect, name] = [cursor.at(effectAt), cursor.at(effectAt + 1)];
  const isThen = arrow > 0 || cursor.at(end)?.image === 'then';
  const isNamed = isAnyWord(name) && !isReservedToken(name) && !cursor.beginsLine(effectAt + 1);
  const last = isNamed ? effectAt + 1 : effectAt;
  const isBlock = cursor.type(end) === symbol.openCurly && cursor.type(last + 1) === symbol.closeCurly;
  const condition = cursor.text(1, end - arrow - 1);
  if (end - arrow <= 1 || !effects.has(effect?.tokenType) || !(isThen || isBlock)) return null;
  const write = `${effect!.image} ${isNamed ? name!.image : 'NAME'} when ${condition}`;
  const to = isThen ? last : elseBlockEnd(cursor, last + 1);
  const isWhole = isThen || to === last + 1;
  const help = isNamed
    ? `write \`${write}\`, and each other case as a rule of its own`
    : `write \`${write}\` with a name of your own`;
  return {
    to,
    message: 'a rule begins with its effect and its name',
    ...(isNamed && isWhole ? { write } : { help }),
    read: [],
  };
}

/** Offset at which `{ deny x } else { allow y }` ends; `end` is the end of its first block. */
function elseBlockEnd(cursor: Cursor, end: number): number {
  if (cursor.type(end + 1) !== keyword.else || cursor.type(end + 2) !== symbol.openCurly) return end;
  return cursor.closing(end + 2) ?? end;
}

/** How many tokens the arrow before an offset has; 0 if there is none. */
function arrowBefore(cursor: Cursor, offset: number): number {
  if (cursor.type(offset - 1) === mistake.arrow) return 1;
  return cursor.text(offset - 2, offset - 1) === '->' ? 2 : 0;
}

/** Repairs the rules of Rego: `deny { c }`, `deny x { c }`, `deny if { c }` and `deny[msg] { c }`. */
export function repairRuleBody(cursor: Cursor): Repair | null {
  if (!cursor.isInPolicy) return null;
  const listed = cursor.type(1) === symbol.openSquare ? cursor.closing(1) : null;
  const isNamed = listed === null && cursor.type(1) === NameToken && cursor.at(1)!.image !== 'if';
  let open = (listed ?? (isNamed ? 1 : 0)) + 1;
  if (cursor.type(open) === keyword.contains && isAnyWord(cursor.at(open + 1))) open += 2;
  if (cursor.at(open)?.image === 'if') open += 1;
  const closing = cursor.type(open) === symbol.openCurly ? cursor.closing(open) : null;
  const from = cursor.type(open + 1) === keyword.when ? open + 2 : open + 1;
  if (closing === null || closing <= from) return null;
  const lines = cursor.text(from, closing - 1).split(/\s*[;\n]\s*/);
  const name = isNamed ? cursor.at(1)!.image : 'NAME';
  const write = `${cursor.token.image} ${name} when ${lines.join(' and ')}`;
  const named = retype(cursor.token, NameToken, isNamed ? name : 'unnamed');
  const read = [cursor.token, named, ...cursor.readAs('when'), emptyName(cursor.token)];
  const help = `write \`${write}\`${isNamed ? '' : ' with a name of your own'}`;
  return { to: closing, message: 'the condition of a rule follows `when`, without braces', help, read };
}

/** Repairs `allow = true` and `deny := false`: a rule has no value. */
export function repairRuleValue(cursor: Cursor): Repair | null {
  const isSet = cursor.type(1) === symbol.assign || cursor.type(1) === mistake.colonAssign;
  const value = cursor.at(2)?.image;
  if (cursor.braces !== 1 || !isSet || (value !== 'true' && value !== 'false')) return null;
  const help =
    value === 'false' ? noDefault : `write \`${cursor.token.image} NAME\`, which applies to every request`;
  return { to: 2, message: 'a rule has no value', help, read: [] };
}

/** Repairs `else deny` behind a rule: rules have no `else`. */
export function repairElse(cursor: Cursor): Repair | null {
  if (!effects.has(cursor.type(1))) return null;
  const isNamed = cursor.type(2) === NameToken;
  const write = isNamed || cursor.type(1) !== keyword.deny ? undefined : '';
  const help =
    'remove it: what no `allow` grants is refused; another case is a rule of its own with its own `when`';
  return { to: isNamed ? 0 : 1, message: 'rules have no `else`', help, write, read: [] };
}

/**
 * Reads `to finance, security` as `to finance and security`, which asks both groups. Drops a comma behind a
 * rule, which ends nothing.
 */
export function repairRuleComma(cursor: Cursor): Repair | null {
  const next = cursor.type(1);
  const isBehindRule = cursor.isInPolicy && !cursor.isInBrackets();
  if (isBehindRule && (next === symbol.closeCurly || effects.has(next))) return removedToken(cursor);
  let at = 0;
  while (
    (cursor.type(at) === symbol.comma || cursor.type(at) === keyword.and) &&
    isAnyWord(cursor.at(at - 1))
  )
    at -= 2;
  const isAsked = at < 0 && (cursor.type(at) === keyword.to || cursor.type(at) === keyword.by);
  return isAsked ? spelled(cursor, ' and', 'foreign-operator') : null;
}

/** Reads `allow x: c` as `allow x when c`, and drops the colon of `escalate x: to finance`. */
export function repairRuleColon(cursor: Cursor): Repair | null {
  if (!effects.has(cursor.type(-2)) || cursor.braces !== 1) return null;
  return clauseStarts.has(cursor.type(1)) ? removedToken(cursor) : spelled(cursor, ' when');
}

/** Repairs `needs: 2` and `because = "why"`: no sign stands behind the word of a clause. */
export function repairClauseSign(cursor: Cursor): Repair | null {
  const isColon = cursor.type(0) !== symbol.assign;
  const { image } = cursor.at(isColon ? 0 : -1) ?? { image: '' };
  const isInBlock = cursor.declaration === keyword.policy || cursor.declaration === keyword.guarantee;
  const isSign = !isColon || cursor.type(1) === symbol.colon;
  if (!isInBlock || cursor.braces !== 1 || !isSign || cursor.beginsLine(isColon ? 2 : 1)) return null;
  if (!signless.has(typeOfName(image)) || (image === 'risk' && !isColon)) return null;
  const message = `no \`${isColon ? ':' : '='}\` is written after \`${image}\``;
  if (!isColon) return { message, write: '', read: [] };
  return { to: 1, message, write: image, read: cursor.readAs(image) };
}

const signless: ReadonlySet<unknown> = new Set([
  ...clauseStarts,
  ...effects,
  ...[keyword.shadow, keyword.never, keyword.always],
]);

/** Repairs `escalate to finance`, a rule without a name. */
export function repairNameless(cursor: Cursor): Repair | null {
  const next = cursor.at(1);
  if (next?.tokenType === keyword.if && beginsRule(cursor)) {
    return {
      from: 1,
      to: 1,
      code: 'unexpected-token',
      message: `expected a name for the rule after \`${cursor.token.image}\`, found \`if\``,
      help: 'a rule has a name, and its condition follows `when`: `deny many when payload.count > 3`',
      read: [retype(next, NameToken, 'unnamed'), retype(next, keyword.when, 'when')],
    };
  }
  // A word that is not reserved is the name of the rule if another clause follows it.
  const isClause = clauseStarts.has(next?.tokenType) && !isReservedToken(next);
  const isNamed = clauseStarts.has(cursor.type(2)) || cursor.at(2) === undefined || cursor.beginsLine(2);
  if (next === undefined || !beginsRule(cursor) || !isClause || isNamed) return null;
  return {
    from: 1,
    to: 0,
    code: 'unexpected-token',
    message: `expected a name for the rule after \`${cursor.token.image}\`, found \`${next.image}\``,
    help: 'a decision names its rule: write a name after the effect',
    read: [retype(next, NameToken, 'unnamed')],
  };
}

function beginsRule(cursor: Cursor): boolean {
  return cursor.isInPolicy && cursor.type(-1) !== keyword.after;
}

/** Repairs `deny "too_many" when c`: the name of a rule stands without quotes. */
export function repairQuotedName(cursor: Cursor): Repair | null {
  const text = cursor.at(1);
  if (!beginsRule(cursor) || !isAnyText(text)) return null;
  const name = text.image
    .slice(1, -1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_\d]+|_+$/g, '');
  const isName = name !== '' && name.length < 40;
  const help = isName ? undefined : `write \`${cursor.token.image} NAME\` with a name of your own`;
  const read = [retype(text, NameToken, isName ? name : 'unnamed')];
  const message = 'the name of a rule is one word without quotes';
  return { from: 1, message, help, write: isName ? name : undefined, read };
}

/** Repairs `rule too_many deny when c` and `rule deny too_many when c`: a rule begins with its effect. */
export function repairRuleWord(cursor: Cursor): Repair | null {
  if (!beginsRule(cursor) || cursor.token.image !== 'rule' || !cursor.beginsLine(0)) return null;
  const message = 'a rule begins with its effect';
  if (effects.has(cursor.type(1)) && isAnyWord(cursor.at(2))) return { message, write: '', read: [] };
  const [name, effect] = [cursor.at(1), cursor.at(2)];
  if (!isAnyWord(name) || !effects.has(effect?.tokenType)) return null;
  const read = [effect!, retype(name!, NameToken)];
  return { to: 2, message, write: `${effect!.image} ${name!.image}`, read };
}

/**
 * Whether a path, a call, or a text with a letter before it begins at an offset; none of these is plain text.
 */
function beginsExpression(cursor: Cursor, offset: number): boolean {
  const next = cursor.type(offset + 1);
  return (
    next === symbol.dot ||
    next === symbol.openParen ||
    (isAnyText(cursor.at(offset + 1)) && cursor.isAdjacent(offset + 1))
  );
}

/**
 * Tokens other than words that begin a reason without quotes, as in `because 3 are too many` and `because
 * {payload.count} are too many`.
 */
const plainBeginnings: ReadonlySet<unknown> = new Set([literal.number, symbol.openCurly]);

/** Repairs `because too many`: the rest of the line gets quotes. */
export function repairUnquotedReason(cursor: Cursor): Repair | null {
  const first = cursor.at(1);
  const isPlain = isAnyWord(first) || plainBeginnings.has(first?.tokenType);
  if (!isPlain || cursor.braces === 0 || cursor.beginsLine(1) || beginsExpression(cursor, 1)) return null;
  let to = 0;
  let depth = 0;
  while (cursor.at(to + 1) !== undefined && !cursor.beginsLine(to + 1) && depth >= 0) {
    depth += bracketStep[cursor.at(to + 1)!.tokenTypeIdx] ?? 0;
    if (depth >= 0) to++;
  }
  const reason = cursor.text(1, to).trim().replace(/["']$/, '');
  const write = /["\\{}]/.test(reason) ? undefined : `"${reason}"`;
  const help = write === undefined ? 'write `because "..."`' : undefined;
  // The placeholders of a reason are not read until it stands in quotes.
  const read = [retype(first!, literal.quoted, '"..."')];
  return {
    from: 1,
    to,
    code: 'unterminated-text',
    message: 'a reason is written in quotes',
    help,
    write,
    read,
  };
}

/** Repairs `because "for " + payload.vendor` and `because payload.vendor`: values go into placeholders of a text. */
export function repairJoinedReason(cursor: Cursor): Repair | null {
  let reason = '';
  let at = 1;
  for (; ; at += 2) {
    const token = cursor.at(at);
    const pathEnd = cursor.pathEnd(at);
    if (isAnyText(token) && !/["\\]/.test(token.image.slice(1, -1))) reason += token.image.slice(1, -1);
    else if (token?.tokenType === NameToken && pathEnd > at + 1) {
      reason += `{${cursor.text(at, pathEnd - 1)}}`;
      at = pathEnd - 1;
    } else return null;
    if (cursor.type(at + 1) !== symbol.plus) break;
  }
  const isWhole = cursor.beginsLine(at + 1) || cursor.type(at + 1) === symbol.closeCurly;
  if (!isWhole || (at === 1 && isAnyText(cursor.at(1)))) return null;
  const write = `"${reason}"`;
  const read = [spanningToken(retype(cursor.at(1)!, literal.quoted, '"..."'), cursor.at(at)!)];
  const message = 'a reason is one text with values in placeholders';
  return { from: 1, to: at, message, write, read };
}

/** Repairs `allow x "why" when c`: a reason follows `because`. */
export function repairRuleText(cursor: Cursor): Repair | null {
  const isBehindName = effects.has(cursor.type(-2)) && cursor.type(-1) === NameToken && cursor.braces === 1;
  if (!isBehindName) return null;
  const help = `write \`because ${cursor.token.image}\` after the condition`;
  return { message: 'a reason follows `because`', help, read: [] };
}

/** Reads `policy orders for order.place { ... }` with `on` instead of `for`. */
export function repairPolicyFor(cursor: Cursor): Repair | null {
  return cursor.braces === 0 && cursor.type(-2) === keyword.policy ? spelled(cursor, 'on') : null;
}

/**
 * Repairs `policy orders on group orders { ... }` and `action order.place in group orders { ... }`: the name
 * alone is enough.
 */
export function repairPatternKind(cursor: Cursor): Repair | null {
  const isNamed =
    cursor.braces === 0 && beforePatterns.get(cursor.declaration)?.has(cursor.type(-1)) === true;
  if (!isNamed || !isAnyWord(cursor.at(1)) || cursor.beginsLine(0)) return null;
  const { image } = cursor.token;
  return {
    message: `the name is enough to say which ${image} it is`,
    help: `remove \`${image}\``,
    write: '',
    read: [],
  };
}

const inHead: ReadonlySet<unknown> = new Set([keyword.on, keyword.except, symbol.comma]);
/** Tokens that a pattern or the name of a group stands behind, by the word of the declaration. */
const beforePatterns: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  [keyword.policy, inHead],
  [keyword.guarantee, inHead],
  [keyword.action, new Set([keyword.in, symbol.comma])],
  [keyword.meter, new Set([keyword.of, symbol.comma])],
]);

/** Repairs `policy orders on [order.place, order.cancel] { ... }`: patterns stand in no brackets. */
export function repairPatternList(cursor: Cursor): Repair | null {
  const closing = cursor.braces === 0 && cursor.type(-1) === keyword.on ? cursor.closing(0) : null;
  if (closing === null || closing === 1) return null;
  const read = cursor.run(1, closing - 1);
  const message = 'the patterns of a policy have no brackets';
  return { to: closing, message, write: cursor.text(1, closing - 1), read };
}

/** Reads `after approval from finance` as `after approval by finance`. */
export function repairApprovalFrom(cursor: Cursor): Repair | null {
  return cursor.type(-1) === keyword.approval ? spelled(cursor, 'by') : null;
}
