// A reason's text → its parts: plain text with `{{` read as a brace, and expressions between braces, each read by the
// same grammar as any other and with spans that point to where it was written, also behind escapes.

import { type Token, tokenize } from '../../grammar/tokens.ts';
import { type BuildContext, makeSpan, syntaxError, tokenSpan } from './build-context.ts';
import { buildExpression } from './build-expression.ts';
import { readExpression } from './concrete.ts';
import { type ResolvedText, resolveText } from './text-literal.ts';
import type { Expression, Template, TemplatePart } from './tree.ts';

/** Reads the expression between two places of a text. */
export type ReadEmbedded = (text: ResolvedText, start: number, end: number, ctx: BuildContext) => Expression;

export function buildTemplate(token: Token, ctx: BuildContext): Template {
  const parts = templateParts(resolveText(token, ctx), ctx, readEmbedded);
  return { kind: 'template', parts, span: tokenSpan(token, ctx) };
}

export function templateParts(
  text: ResolvedText,
  ctx: BuildContext,
  read: ReadEmbedded,
): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < text.value.length) {
    const isPlaceholder = opensPlaceholder(text.value, at);
    const { part, end } = isPlaceholder ? readPlaceholder(text, at, ctx, read) : readText(text, at, ctx);
    parts.push(part);
    at = end;
  }
  return parts;
}

interface ReadPart {
  readonly part: TemplatePart;
  /** Where the next part begins, in the resolved text. */
  readonly end: number;
}

function opensPlaceholder(value: string, at: number): boolean {
  return value[at] === '{' && value[at + 1] !== '{';
}

function readText(text: ResolvedText, start: number, ctx: BuildContext): ReadPart {
  let end = start;
  while (end < text.value.length && !opensPlaceholder(text.value, end)) {
    end += text.value[end] === '{' ? 2 : 1;
  }
  const resolved = text.value.slice(start, end).replaceAll('{{', '{');
  const span = makeSpan(ctx, text.offsetOf(start), text.offsetOf(end));
  return { part: { kind: 'template-text', text: resolved, span }, end };
}

function readPlaceholder(text: ResolvedText, start: number, ctx: BuildContext, read: ReadEmbedded): ReadPart {
  const close = closingBrace(text.value, start + 1);
  const end = close ?? text.value.length;
  const span = makeSpan(ctx, text.offsetOf(start), text.offsetOf(close === null ? end : end + 1));
  if (close === null) {
    const help = 'close it with `}`, or write `{{` for a brace';
    const brace = { ...span, end: span.start + 1 };
    ctx.report(syntaxError('unclosed-placeholder', brace, '`{` in a reason has no `}`', help));
    return { part: { kind: 'template-text', text: text.value.slice(start), span }, end };
  }
  const value = read(text, start + 1, close, ctx);
  return { part: { kind: 'template-value', value, span }, end: close + 1 };
}

/** The brace that ends a placeholder; braces within its texts do not. */
function closingBrace(value: string, start: number): number | null {
  const token = /"(?:[^"\\]|\\.)*"|'[^']*'|\}/gs;
  token.lastIndex = start;
  for (let match = token.exec(value); match !== null; match = token.exec(value)) {
    if (match[0] === '}') return match.index;
  }
  return null;
}

function readEmbedded(text: ResolvedText, start: number, end: number, ctx: BuildContext): Expression {
  const lexed = tokenize(text.value.slice(start, end));
  const offsetOf = (at: number) => text.offsetOf(start + at);
  const tokens = lexed.tokens.map((token) => {
    const endOffset = offsetOf((token.endOffset ?? token.startOffset) + 1) - 1;
    return { ...token, startOffset: offsetOf(token.startOffset), endOffset };
  });
  const strays = [
    ...lexed.strays,
    ...lexed.comments.map((comment) => ({ offset: comment.startOffset, length: comment.image.length })),
  ].map(({ offset, length }) => makeSpan(ctx, offsetOf(offset), offsetOf(offset + length)));
  const run = { tokens, strays, end: offsetOf(end - start), endName: 'the end of the placeholder' } as const;
  const tree = readExpression(run, ctx);
  return buildExpression(tree, offsetOf(0), ctx);
}
