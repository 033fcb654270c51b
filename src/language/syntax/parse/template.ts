// Turns a text with placeholders into its parts: plain text, in which `{{` is a brace, and the expressions
// between braces. Expressions are read by the same grammar as any other, and their spans point to where they
// were written, also behind escapes.

import type { ExpressionNode, TemplatePart } from '../tree/tree.ts';
import { makeSpan, type Reader, syntaxError } from './context.ts';
import { resolveText, type UnescapedText } from './text-literal.ts';
import type { Token } from './tokens.ts';

type ReadExpression = (text: UnescapedText, start: number, end: number) => ExpressionNode;

export function readTemplate(token: Token, reader: Reader, read: ReadExpression): readonly TemplatePart[] {
  const text = resolveText(token, { source: reader.source, report: reader.report, textMode: 'plain' });
  const parts: TemplatePart[] = [];
  for (let at = 0; at < text.value.length; ) {
    const isPlaceholder = opensPlaceholder(text.value, at);
    const { part, end } = isPlaceholder
      ? readPlaceholder(text, at, reader, read)
      : readText(text, at, reader);
    parts.push(part);
    at = end;
  }
  return parts;
}

interface ReadPart {
  readonly part: TemplatePart;
  /** Offset in the resolved text at which the next part begins. */
  readonly end: number;
}

function opensPlaceholder(value: string, at: number): boolean {
  return value[at] === '{' && value[at + 1] !== '{';
}

function readText(text: UnescapedText, start: number, reader: Reader): ReadPart {
  let end = text.value.indexOf('{', start);
  while (end >= 0 && !opensPlaceholder(text.value, end)) end = text.value.indexOf('{', end + 2);
  if (end < 0) end = text.value.length;
  const resolved = text.value.slice(start, end).replaceAll('{{', '{');
  const span = makeSpan(reader, text.offsetOf(start), text.offsetOf(end));
  return { part: { kind: 'template-text', text: resolved, span }, end };
}

function readPlaceholder(text: UnescapedText, start: number, reader: Reader, read: ReadExpression): ReadPart {
  const close = closingBrace(text.value, start + 1);
  const end = close ?? text.value.length;
  const span = makeSpan(reader, text.offsetOf(start), text.offsetOf(close === null ? end : end + 1));
  if (close === null) {
    const help = 'close it with `}`, or write `{{` for a brace';
    const brace = { ...span, end: span.start + 1 };
    reader.report(syntaxError('unclosed-placeholder', brace, '`{` has no `}`', help));
    return { part: { kind: 'template-text', text: text.value.slice(start), span }, end };
  }
  const value = read(text, start + 1, close);
  return { part: { kind: 'template-value', value, span }, end: close + 1 };
}

/** Offset of the brace that ends a placeholder; null if there is none. Braces within texts do not end it. */
function closingBrace(value: string, start: number): number | null {
  const token = /"(?:[^"\\]|\\.)*"|'[^']*'|\}/gs;
  token.lastIndex = start;
  for (let match = token.exec(value); match !== null; match = token.exec(value)) {
    if (match[0] === '}') return match.index;
  }
  return null;
}
