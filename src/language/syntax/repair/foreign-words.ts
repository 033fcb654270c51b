// Words of other languages → what they mean here.

import {
  Currency,
  comparing,
  literal,
  NameToken,
  retype,
  sign,
  type Token,
  word,
  wordTypes,
} from '../parse/tokens.ts';
import { repairListType } from './foreign-brackets.ts';
import { repairCall, repairMethod } from './foreign-calls.ts';
import {
  beforeCondition,
  hole,
  instead,
  type PathBefore,
  pathBefore,
  presenceOf,
  writing,
} from './foreign-form.ts';
import { repairConditionFirst } from './foreign-lines.ts';
import { entryTypes, operatorTokens, repairRelation } from './foreign-relations.ts';
import type { Repair, RepairState } from './problem.ts';

/** A name that other languages use for a word, a function, a method or a value of this one. */
export function repairForeignName(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const [before, name, next] = [tokens[index - 1]?.tokenType, tokens[index]!, tokens[index + 1]?.tokenType];
  if (next === sign.openParen && before === sign.dot) return repairMethod(index, state);
  if (next === sign.openParen && before === word.in) return null;
  if (name.image === 'if' && next === sign.openParen) return repairConditionFirst(index, state);
  if (next === sign.openParen) return repairRelation(index, state) ?? repairCall(index, state);
  if (next === sign.openSquare) return repairListType(index, state) ?? repairRelation(index, state);
  if (before === sign.dot || next === sign.dot || next === sign.colon || next === sign.optional) return null;
  return (
    repairExists(index, state) ??
    repairClauseWord(index, state) ??
    repairRelation(index, state) ??
    repairValue(index, name, state)
  );
}

const clauseWords: ReadonlySet<string> = new Set([
  'if',
  'where',
  'provided',
  'whenever',
  'When',
  'WHEN',
  'If',
  'IF',
  'WHERE',
]);
const effects = wordTypes('allow', 'deny', 'escalate', 'reauth');

/** `deny x if ...` and `deny x where ...`. */
function repairClauseWord(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const token = tokens[index]!;
  if (!clauseWords.has(token.image) || !effects.has(tokens[index - 2]?.tokenType)) return null;
  const foreign = writing(`\`${token.image}\` is written \`when\` here`, 'when');
  return instead({ index, taken: 1 }, foreign, [retype(token, word.when, 'when')], state);
}

const values: Readonly<Record<string, 'true' | 'false' | 'null'>> = {
  True: 'true',
  TRUE: 'true',
  False: 'false',
  FALSE: 'false',
  None: 'null',
  NULL: 'null',
  Null: 'null',
  nil: 'null',
  undefined: 'null',
};

/** `True`, `None` and their like. */
function repairValue(index: number, token: Token, state: RepairState): Repair | null {
  const better = Object.hasOwn(values, token.image) ? values[token.image]! : null;
  const before = state.tokens[index - 1]?.tokenType;
  if (better === null || !(comparing.has(before) || beforeCondition.has(before))) return null;
  const message = `\`${token.image}\` is no value here`;
  if (better !== 'null') {
    return instead(
      { index, taken: 1 },
      writing(message, better),
      [retype(token, word[better], better)],
      state,
    );
  }
  const isNot = before === sign.notEqual;
  const path = pathBefore(index - 1, state);
  const help = nullHelp(path?.text ?? 'x', isNot);
  const run = { index, before: path === null ? 0 : path.length + 1, taken: 1 };
  return instead(run, { message, help, write: null }, [hole(state.tokens[index - run.before]!)], state);
}

function nullHelp(path: string, isNot: boolean): string {
  const has = presenceOf(path);
  return isNot
    ? `write \`${has}\` for a field that is there, \`${path} != null\` for one that may be null`
    : `write \`not (${has})\` for a field that is absent, \`${path} == null\` for one that may be null`;
}

/** `x is null` and `x is not null`. */
export function repairIsNull(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const isNot = tokens[index + 1]?.tokenType === word.not;
  const taken = isNot ? 3 : 2;
  const last = tokens[index + taken - 1];
  const path = pathBefore(index, state);
  const isNull = last?.tokenType === word.null || (last !== undefined && values[last.image] === 'null');
  if (path === null) return null;
  if (!isNull) return repairIs(index, { path, isNot }, state);
  const message = `\`${isNot ? 'is not' : 'is'} ${last.image}\` may mean two things: absent and null`;
  const foreign = { message, help: nullHelp(path.text, isNot), write: null };
  return instead({ index, before: path.length, taken }, foreign, [hole(tokens[index - path.length]!)], state);
}

/** `x is 3`, `x is not "a"` and `x is empty`. */
function repairIs(
  index: number,
  { path, isNot }: { readonly path: PathBefore; readonly isNot: boolean },
  state: RepairState,
): Repair | null {
  const { tokens } = state;
  const taken = isNot ? 2 : 1;
  const next = tokens[index + taken];
  if (next?.image === 'empty') {
    const foreign = writing(
      'what is empty has a length of 0',
      `length(${path.text}) ${isNot ? '>' : '=='} 0`,
    );
    const run = { index, before: path.length, taken: taken + 1 };
    return instead(run, foreign, [hole(tokens[index - path.length]!)], state);
  }
  const isValue =
    entryTypes.has(next?.tokenType) || next?.tokenType === word.true || next?.tokenType === word.false;
  if (!isValue) return null;
  const operator = isNot ? '!=' : '==';
  const foreign = writing(`\`${isNot ? 'is not' : 'is'}\` compares no values`, operator);
  return instead({ index, taken }, foreign, operatorTokens(tokens[index]!, operator), state);
}

/** `x exists`. */
function repairExists(index: number, state: RepairState): Repair | null {
  const path = pathBefore(index, state);
  const next = state.tokens[index + 1]?.tokenType;
  if (state.tokens[index]!.image !== 'exists' || path === null || path.length < 3) return null;
  if (next === sign.openParen || next === word.in) return null;
  const foreign = writing('presence is asked for by `has`', presenceOf(path.text));
  return instead(
    { index, before: path.length, taken: 1 },
    foreign,
    [hole(state.tokens[index - path.length]!)],
    state,
  );
}

/** `USD 500`. */
export function repairCurrencyFirst(index: number, state: RepairState): Repair | null {
  const [before, currency, number] = [state.tokens[index - 1], state.tokens[index]!, state.tokens[index + 1]];
  if (number?.tokenType !== literal.number || !comparing.has(before?.tokenType)) return null;
  const foreign = writing('the currency stands behind the number', `${number.image} ${currency.image}`);
  const better = [retype(currency, literal.number, number.image), retype(number, Currency, currency.image)];
  return instead({ index, taken: 2 }, foreign, better, state);
}

/** `else deny` behind a rule. */
export function repairElse(index: number, state: RepairState): Repair | null {
  const effect = state.tokens[index + 1];
  if (effect === undefined || !effects.has(effect.tokenType)) return null;
  const next = state.tokens[index + 2]?.tokenType;
  const help =
    'remove it: what no `allow` grants is refused; another case is a rule of its own with its own `when`';
  const isNamed = next === NameToken;
  const write = isNamed || effect.tokenType !== word.deny ? null : '';
  return instead(
    { index, taken: isNamed ? 1 : 2 },
    { message: 'rules have no `else`', help, write },
    [],
    state,
  );
}
