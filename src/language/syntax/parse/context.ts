// Shared context of the parsers of one text: the source, the callback for diagnostics, and functions that
// create spans, names and diagnostics. Tokens that error recovery inserted have no position and count as
// absent.

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
  /** In mode `pattern`, fewer backslash sequences of a text are resolved. */
  readonly textMode: 'plain' | 'pattern';
}

export function makeSpan({ source }: Pick<Reader, 'source'>, start: number, end: number): Span {
  return { file: source.path, start, end };
}

export function tokenSpan(token: Token, reader: Pick<Reader, 'source'>): Span {
  return makeSpan(reader, token.startOffset, tokenEnd(token));
}

/** Whether a token was read and stands in the text; false for a token that recovery made up. */
export function isWritten(token: Token | undefined): token is Token {
  return token !== undefined && token.startOffset >= 0;
}

export function plainName(token: Token | undefined, reader: Reader): NameNode | null {
  if (!isWritten(token)) return null;
  return { kind: 'name', text: token.image, isQuoted: false, span: tokenSpan(token, reader) };
}

/** An error with a message and, if `help` is given, what to do about it. */
export function syntaxError(code: Code, span: Span, message: string, help?: string): Diagnostic {
  return { code, severity: 'error', span, message, ...(help === undefined ? {} : { help }) };
}

/** A diagnostic with a fix that writes `text` at `span`, by default in the place of the diagnostic. */
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
