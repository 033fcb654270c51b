// Action keys and patterns over them: their text, and diagnostics for a key without two segments, for blanks inside, and
// for a `*` that is neither first nor last.

import type { Span } from '../../diagnostic/span.ts';
import type { NameNode, Pattern } from '../tree/tree.ts';
import { type ReadContext, type Reader, syntaxError, withFix } from './context.ts';
import { quotedName } from './text-literal.ts';
import type { Token } from './tokens.ts';

/** A key written as words and dots. */
export function writtenKey(text: string, span: Span, ctx: ReadContext): NameNode {
  reportBlanks(text, span, ctx);
  reportKeyShape(text, span, ctx);
  return { kind: 'name', text, isQuoted: false, span };
}

export function quotedKey(token: Token, ctx: ReadContext): NameNode | null {
  const name = quotedName(token, ctx);
  if (name !== null) reportKeyShape(name.text, name.span, ctx);
  return name;
}

/** A pattern written as words, dots and stars. */
export function writtenPattern(text: string, span: Span, ctx: ReadContext): Pattern {
  reportBlanks(text, span, ctx);
  reportWildcard(text, span, ctx);
  return { kind: 'pattern', text, isQuoted: false, span };
}

export function quotedPattern(token: Token, ctx: ReadContext): Pattern | null {
  const name = quotedName(token, ctx);
  if (name === null) return null;
  const { text, span } = name;
  reportWildcard(text, span, ctx);
  return { kind: 'pattern', text, isQuoted: true, span };
}

function reportKeyShape(text: string, span: Span, ctx: Reader): void {
  if (/^[^\s*.]+(?:\.[^\s*.]+)+$/.test(text)) return;
  const message = `\`${text}\` is not an action key`;
  const help = 'a key has an area and a verb joined by a dot, such as `payment.create`';
  ctx.report(syntaxError('key-shape', span, message, help));
}

// `payment . create` would read as two names at a glance.
function reportBlanks(text: string, span: Span, ctx: Reader): void {
  if (!/\s/.test(ctx.source.text.slice(span.start, span.end))) return;
  const message = `\`${text}\` is written with blanks inside`;
  const diagnostic = syntaxError('key-shape', span, message, `write \`${text}\``);
  ctx.report(withFix(diagnostic, { title: 'remove the blanks', text }));
}

function reportWildcard(text: string, span: Span, ctx: Reader): void {
  const segments = text.split('.');
  const stars = segments.filter((segment) => segment.includes('*'));
  const isAtEnd = stars.length === 0 || segments[0] === '*' || segments.at(-1) === '*';
  if (stars.length <= 1 && isAtEnd) return;
  const message =
    stars.length > 1
      ? `\`${text}\` has more than one \`*\``
      : `\`*\` in \`${text}\` is neither first nor last`;
  const help = 'write `area.*`, `*.verb` or `*`, where `*` stands for one or more whole segments';
  ctx.report(syntaxError('misplaced-wildcard', span, message, help));
}
