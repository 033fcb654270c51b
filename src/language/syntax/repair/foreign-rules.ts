// Repairs whole lines, rules and groups in the order of other languages, and suggests what to write. The
// tokens of most are skipped.

import {
  bracketStep,
  effects,
  isAnyText,
  isAnyWord,
  isReservedToken,
  literal,
  mistake,
  NameToken,
  retype,
  sign,
  typeOfName,
  word,
} from '../parse/tokens.ts';
import {
  type Cursor,
  clauseStarts,
  hole,
  lookaheadMax,
  needless,
  type Repair,
  spelled,
  stretched,
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
export function repairForeignLine(here: Cursor): Repair | null {
  const { image } = here.token;
  const isDefault = here.isInPolicy && image === 'default';
  const foreign = here.braces === 0 || isDefault ? lines.get(image) : undefined;
  if (foreign === undefined || !here.beginsLine(0)) return null;
  let to = 0;
  while (!here.beginsLine(to + 1) && here.type(to + 1) !== sign.closeCurly) to++;
  const rest = here.run(1, to);
  const isOther = rest.some(({ tokenType }) => tokenType === sign.openCurly || tokenType === word.on);
  if (rest.length === 0 || isOther) return null;
  const isAllowed = image === 'default' && rest.some((token) => token.image === 'true');
  return { to, ...foreign, write: isAllowed ? undefined : '', read: [] };
}

const endsSearch: ReadonlySet<unknown> = new Set([
  ...effects,
  ...[word.when, word.unless, word.policy, sign.openCurly, sign.closeCurly],
]);

/**
 * Repairs `when c then deny x`, `when c -> deny x` and `if c { deny x }` where a rule begins: the effect goes
 * first.
 */
export function repairConditionFirst(here: Cursor): Repair | null {
  if (!here.isInPolicy) return null;
  if (here.type(0) !== word.when && here.token.image !== 'if') return null;
  if (effects.has(here.type(-2))) return null;
  let end = 1;
  while (
    end < lookaheadMax &&
    here.at(end) &&
    !endsSearch.has(here.type(end)) &&
    here.at(end)!.image !== 'then'
  )
    end++;
  // The condition ends where the effect begins, or before what stands between the two.
  const arrow = effects.has(here.type(end)) ? arrowBefore(here, end) : 0;
  const effectAt = arrow > 0 ? end : end + 1;
  const [effect, name] = [here.at(effectAt), here.at(effectAt + 1)];
  const isThen = arrow > 0 || here.at(end)?.image === 'then';
  const isNamed = isAnyWord(name) && !isReservedToken(name) && !here.beginsLine(effectAt + 1);
  const last = isNamed ? effectAt + 1 : effectAt;
  const isBlock = here.type(end) === sign.openCurly && here.type(last + 1) === sign.closeCurly;
  const condition = here.text(1, end - arrow - 1);
  if (end - arrow <= 1 || !effects.has(effect?.tokenType) || !(isThen || isBlock)) return null;
  const write = `${effect!.image} ${isNamed ? name!.image : 'NAME'} when ${condition}`;
  const to = isThen ? last : elseBlockEnd(here, last + 1);
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
function elseBlockEnd(here: Cursor, end: number): number {
  if (here.type(end + 1) !== word.else || here.type(end + 2) !== sign.openCurly) return end;
  return here.closing(end + 2) ?? end;
}

/** How many tokens the arrow before an offset has; 0 if there is none. */
function arrowBefore(here: Cursor, offset: number): number {
  if (here.type(offset - 1) === mistake.arrow) return 1;
  return here.text(offset - 2, offset - 1) === '->' ? 2 : 0;
}

/** Repairs the rules of Rego: `deny { c }`, `deny x { c }`, `deny if { c }` and `deny[msg] { c }`. */
export function repairRuleBody(here: Cursor): Repair | null {
  if (!here.isInPolicy) return null;
  const listed = here.type(1) === sign.openSquare ? here.closing(1) : null;
  const isNamed = listed === null && here.type(1) === NameToken && here.at(1)!.image !== 'if';
  let open = (listed ?? (isNamed ? 1 : 0)) + 1;
  if (here.type(open) === word.contains && isAnyWord(here.at(open + 1))) open += 2;
  if (here.at(open)?.image === 'if') open += 1;
  const closing = here.type(open) === sign.openCurly ? here.closing(open) : null;
  const from = here.type(open + 1) === word.when ? open + 2 : open + 1;
  if (closing === null || closing <= from) return null;
  const lines = here.text(from, closing - 1).split(/\s*[;\n]\s*/);
  const name = isNamed ? here.at(1)!.image : 'NAME';
  const write = `${here.token.image} ${name} when ${lines.join(' and ')}`;
  const named = retype(here.token, NameToken, isNamed ? name : 'unnamed');
  const read = [here.token, named, ...here.readAs('when'), hole(here.token)];
  const help = `write \`${write}\`${isNamed ? '' : ' with a name of your own'}`;
  return { to: closing, message: 'the condition of a rule follows `when`, without braces', help, read };
}

/** Repairs `allow = true` and `deny := false`: a rule has no value. */
export function repairRuleValue(here: Cursor): Repair | null {
  const isSet = here.type(1) === sign.assign || here.type(1) === mistake.colonAssign;
  const value = here.at(2)?.image;
  if (here.braces !== 1 || !isSet || (value !== 'true' && value !== 'false')) return null;
  const help =
    value === 'false' ? noDefault : `write \`${here.token.image} NAME\`, which applies to every request`;
  return { to: 2, message: 'a rule has no value', help, read: [] };
}

/** Repairs `else deny` behind a rule: rules have no `else`. */
export function repairElse(here: Cursor): Repair | null {
  if (!effects.has(here.type(1))) return null;
  const isNamed = here.type(2) === NameToken;
  const write = isNamed || here.type(1) !== word.deny ? undefined : '';
  const help =
    'remove it: what no `allow` grants is refused; another case is a rule of its own with its own `when`';
  return { to: isNamed ? 0 : 1, message: 'rules have no `else`', help, write, read: [] };
}

/**
 * Reads `to finance, security` as `to finance and security`, which asks both groups. Drops a comma behind a
 * rule, which ends nothing.
 */
export function repairRuleComma(here: Cursor): Repair | null {
  const next = here.type(1);
  const isBehindRule = here.isInPolicy && !here.isInBrackets();
  if (isBehindRule && (next === sign.closeCurly || effects.has(next))) return needless(here);
  let at = 0;
  while ((here.type(at) === sign.comma || here.type(at) === word.and) && isAnyWord(here.at(at - 1))) at -= 2;
  const isAsked = at < 0 && (here.type(at) === word.to || here.type(at) === word.by);
  return isAsked ? spelled(here, ' and', 'foreign-operator') : null;
}

/** Reads `allow x: c` as `allow x when c`, and drops the colon of `escalate x: to finance`. */
export function repairRuleColon(here: Cursor): Repair | null {
  if (!effects.has(here.type(-2)) || here.braces !== 1) return null;
  return clauseStarts.has(here.type(1)) ? needless(here) : spelled(here, ' when');
}

/** Repairs `needs: 2` and `because = "why"`: no sign stands behind the word of a clause. */
export function repairClauseSign(here: Cursor): Repair | null {
  const isColon = here.type(0) !== sign.assign;
  const { image } = here.at(isColon ? 0 : -1) ?? { image: '' };
  const isInBlock = here.declaration === word.policy || here.declaration === word.guarantee;
  const isSign = !isColon || here.type(1) === sign.colon;
  if (!isInBlock || here.braces !== 1 || !isSign || here.beginsLine(isColon ? 2 : 1)) return null;
  if (!signless.has(typeOfName(image)) || (image === 'risk' && !isColon)) return null;
  const message = `no \`${isColon ? ':' : '='}\` is written after \`${image}\``;
  if (!isColon) return { message, write: '', read: [] };
  return { to: 1, message, write: image, read: here.readAs(image) };
}

const signless: ReadonlySet<unknown> = new Set([
  ...clauseStarts,
  ...effects,
  ...[word.shadow, word.never, word.always],
]);

/** Repairs `escalate to finance`, a rule without a name. */
export function repairNameless(here: Cursor): Repair | null {
  const next = here.at(1);
  if (next?.tokenType === word.if && beginsRule(here)) {
    return {
      from: 1,
      to: 1,
      code: 'unexpected-token',
      message: `expected a name for the rule after \`${here.token.image}\`, found \`if\``,
      help: 'a rule has a name, and its condition follows `when`: `deny many when payload.count > 3`',
      read: [retype(next, NameToken, 'unnamed'), retype(next, word.when, 'when')],
    };
  }
  // A word that is not reserved is the name of the rule if another clause follows it.
  const isClause = clauseStarts.has(next?.tokenType) && !isReservedToken(next);
  const isNamed = clauseStarts.has(here.type(2)) || here.at(2) === undefined || here.beginsLine(2);
  if (next === undefined || !beginsRule(here) || !isClause || isNamed) return null;
  return {
    from: 1,
    to: 0,
    code: 'unexpected-token',
    message: `expected a name for the rule after \`${here.token.image}\`, found \`${next.image}\``,
    help: 'a decision names its rule: write a name after the effect',
    read: [retype(next, NameToken, 'unnamed')],
  };
}

function beginsRule(here: Cursor): boolean {
  return here.isInPolicy && here.type(-1) !== word.after;
}

/** Repairs `deny "too_many" when c`: the name of a rule stands without quotes. */
export function repairQuotedName(here: Cursor): Repair | null {
  const text = here.at(1);
  if (!beginsRule(here) || !isAnyText(text)) return null;
  const name = text.image
    .slice(1, -1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_\d]+|_+$/g, '');
  const isName = name !== '' && name.length < 40;
  const help = isName ? undefined : `write \`${here.token.image} NAME\` with a name of your own`;
  const read = [retype(text, NameToken, isName ? name : 'unnamed')];
  const message = 'the name of a rule is one word without quotes';
  return { from: 1, message, help, write: isName ? name : undefined, read };
}

/** Repairs `rule too_many deny when c` and `rule deny too_many when c`: a rule begins with its effect. */
export function repairRuleWord(here: Cursor): Repair | null {
  if (!beginsRule(here) || here.token.image !== 'rule' || !here.beginsLine(0)) return null;
  const message = 'a rule begins with its effect';
  if (effects.has(here.type(1)) && isAnyWord(here.at(2))) return { message, write: '', read: [] };
  const [name, effect] = [here.at(1), here.at(2)];
  if (!isAnyWord(name) || !effects.has(effect?.tokenType)) return null;
  const read = [effect!, retype(name!, NameToken)];
  return { to: 2, message, write: `${effect!.image} ${name!.image}`, read };
}

/**
 * Whether a path, a call, or a text with a letter before it begins at an offset; none of these is plain text.
 */
function beginsExpression(here: Cursor, offset: number): boolean {
  const next = here.type(offset + 1);
  return (
    next === sign.dot ||
    next === sign.openParen ||
    (isAnyText(here.at(offset + 1)) && here.isAdjacent(offset + 1))
  );
}

/**
 * Tokens other than words that begin a reason without quotes, as in `because 3 are too many` and `because
 * {payload.count} are too many`.
 */
const plainBeginnings: ReadonlySet<unknown> = new Set([literal.number, sign.openCurly]);

/** Repairs `because too many`: the rest of the line gets quotes. */
export function repairUnquotedReason(here: Cursor): Repair | null {
  const first = here.at(1);
  const isPlain = isAnyWord(first) || plainBeginnings.has(first?.tokenType);
  if (!isPlain || here.braces === 0 || here.beginsLine(1) || beginsExpression(here, 1)) return null;
  let to = 0;
  let depth = 0;
  while (here.at(to + 1) !== undefined && !here.beginsLine(to + 1) && depth >= 0) {
    depth += bracketStep[here.at(to + 1)!.tokenTypeIdx] ?? 0;
    if (depth >= 0) to++;
  }
  const reason = here.text(1, to).trim().replace(/["']$/, '');
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
export function repairJoinedReason(here: Cursor): Repair | null {
  let reason = '';
  let at = 1;
  for (; ; at += 2) {
    const token = here.at(at);
    const pathEnd = here.pathEnd(at);
    if (isAnyText(token) && !/["\\]/.test(token.image.slice(1, -1))) reason += token.image.slice(1, -1);
    else if (token?.tokenType === NameToken && pathEnd > at + 1) {
      reason += `{${here.text(at, pathEnd - 1)}}`;
      at = pathEnd - 1;
    } else return null;
    if (here.type(at + 1) !== sign.plus) break;
  }
  const isWhole = here.beginsLine(at + 1) || here.type(at + 1) === sign.closeCurly;
  if (!isWhole || (at === 1 && isAnyText(here.at(1)))) return null;
  const write = `"${reason}"`;
  const read = [stretched(retype(here.at(1)!, literal.quoted, '"..."'), here.at(at)!)];
  const message = 'a reason is one text with values in placeholders';
  return { from: 1, to: at, message, write, read };
}

/** Repairs `allow x "why" when c`: a reason follows `because`. */
export function repairRuleText(here: Cursor): Repair | null {
  const isBehindName = effects.has(here.type(-2)) && here.type(-1) === NameToken && here.braces === 1;
  if (!isBehindName) return null;
  const help = `write \`because ${here.token.image}\` after the condition`;
  return { message: 'a reason follows `because`', help, read: [] };
}

/** Reads `policy orders for order.place { ... }` with `on` instead of `for`. */
export function repairPolicyFor(here: Cursor): Repair | null {
  return here.braces === 0 && here.type(-2) === word.policy ? spelled(here, 'on') : null;
}

/**
 * Repairs `policy orders on group orders { ... }` and `action order.place in group orders { ... }`: the name
 * alone is enough.
 */
export function repairPatternKind(here: Cursor): Repair | null {
  const isNamed = here.braces === 0 && beforePatterns.get(here.declaration)?.has(here.type(-1)) === true;
  if (!isNamed || !isAnyWord(here.at(1)) || here.beginsLine(0)) return null;
  const { image } = here.token;
  return {
    message: `the name is enough to say which ${image} it is`,
    help: `remove \`${image}\``,
    write: '',
    read: [],
  };
}

const inHead: ReadonlySet<unknown> = new Set([word.on, word.except, sign.comma]);
/** Tokens that a pattern or the name of a group stands behind, by the word of the declaration. */
const beforePatterns: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  [word.policy, inHead],
  [word.guarantee, inHead],
  [word.action, new Set([word.in, sign.comma])],
  [word.meter, new Set([word.of, sign.comma])],
]);

/** Repairs `policy orders on [order.place, order.cancel] { ... }`: patterns stand in no brackets. */
export function repairPatternList(here: Cursor): Repair | null {
  const closing = here.braces === 0 && here.type(-1) === word.on ? here.closing(0) : null;
  if (closing === null || closing === 1) return null;
  const read = here.run(1, closing - 1);
  const message = 'the patterns of a policy have no brackets';
  return { to: closing, message, write: here.text(1, closing - 1), read };
}

/** Reads `after approval from finance` as `after approval by finance`. */
export function repairApprovalFrom(here: Cursor): Repair | null {
  return here.type(-1) === word.approval ? spelled(here, 'by') : null;
}
