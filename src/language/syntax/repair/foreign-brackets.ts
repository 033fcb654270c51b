// Brackets and commas of other languages → what they mean here.

import { syntaxError, tokenSpan } from '../parse/context.ts';
import { isAnyText, literal, NameToken, retype, sign, type Token, tokenEnd } from '../parse/tokens.ts';
import {
  beforeCondition,
  closingNear,
  hole,
  instead,
  lookaheadMax,
  pathBefore,
  writing,
} from './foreign-form.ts';
import type { Repair, RepairAt, RepairState } from './problem.ts';

/** `when { a }` is read as `when (a)`. */
export function repairConditionBraces(index: number, state: RepairState): Repair | null {
  if (!beforeCondition.has(state.tokens[index - 1]?.tokenType)) return null;
  const closing = closingNear(index, state);
  if (closing === null) return null;
  const [open, close] = [state.tokens[index]!, state.tokens[closing]!];
  state.rereads.set(closing, retype(close, sign.closeParen, ')'));
  const message = 'a condition stands in no braces';
  const diagnostic = syntaxError('foreign-form', tokenSpan(open, state.reader), message, 'write `( ... )`');
  const edits = [
    { span: tokenSpan(open, state.reader), text: '(' },
    { span: tokenSpan(close, state.reader), text: ')' },
  ];
  state.reader.report({ ...diagnostic, fix: { title: 'write parentheses', edits } });
  return { taken: 1, tokens: [retype(open, sign.openParen, '(')] };
}

/** `payload.tags[0]`, whose elements have no positions, and `payload["count"]`. A single name may be that of a table. */
export const repairPosition: RepairAt = (index, state) => {
  const { tokens } = state;
  const before = tokens[index - 1];
  const isAdjacent = before?.tokenType === NameToken && tokenEnd(before) === tokens[index]!.startOffset;
  const path = isAdjacent ? pathBefore(index, state) : null;
  const closing = path === null ? null : closingNear(index, state);
  if (path === null || closing === null || closing === index + 1) return null;
  if (path.length === 1 && !isRoot(before!)) return null;
  const run = { index, before: path.length, taken: closing - index + 1 };
  const better = [hole(tokens[index - path.length]!)];
  const inner = tokens[index + 1];
  if (isAnyText(inner) && closing === index + 2) {
    const field = inner.image.slice(1, -1);
    const write = `${path.text}.${/^[A-Za-z_]\w*$/.test(field) ? field : inner.image}`;
    return instead(run, writing('a field stands behind a dot', write), better, state);
  }
  const help = `go through all of them: \`some x in ${path.text} (x == ...)\``;
  return instead(run, { message: 'elements of a list have no positions', help, write: null }, better, state);
};

function isRoot({ image }: Token): boolean {
  return image === 'payload' || image === 'agent' || image === 'request' || image === 'action';
}

/** `string[]` is read as `[string]`. */
export function repairListType(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const [name, open, close] = [tokens[index]!, tokens[index + 1], tokens[index + 2]];
  if (open?.tokenType !== sign.openSquare || close?.tokenType !== sign.closeSquare) return null;
  const before = tokens[index - 1]?.tokenType;
  const isType = before === sign.colon || before === sign.optional || before === sign.assign;
  if (!isType || tokenEnd(name) !== open.startOffset) return null;
  const write = `[${name.image}]`;
  const better = [retype(open, sign.openSquare), name, retype(close, sign.closeSquare)];
  const foreign = writing('the type of a list holds that of its elements', write);
  return instead({ index, taken: 3 }, foreign, better, state);
}

/** `1,000` outside of brackets, where no comma stands. */
export const repairThousands: RepairAt = (index, state) => {
  const { tokens } = state;
  const parts = [tokens[index]!];
  let at = index;
  while (parts.length < 8 && isThousands(tokens[at]!, tokens[at + 1], tokens[at + 2])) {
    at += 2;
    parts.push(tokens[at]!);
  }
  if (parts.length === 1 || isInBrackets(index, state)) return null;
  const write = parts.map(({ image }) => image).join('_');
  const better = { ...retype(parts[0]!, literal.number, write), endOffset: tokenEnd(parts.at(-1)!) - 1 };
  const foreign = writing('digits are not parted by commas', write);
  return instead({ index, taken: at - index + 1 }, foreign, [better], state);
};

function isThousands(number: Token, comma: Token | undefined, next: Token | undefined): boolean {
  if (comma?.tokenType !== sign.comma || next?.tokenType !== literal.number) return false;
  const isAdjacent = tokenEnd(number) === comma.startOffset && tokenEnd(comma) === next.startOffset;
  return isAdjacent && /^\d{3}(?:\.\d+)?$/.test(next.image) && /^\d{1,3}$/.test(number.image);
}

function isInBrackets(index: number, { tokens }: RepairState): boolean {
  let depth = 0;
  for (let at = index; at >= 0; at--) {
    const type = tokens[at]!.tokenType;
    if (type === sign.openParen || type === sign.openSquare) depth++;
    if (type === sign.closeParen || type === sign.closeSquare) depth--;
    if (depth > 0 || index - at > lookaheadMax) return true;
    if (type === sign.openCurly || type === sign.closeCurly) return false;
  }
  return false;
}
