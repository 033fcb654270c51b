// What the repairs of foreign forms share: how one is reported, and how the tokens around it are looked through.

import { spanning } from '../../diagnostic/span.ts';
import { syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import { NameToken, retype, sign, type Token, tokenEnd, wordTypes } from '../parse/tokens.ts';
import type { Repair, RepairState } from './problem.ts';

/** What a form of another language is, and what to write for it. */
export interface Foreign {
  readonly message: string;
  readonly help: string;
  /** What to write in its place; null where several things may be meant. */
  readonly write: string | null;
}

/** A run of tokens around the one that is repaired. */
interface Run {
  readonly index: number;
  /** Tokens before that one. */
  readonly before?: number;
  /** Tokens from that one on. */
  readonly taken: number;
}

export function writing(message: string, write: string): Foreign {
  return { message, help: `write \`${write}\``, write };
}

/** Reports a run of tokens, and reads others in their place. */
export function instead(
  { index, before = 0, taken }: Run,
  { message, help, write }: Foreign,
  tokens: readonly Token[],
  state: RepairState,
): Repair {
  const [first, last] = [state.tokens[index - before]!, state.tokens[index + taken - 1]!];
  const span = spanning(tokenSpan(first, state.reader), tokenSpan(last, state.reader));
  const diagnostic = syntaxError('foreign-form', span, message, help);
  const title = write === '' ? 'remove it' : `write \`${write?.trim()}\``;
  state.reader.report(write === null ? diagnostic : withFix(diagnostic, { title, text: write }));
  return { before, taken, tokens };
}

/** A value of which nothing more is said, in the place of one that is reported. */
export function hole(token: Token): Token {
  return { ...retype(token, NameToken, ''), endOffset: token.startOffset - 1 };
}

export function writtenText(first: Token, last: Token, { reader }: RepairState): string {
  return reader.source.text.slice(first.startOffset, tokenEnd(last));
}

export interface PathBefore {
  readonly text: string;
  /** Tokens of it. */
  readonly length: number;
}

/** The path that ends before a token; null where something else does. */
export function pathBefore(index: number, state: RepairState): PathBefore | null {
  const { tokens } = state;
  let first = index - 1;
  while (first >= 2 && tokens[first]?.tokenType === NameToken && tokens[first - 1]?.tokenType === sign.dot)
    first -= 2;
  if (tokens[first]?.tokenType !== NameToken) return null;
  return { text: writtenText(tokens[first]!, tokens[index - 1]!, state), length: index - first };
}

/** How to ask for a field by its path. */
export function presenceOf(path: string): string {
  const [root, ...steps] = path.split('.');
  return `${root} has ${steps.join('.') || '...'}`;
}

/** What a condition follows. */
export const beforeCondition = wordTypes('when', 'unless', 'and', 'or', 'not');

/** Tokens that are looked through for what closes a bracket. */
export const lookaheadMax = 200;

/** Index of what closes the bracket at an index; null where it is not near. */
export function closingNear(open: number, { tokens }: RepairState): number | null {
  let depth = 0;
  for (let index = open; index < Math.min(tokens.length, open + lookaheadMax); index++) {
    const type = tokens[index]!.tokenType;
    if (type === sign.openParen || type === sign.openSquare || type === sign.openCurly) depth++;
    if (type === sign.closeParen || type === sign.closeSquare || type === sign.closeCurly) depth--;
    if (depth === 0) return index;
  }
  return null;
}

/** Index of the first sign at the depth of the bracket at an index, of those before its end. */
export function signWithin(
  type: unknown,
  [open, end]: readonly [number, number],
  { tokens }: RepairState,
): number | null {
  let depth = 0;
  for (let index = open; index < end; index++) {
    const at = tokens[index]!.tokenType;
    if (at === sign.openParen || at === sign.openSquare || at === sign.openCurly) depth++;
    if (at === sign.closeParen || at === sign.closeSquare || at === sign.closeCurly) depth--;
    if (depth === 1 && at === type) return index;
  }
  return null;
}
