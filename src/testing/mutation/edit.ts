// Edits of a policy file's text that leave it well readable: removing whole lines removes their line breaks,
// too.

import type { Edit } from '../../language/diagnostic/diagnostic.ts';
import type { Span } from '../../language/diagnostic/span.ts';

/** One way to change a text, with a description in words. */
export interface PolicyEdit {
  /** All in one file, without overlaps. */
  readonly edits: readonly Edit[];
  /** Such as `\`<=\` became \`<\``. */
  readonly change: string;
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  const fromTheEnd = edits.toSorted((a, b) => b.span.start - a.span.start);
  return fromTheEnd.reduce(
    (changed, { span, text: put }) => changed.slice(0, span.start) + put + changed.slice(span.end),
    text,
  );
}

/**
 * Removes a span with its lines if nothing else is on them, else with the blanks before the span. A line
 * break is then kept, since a comment may end there.
 */
export function removal(text: string, span: Span): Edit {
  const lineStart = text.lastIndexOf('\n', span.start - 1) + 1;
  const newline = text.indexOf('\n', span.end);
  const lineEnd = newline === -1 ? text.length : newline + 1;
  const isAlone = isBlank(text.slice(lineStart, span.start)) && isBlank(text.slice(span.end, lineEnd));
  if (isAlone) return { span: { ...span, start: lineStart, end: lineEnd }, text: '' };
  const start = lineStart + text.slice(lineStart, span.start).trimEnd().length;
  return { span: { ...span, start }, text: '' };
}

/** Works like `removal`, and also removes one of two blank lines that would otherwise meet. */
export function paragraphRemoval(text: string, span: Span): Edit {
  const { span: taken } = removal(text, span);
  const blank = /^[^\S\n]*\n/.exec(text.slice(taken.end));
  const isLine = taken.start === 0 || text[taken.start - 1] === '\n';
  return { span: { ...taken, end: taken.end + (isLine ? (blank?.[0].length ?? 0) : 0) }, text: '' };
}

/** Removes one of several entries, with the comma that is no longer needed. */
export function entryRemoval(text: string, entries: readonly { readonly span: Span }[], index: number): Edit {
  const { span } = entries[index]!;
  const comma = /^\s*,/.exec(text.slice(span.end));
  if (comma !== null) {
    const end = span.end + comma[0].length;
    const edit = removal(text, { ...span, end });
    const isLine = edit.span.end > end;
    return isLine ? edit : { span: { ...span, end: end + blanksAt(text, end) }, text: '' };
  }
  const before = entries[index - 1];
  return before === undefined ? { span, text: '' } : { span: { ...span, start: before.span.end }, text: '' };
}

/** The text of the span on one line, cut to 60 characters. */
export function excerpt(text: string, { start, end }: Span): string {
  const characters = [...text.slice(start, end).replace(/\s+/g, ' ')];
  return characters.length > excerptMax
    ? `${characters.slice(0, excerptMax).join('')}…`
    : characters.join('');
}

export function replacement(text: string, span: Span, put: string): PolicyEdit {
  return { edits: [{ span, text: put }], change: `\`${excerpt(text, span)}\` became \`${put}\`` };
}

const excerptMax = 60;

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function blanksAt(text: string, offset: number): number {
  return /^\s*/.exec(text.slice(offset))![0].length;
}
