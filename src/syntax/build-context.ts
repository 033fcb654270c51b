// What every part of the tree builder works with: the source, the place to report to, and small readers of concrete
// nodes. Recovery inserts tokens that stand nowhere and leaves children out; both read as undefined here.

import type { Token } from '../../grammar/tokens.ts';
import type { Code } from '../diagnostic/codes.ts';
import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../diagnostic/span.ts';
import type { Missing, Name } from './tree.ts';

export interface BuildContext {
  readonly source: SourceText;
  readonly report: (diagnostic: Diagnostic) => void;
  /** The documentation that ends on the line above an offset; null for none. */
  readonly docBefore: (offset: number) => string | null;
  /** In a pattern the backslash sequences of a text are restricted. */
  readonly textMode: 'plain' | 'pattern';
}

/** A concrete node as far as its place goes. */
export interface Placed {
  readonly location?: { readonly startOffset: number; readonly endOffset?: number };
}

export function makeSpan(ctx: { readonly source: SourceText }, start: number, end: number): Span {
  return { file: ctx.source.path, start, end };
}

export function tokenSpan(token: Token, ctx: { readonly source: SourceText }): Span {
  return makeSpan(ctx, token.startOffset, (token.endOffset ?? token.startOffset) + 1);
}

/** Where a concrete node stands; null for a node that recovery left empty. */
export function nodeSpan(node: Placed | undefined, ctx: BuildContext): Span | null {
  const location = node?.location;
  if (location === undefined || location.startOffset < 0) return null;
  return makeSpan(ctx, location.startOffset, (location.endOffset ?? location.startOffset) + 1);
}

/** The first token of a child list that stands in the text. */
export function firstToken(tokens: readonly Token[] | undefined): Token | undefined {
  return tokens?.find(isWritten);
}

export function writtenTokens(tokens: readonly Token[] | undefined): readonly Token[] {
  return tokens?.filter(isWritten) ?? [];
}

function isWritten(token: Token): boolean {
  return token.isInsertedInRecovery !== true;
}

export function plainName(token: Token, ctx: BuildContext): Name {
  return { kind: 'name', text: token.image, isQuoted: false, span: tokenSpan(token, ctx) };
}

/** The expression that recovery found no text for. */
export function missingAt(offset: number, ctx: BuildContext): Missing {
  return { kind: 'missing', span: makeSpan(ctx, offset, offset) };
}

export function isPresent<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** An error with a message and, where it helps, what to do. */
export function syntaxError(code: Code, span: Span, message: string, help?: string): Diagnostic {
  return { code, severity: 'error', span, message, ...(help === undefined ? {} : { help }) };
}
