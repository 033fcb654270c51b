// Words in the place of others → what was meant: reserved words as names, unknown words that begin a rule or declaration,
// and risk points without their sign.

import {
  isAnyWord,
  isReservedToken,
  literal,
  Name,
  reservedWords,
  retype,
  sign,
  Text,
  type Token,
  word,
} from '../../grammar/tokens.ts';
import { nearestOf } from '../diagnostic/suggest.ts';
import { syntaxError, tokenSpan } from './build-context.ts';
import type { Reader } from './concrete.ts';
import type { MendState } from './mend-state.ts';
import { declarationVocabulary, effectVocabulary, meantWord, unknownWord } from './vocabulary.ts';

/** `risk 30` and `risk name 30` lack a sign: a `+` is put before the number. Answers 0 where that is not so. */
export function mendPoints(index: number, state: MendState): number {
  const { tokens, reader, mended } = state;
  const name = tokens[index + 1];
  const isNamed = name !== undefined && isAnyWord(name) && !isReservedToken(name);
  const number = tokens[index + (isNamed ? 2 : 1)];
  if (number?.tokenType !== literal.number) return 0;
  const span = tokenSpan(number, reader);
  const write = `+${number.image}`;
  reader.report({
    ...syntaxError(
      'points-without-sign',
      span,
      'risk points say by a sign what they do',
      `write \`${write}\``,
    ),
    fix: { title: `write \`${write}\``, edits: [{ span, text: write }] },
  });
  mended.push(tokens[index]!, ...(isNamed ? [name] : []), retype(number, sign.plus, '+'));
  return isNamed ? 2 : 1;
}

const declaring: ReadonlySet<unknown> = new Set([word.let, word.type, word.hours, word.meter, word.list]);
const blocks: ReadonlySet<unknown> = new Set([
  ...[word.action, word.policy, word.guarantee, word.group, word.approvers],
]);
const effects: ReadonlySet<unknown> = new Set([word.allow, word.deny, word.escalate, word.reauth, word.risk]);
const clauseStarts: ReadonlySet<unknown> = new Set([
  ...[
    word.when,
    word.unless,
    word.risk,
    word.because,
    word.for,
    word.after,
    word.to,
    word.needs,
    word.within,
  ],
]);

/** A reserved word that stands for a name is read as one; the declaration that it names reports it. */
export function mendDeclaredWord(index: number, state: MendState): number {
  const { tokens, mended } = state;
  const token = tokens[index]!;
  noteDeclaration(token, state);
  mended.push(token);
  const name = tokens[index + 1];
  if (name === undefined || !isReservedToken(name)) return 1;
  const isName = effects.has(token.tokenType)
    ? isRuleName(index, state)
    : followers(token).has(tokens[index + 2]?.tokenType);
  if (!isName) return 1;
  mended.push(retype(name, Name));
  return 2;
}

function noteDeclaration({ tokenType }: Token, state: MendState): void {
  if (declaring.has(tokenType)) state.awaitsAssign = true;
  if (state.braces === 0 && (declaring.has(tokenType) || blocks.has(tokenType)))
    state.declaration = tokenType;
}

/** What follows the name of a declaration that begins with a word. */
function followers(token: Token): ReadonlySet<unknown> {
  switch (token.tokenType) {
    case word.let:
    case word.type:
    case word.hours:
    case word.meter:
      return new Set([sign.assign]);
    case word.list:
      return new Set([sign.assign, word.ignoring, word.from]);
    case word.policy:
    case word.guarantee:
      return new Set([word.on]);
    case word.approvers:
      return new Set([literal.quoted, literal.raw, Text]);
    default:
      return new Set();
  }
}

/** What a value follows: there `risk` is one. */
const beforeValue: ReadonlySet<unknown> = new Set([
  ...[sign.equal, sign.notEqual, sign.below, sign.atMost, sign.above, sign.atLeast, sign.openParen],
  ...[word.and, word.or, word.not, word.in, word.when, word.unless],
]);

function isRuleName(index: number, { tokens }: MendState): boolean {
  const before = tokens[index - 1]?.tokenType;
  if (before === word.never || before === word.always || before === word.after) return false;
  const name = tokens[index + 1]!.tokenType;
  const after = tokens[index + 2]?.tokenType;
  // In a condition `risk` is a value, which any word may follow.
  if (tokens[index]!.tokenType === word.risk) {
    return !beforeValue.has(before) && (after === sign.plus || after === sign.minus);
  }
  return clauseStarts.has(after) || !beginsSomething(name);
}

function beginsSomething(type: unknown): boolean {
  const others: readonly unknown[] = [word.shadow, word.never, word.always];
  return [clauseStarts, effects, declaring, blocks].some((set) => set.has(type)) || others.includes(type);
}

// ---- unknown words at the beginning of a declaration or rule

/**
 * A word that begins a line and is followed by a name alone can only be meant to begin a rule, or, outside of braces, a
 * declaration: it is read as the nearest word that does, so that what follows it is read too.
 */
export function mendFirstWord(index: number, state: MendState): Token {
  const token = state.tokens[index]!;
  const isInPolicy = state.braces === 1 && state.declaration === word.policy;
  if (!(isInPolicy || state.braces === 0) || !beginsLine(index, state) || !isNamedAlone(index, state))
    return token;
  const vocabulary = isInPolicy ? effectVocabulary : declarationVocabulary;
  const better = meantWord(token.image, vocabulary);
  // A word in a policy that is near no effect may be a misspelt clause; what is near nothing is read as a rule.
  if (better === null && (!isInPolicy || nearestOf(token.image, reservedWords) !== null)) return token;
  state.reader.report(unknownWord(token.image, tokenSpan(token, state.reader), vocabulary));
  const meant = retype(token, word[better ?? 'deny'], better ?? 'deny');
  if (!isInPolicy) noteDeclaration(meant, state);
  return meant;
}

function beginsLine(index: number, { tokens, reader }: MendState): boolean {
  const before = tokens[index - 1];
  if (before === undefined || before.tokenType === sign.openCurly || before.tokenType === sign.closeCurly)
    return true;
  return areOnTwoLines(before, tokens[index]!, reader);
}

/** Whether a name follows on the same line, and then a clause, an `=`, `on`, or another line. */
function isNamedAlone(index: number, { tokens, reader }: MendState): boolean {
  const [token, name, after] = [tokens[index]!, tokens[index + 1], tokens[index + 2]];
  if (name?.tokenType !== Name || areOnTwoLines(token, name, reader)) return false;
  if (after === undefined || areOnTwoLines(name, after, reader)) return true;
  return clauseStarts.has(after.tokenType) || followsName.has(after.tokenType);
}

const followsName: ReadonlySet<unknown> = new Set([
  sign.assign,
  sign.closeCurly,
  word.on,
  literal.quoted,
  literal.raw,
]);

function areOnTwoLines(first: Token, second: Token, { source }: Reader): boolean {
  return /[\r\n]/.test(source.text.slice(first.startOffset, second.startOffset));
}
