// Tokens → tokens that the grammar knows: what people write by habit from other languages or spell almost right is
// reported with a fix and read as what was meant, so that one slip costs one diagnostic.

import {
  isReservedToken,
  literal,
  mistake,
  Name,
  retype,
  sign,
  type Token,
  word,
} from '../../grammar/tokens.ts';
import { syntaxError, tokenSpan } from './build-context.ts';
import type { Reader } from './concrete.ts';
import { mendNumber } from './mend-number.ts';
import { type MendState, type Problem, reportProblem } from './mend-state.ts';
import { mendDeclaredWord, mendFirstWord, mendPoints } from './mend-word.ts';

export function mend(tokens: readonly Token[], reader: Reader): readonly Token[] {
  const state: MendState = { tokens, reader, mended: [], awaitsAssign: false, braces: 0, declaration: null };
  for (let index = 0; index < tokens.length; ) index += mendAt(index, state);
  return state.mended;
}

/** Mends what stands at one place; answers how many tokens that took. */
function mendAt(index: number, state: MendState): number {
  const token = state.tokens[index]!;
  const type = token.tokenType;
  if (type === literal.number) return mendNumber(index, state);
  if (type === literal.instant) return mendInstant(token, state);
  if (type === sign.assign) return mendAssign(token, state);
  const points = type === word.risk ? mendPoints(index, state) : 0;
  if (points > 0) return points;
  const operator = foreignOperators.get(type);
  if (operator !== undefined) return mendOperator(token, operator, state);
  if (type === mistake.unterminatedQuoted || type === mistake.unterminatedRaw) return mendText(token, state);
  if (isReservedToken(token)) return mendDeclaredWord(index, state);
  if (type === sign.openCurly) state.braces++;
  if (type === sign.closeCurly) state.braces = Math.max(0, state.braces - 1);
  state.mended.push(type === Name ? mendFirstWord(index, state) : token);
  return 1;
}

function replace(token: Token, better: Token, problem: Problem, state: MendState): number {
  reportProblem(tokenSpan(token, state.reader), problem, state.reader);
  state.mended.push(better);
  return 1;
}

// ---- operators

const foreignOperators = new Map([
  [mistake.doubleAmpersand, { type: word.and, text: 'and' }],
  [mistake.doubleBar, { type: word.or, text: 'or' }],
  [mistake.bang, { type: word.not, text: 'not ' }],
  [mistake.strictEqual, { type: sign.equal, text: '==' }],
  [mistake.strictNotEqual, { type: sign.notEqual, text: '!=' }],
  [mistake.lessGreater, { type: sign.notEqual, text: '!=' }],
]);

function mendOperator(
  token: Token,
  { type, text }: { readonly type: Token['tokenType']; readonly text: string },
  state: MendState,
): number {
  const message = `\`${token.image}\` is written \`${text.trim()}\` here`;
  const better = retype(token, type, text.trim());
  return replace(token, better, { code: 'foreign-operator', message, write: text }, state);
}

function mendAssign(token: Token, state: MendState): number {
  const isAssign = state.awaitsAssign;
  state.awaitsAssign = false;
  if (isAssign) {
    state.mended.push(token);
    return 1;
  }
  const message = '`=` gives a name its value and does not compare';
  const better = retype(token, sign.equal, '==');
  return replace(token, better, { code: 'assignment-for-equality', message, write: '==' }, state);
}

// ---- texts and instants

function mendText(token: Token, state: MendState): number {
  const quote = token.image.charAt(0);
  const span = tokenSpan(token, state.reader);
  const end = { ...span, start: span.end };
  state.reader.report({
    ...syntaxError(
      'unterminated-text',
      span,
      'this text has no closing quote',
      'a text ends on the line on which it begins',
    ),
    fix: { title: 'close the text at the end of the line', edits: [{ span: end, text: quote }] },
  });
  state.mended.push(retype(token, quote === '"' ? literal.quoted : literal.raw));
  return 1;
}

function mendInstant(token: Token, state: MendState): number {
  if (/(?:Z|[+-]\d{2}:\d{2})$/.test(token.image)) {
    state.mended.push(token);
    return 1;
  }
  const message = `\`${token.image}\` does not say its offset from UTC`;
  const help = `write \`${token.image}Z\` for UTC, or an offset such as \`+02:00\``;
  const better = retype(token, literal.instant, `${token.image}Z`);
  return replace(token, better, { code: 'instant-without-offset', message, write: null, help }, state);
}
