// A text token → the text it stands for, escapes resolved, with a diagnostic for each escape that stands for nothing. A
// map from resolved characters to places in the file lets spans inside of a text point to where they were written.

import type { NameNode, TextLiteral } from '../tree/tree.ts';
import { isWritten, makeSpan, type ReadContext, syntaxError, tokenSpan } from './context.ts';
import { literal, type Token } from './tokens.ts';

export function textLiteral(token: Token, ctx: ReadContext): TextLiteral | null {
  if (!isWritten(token)) return null;
  const isRaw = token.tokenType === literal.raw;
  const value = hasEscapes(token) ? resolveText(token, ctx).value : innerText(token);
  return { kind: 'text', value, isRaw, span: tokenSpan(token, ctx) };
}

/** A name in quotes. */
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

/** What stands between the quotes; a text without closing quote reaches to its end. */
function innerText(token: Token): string {
  const isClosed = token.tokenType === literal.raw ? /^'[^']*'$/ : /^"(?:[^"\\]|\\.)*"$/;
  return token.image.slice(1, isClosed.test(token.image) ? -1 : undefined);
}

const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function resolveEscapes(inner: string, start: number, ctx: ReadContext): UnescapedText {
  const offsets: number[] = [];
  let value = '';
  let at = 0;
  while (at < inner.length) {
    const piece = inner[at] === '\\' ? resolveEscape(inner, at, start, ctx) : plainPiece(inner, at);
    for (let unit = 0; unit < piece.text.length; unit++) offsets.push(start + at);
    value += piece.text;
    at += piece.length;
  }
  offsets.push(start + inner.length);
  return { value, offsetOf: (unit) => offsets[unit]! };
}

/** What stands at one place: the text it resolves to and how many characters it takes. */
interface Piece {
  readonly text: string;
  readonly length: number;
}

function plainPiece(inner: string, at: number): Piece {
  return { text: inner.charAt(at), length: 1 };
}

function resolveEscape(inner: string, at: number, start: number, ctx: ReadContext): Piece {
  const letter = inner.charAt(at + 1);
  const unicode = /^u([0-9A-Fa-f]{4})/.exec(inner.slice(at + 1, at + 6));
  if (unicode !== null) return resolveUnicode(inner, at, start, ctx);
  const text = simpleEscapes[letter];
  const isPattern = ctx.textMode === 'pattern';
  if (text !== undefined && (!isPattern || letter === '"' || letter === '\\')) return { text, length: 2 };
  reportEscape(start + at, `\\${letter}`, ctx);
  return { text: `\\${letter}`, length: 2 };
}

// A pair of escapes may spell one character; half a pair is no character and could not be written back as UTF-8.
function resolveUnicode(inner: string, at: number, start: number, ctx: ReadContext): Piece {
  const pair = /^\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})/.exec(
    inner.slice(at, at + 12),
  );
  if (pair !== null) {
    return {
      text: String.fromCharCode(Number.parseInt(pair[1]!, 16), Number.parseInt(pair[2]!, 16)),
      length: 12,
    };
  }
  const unit = Number.parseInt(inner.slice(at + 2, at + 6), 16);
  if (unit >= 0xd800 && unit <= 0xdfff) {
    const span = makeSpan(ctx, start + at, start + at + 6);
    ctx.report(syntaxError('bad-escape', span, `\`${inner.slice(at, at + 6)}\` is half of a surrogate pair`));
  }
  return { text: String.fromCharCode(unit), length: 6 };
}

function reportEscape(offset: number, written: string, ctx: ReadContext): void {
  const span = makeSpan(ctx, offset, offset + written.length);
  const fix = {
    title: 'double the backslash',
    edits: [{ span: makeSpan(ctx, offset, offset + 1), text: '\\\\' }],
  };
  if (ctx.textMode === 'pattern') {
    const message = `\`${written}\` in a quoted text does not reach the pattern`;
    const help = `write \`\\${written}\`, or the whole pattern as raw text: \`'...'\``;
    ctx.report({ ...syntaxError('escape-in-pattern', span, message, help), fix });
    return;
  }
  const help =
    'the escapes are `\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\u` with four digits';
  ctx.report({ ...syntaxError('bad-escape', span, `\`${written}\` is not an escape`, help), fix });
}
