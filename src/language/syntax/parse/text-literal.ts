// Turns a text token into the text it stands for, with escapes resolved, and reports each escape that stands
// for nothing. A map from resolved characters to places in the file lets spans inside a text point to where
// they were written.

import type { NameNode, TextListExpression, TextLiteral } from '../tree/tree.ts';
import { isWritten, makeSpan, type ReadContext, syntaxError, tokenSpan, withFix } from './context.ts';
import { literal, type Token } from './tokens.ts';

export function textLiteral(token: Token, ctx: ReadContext): TextLiteral | null {
  if (!isWritten(token)) return null;
  const isRaw = token.tokenType === literal.raw;
  const value = hasEscapes(token) ? resolveText(token, ctx).value : innerText(token);
  return { kind: 'text', value, isRaw, span: tokenSpan(token, ctx) };
}

/** The node of a list that is one token. */
export function textListOf(token: Token, ctx: ReadContext): TextListExpression | null {
  if (!isWritten(token)) return null;
  const texts: string[] = [];
  const offsets: number[] = [];
  // Every second piece stands between two quotes.
  const pieces = token.image.split('"');
  let at = token.startOffset;
  for (let index = 1; index < pieces.length; index += 2) {
    const text = pieces[index]!;
    const start = at + pieces[index - 1]!.length;
    at = start + text.length + 2;
    texts.push(text);
    offsets.push(start, at);
  }
  const span = tokenSpan(token, ctx);
  return { kind: 'text-list', texts, spans: { file: span.file, offsets }, span };
}

export function quotedName(token: Token, ctx: ReadContext): NameNode | null {
  const text = textLiteral(token, { source: ctx.source, report: ctx.report, textMode: 'plain' });
  return text && { kind: 'name', text: text.value, isQuoted: true, span: text.span };
}

export interface UnescapedText {
  readonly value: string;
  /** Offset in the file of each UTF-16 unit of `value`, and of the closing quote. */
  readonly offsetOf: (at: number) => number;
}

/** The resolved text of a token with the place of every character. */
export function resolveText(token: Token, ctx: ReadContext): UnescapedText {
  const start = token.startOffset + 1;
  const inner = innerText(token);
  if (hasEscapes(token)) return resolveEscapes(inner, start, ctx);
  return { value: inner, offsetOf: (at) => start + at };
}

function hasEscapes(token: Token): boolean {
  return token.tokenType !== literal.raw && token.image.includes('\\');
}

/** The text between the quotes; without a closing quote, the text up to the end of the token. */
function innerText(token: Token): string {
  return token.image.slice(1, isClosed(token) ? -1 : undefined);
}

function isClosed(token: Token): boolean {
  const { image } = token;
  // A quote behind a backslash does not close the text.
  if (hasEscapes(token)) return /^"(?:[^"\\]|\\.)*"$/.test(image);
  return image.length > 1 && image.endsWith(token.tokenType === literal.raw ? "'" : '"');
}

function resolveEscapes(inner: string, start: number, ctx: ReadContext): UnescapedText {
  const offsets: number[] = [];
  let value = '';
  for (const match of inner.matchAll(piece)) {
    const offset = start + match.index;
    const text = resolvePiece(match, offset, ctx);
    for (let unit = 0; unit < text.length; unit++) offsets.push(offset);
    value += text;
  }
  offsets.push(start + inner.length);
  return { value, offsetOf: (unit) => offsets[unit]! };
}

/**
 * Matches one piece of a text: two escapes that spell one character, an escape by number, an escape by
 * letter, or a plain character.
 */
const piece =
  /\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\(.?)|[^\\]/gs;

function resolvePiece(match: RegExpExecArray, offset: number, ctx: ReadContext): string {
  const [written, high, low, number, letter] = match;
  if (high !== undefined && low !== undefined) return unit(high) + unit(low);
  if (number !== undefined) {
    // Half of a surrogate pair is no character and could not be written back as UTF-8.
    if (/^d[89a-f]/i.test(number)) {
      const span = makeSpan(ctx, offset, offset + written.length);
      ctx.report(syntaxError('bad-escape', span, `\`${written}\` is half of a surrogate pair`));
    }
    return unit(number);
  }
  if (letter === undefined) return written;
  const stopping = ctx.textMode === 'pattern' ? /["\\]/ : /["\\/bfnrt]/;
  if (stopping.test(letter)) return JSON.parse(`"${written}"`) as string;
  reportEscape(offset, written, ctx);
  return written;
}

function unit(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function reportEscape(offset: number, written: string, ctx: ReadContext): void {
  const span = makeSpan(ctx, offset, offset + written.length);
  const fix = { title: 'double the backslash', text: '\\\\', span: makeSpan(ctx, offset, offset + 1) };
  if (ctx.textMode === 'pattern') {
    const message = `\`${written}\` in a quoted text does not reach the pattern`;
    const help = `write \`\\${written}\`, or the whole pattern as raw text: \`'...'\``;
    ctx.report(withFix(syntaxError('escape-in-pattern', span, message, help), fix));
    return;
  }
  const help =
    'the escapes are `\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\u` with four digits';
  ctx.report(withFix(syntaxError('bad-escape', span, `\`${written}\` is not an escape`, help), fix));
}
