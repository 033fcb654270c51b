// Words in the place of others → what was meant: reserved words as names, unknown words that begin a rule or declaration,
// and risk points without their sign.

import { nearestOf } from '../../diagnostic/suggest.ts';
import { type Reader, tokenSpan } from '../parse/context.ts';
import {
  assigning,
  declaring,
  isAnyWord,
  isReservedToken,
  literal,
  NameToken,
  reservedWords,
  retype,
  sign,
  type Token,
  word,
  wordTypes,
} from '../parse/tokens.ts';
import { type Repair, type RepairState, reportProblem } from './problem.ts';
import { declarationVocabulary, effectVocabulary, meantWord, unknownWord } from './vocabulary.ts';

/** `risk 30` and `risk name 30` lack a sign: a `+` is put before the number. */
export function repairRisk(index: number, state: RepairState): Repair | null {
  const { tokens, reader } = state;
  const name = tokens[index + 1];
  const isNamed = name !== undefined && isAnyWord(name) && !isReservedToken(name);
  const number = tokens[index + (isNamed ? 2 : 1)];
  if (number?.tokenType !== literal.number) return repairDeclaredWord(index, state);
  const message = 'risk points say by a sign what they do';
  const problem = { code: 'points-without-sign', message, write: `+${number.image}` } as const;
  reportProblem(tokenSpan(number, reader), problem, reader);
  const better = [tokens[index]!, ...(isNamed ? [name] : []), retype(number, sign.plus, '+')];
  return { taken: better.length - 1, tokens: better };
}

const effects = wordTypes('allow', 'deny', 'escalate', 'reauth', 'risk');
const conditions = ['when', 'unless', 'risk', 'because'] as const;
const clauseStarts = wordTypes(...conditions, 'for', 'after', 'to', 'needs', 'within');
const ruleStarts = wordTypes('shadow', 'never', 'always');

/** A reserved word that stands for a name is read as one; the declaration that it names reports it. */
export function repairDeclaredWord(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const token = tokens[index]!;
  noteDeclaration(token, state);
  const name = tokens[index + 1];
  if (name === undefined || !isReservedToken(name)) return null;
  const isName = effects.has(token.tokenType)
    ? isRuleName(index, state)
    : followers.get(token.tokenType)?.has(tokens[index + 2]?.tokenType);
  return isName ? { taken: 2, tokens: [token, retype(name, NameToken)] } : null;
}

function noteDeclaration({ tokenType }: Token, state: RepairState): void {
  if (assigning.has(tokenType)) state.awaitsAssign = true;
  if (state.braces === 0 && declaring.has(tokenType)) state.declaration = tokenType;
}

/** What follows the name of a declaration that begins with a word. */
const followers: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ...[word.let, word.type, word.meter].map((type) => [type, new Set([sign.assign])] as const),
  [word.list, new Set([sign.assign, word.ignoring, word.from])],
  [word.hours, new Set([sign.assign, word.from])],
  [word.policy, new Set([word.on])],
  [word.guarantee, new Set([word.on])],
  [word.approvers, new Set([literal.quoted, literal.raw])],
]);

/** What a value follows: there `risk` is one. */
const beforeValue: ReadonlySet<unknown> = new Set([
  ...[sign.equal, sign.notEqual, sign.below, sign.atMost, sign.above, sign.atLeast, sign.openParen],
  ...[word.and, word.or, word.not, word.in, word.when, word.unless],
]);

function isRuleName(index: number, { tokens }: RepairState): boolean {
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
  return [clauseStarts, effects, declaring, ruleStarts].some((set) => set.has(type));
}

// ---- unknown words at the beginning of a declaration or rule

/**
 * A word that begins a line and is followed by a name alone can only be meant to begin a rule, or, outside of braces, a
 * declaration: it is read as the nearest word that does, so that what follows it is read too.
 */
export function repairFirstWord(index: number, state: RepairState): Repair | null {
  if (!isNamedAlone(index, state)) return null;
  const token = state.tokens[index]!;
  const isInPolicy = state.braces === 1 && state.declaration === word.policy;
  if (!(isInPolicy || state.braces === 0) || !beginsLine(index, state)) return null;
  const vocabulary = isInPolicy ? effectVocabulary : declarationVocabulary;
  const better = meantWord(token.image, vocabulary);
  // A word in a policy that is near no effect may be a misspelt clause; what is near nothing is read as a rule.
  if (better === null && (!isInPolicy || nearestOf(token.image, reservedWords) !== null)) return null;
  state.reader.report(unknownWord(token.image, tokenSpan(token, state.reader), vocabulary));
  const meant = retype(token, word[better ?? 'deny'], better ?? 'deny');
  if (!isInPolicy) noteDeclaration(meant, state);
  return { taken: 1, tokens: [meant] };
}

function beginsLine(index: number, { tokens, reader }: RepairState): boolean {
  const before = tokens[index - 1];
  if (before === undefined || before.tokenType === sign.openCurly || before.tokenType === sign.closeCurly)
    return true;
  return areOnTwoLines(before, tokens[index]!, reader);
}

/** Whether a name follows on the same line, and then a clause, an `=`, `on`, or another line. */
function isNamedAlone(index: number, { tokens, reader }: RepairState): boolean {
  const [token, name, after] = [tokens[index]!, tokens[index + 1], tokens[index + 2]];
  if (name?.tokenType !== NameToken || areOnTwoLines(token, name, reader)) return false;
  if (after === undefined || areOnTwoLines(name, after, reader)) return true;
  return clauseStarts.has(after.tokenType) || followsName.has(after.tokenType);
}

const followsName: ReadonlySet<unknown> = new Set([
  ...[sign.assign, sign.closeCurly, word.on, literal.quoted, literal.raw],
]);

function areOnTwoLines(first: Token, second: Token, { source }: Reader): boolean {
  return /[\r\n]/.test(source.text.slice(first.startOffset, second.startOffset));
}
