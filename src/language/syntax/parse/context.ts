// What everything that reads a text works with: the source, the place to report to, and makers of places, names and
// diagnostics. Recovery makes up tokens that stand nowhere in the text; those count as absent.

import type { Code } from '../../diagnostic/codes.ts';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../../diagnostic/span.ts';
import type { NameNode } from '../tree/tree.ts';
import { type Token, tokenEnd } from './tokens.ts';

export interface Reader {
  readonly source: SourceText;
  readonly report: (diagnostic: Diagnostic) => void;
}

export interface ReadContext extends Reader {
  /** In a pattern the backslash sequences of a text are restricted. */
  readonly textMode: 'plain' | 'pattern';
}

export function makeSpan({ source }: Pick<Reader, 'source'>, start: number, end: number): Span {
  return { file: source.path, start, end };
}

export function tokenSpan(token: Token, reader: Pick<Reader, 'source'>): Span {
  return makeSpan(reader, token.startOffset, tokenEnd(token));
}

/** Whether a token was read and stands in the text. */
export function isWritten(token: Token | undefined): token is Token {
  return token !== undefined && token.startOffset >= 0;
}

export function plainName(token: Token | undefined, reader: Reader): NameNode | null {
  if (!isWritten(token)) return null;
  return { kind: 'name', text: token.image, isQuoted: false, span: tokenSpan(token, reader) };
}

/** An error with a message and, where it helps, what to do. */
export function syntaxError(code: Code, span: Span, message: string, help?: string): Diagnostic {
  return { code, severity: 'error', span, message, ...(help === undefined ? {} : { help }) };
}

/** A diagnostic with its fix: what to write in its place, or in another one. */
export function withFix(
  diagnostic: Diagnostic,
  {
    title,
    text,
    span = diagnostic.span,
  }: { readonly title: string; readonly text: string; readonly span?: Span },
): Diagnostic {
  return { ...diagnostic, fix: { title, edits: [{ span, text }] } };
}
