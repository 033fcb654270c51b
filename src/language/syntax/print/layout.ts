// Lines of canonical text, each with its place in the old text, and the weaving of comments between them.
// Comments keep their order and their text. What was the documentation of a line stays so, and no other
// comment becomes documentation.

import { isSilence } from '../tree/silence.ts';
import type { Comment } from '../tree/tree.ts';

/** Widest line, in columns, that is not broken up. */
export const columnsMax = 110;

export interface PrintedLine {
  readonly indent: number;
  readonly text: string;
  /** Offset in the old text of the first thing that the line shows. */
  readonly start: number;
  /** Documentation right above the line; null for none, undefined on lines that can have none. */
  readonly doc?: string | null;
  readonly isBlankBefore?: boolean;
  /** Whether the line is a closing bracket, whose comments belong to the block before it. */
  readonly isClosing?: boolean;
}

/**
 * Whether a comment stands within a span. What holds a comment is broken up, so that each comment stays
 * beside what it is about.
 */
export type HoldsComment = (span: { readonly start: number; readonly end: number }) => boolean;

export function indentColumns(indent: number): number {
  return indent * 2;
}

/**
 * Joins two runs of lines: the last line of the first run and the first line of the second become one line.
 */
export function joinLines(
  before: readonly PrintedLine[],
  after: readonly PrintedLine[],
): readonly PrintedLine[] {
  const last = before.at(-1);
  const first = after[0];
  if (last === undefined) return after;
  if (first === undefined) return before;
  return [...before.slice(0, -1), { ...last, text: last.text + first.text }, ...after.slice(1)];
}

/** The lines with a text put before the first and another behind the last. */
export function wrapLines(
  prefix: string,
  lines: readonly PrintedLine[],
  suffix: string,
): readonly PrintedLine[] {
  const [first, ...rest] = lines;
  if (first === undefined) return [];
  const all = [{ ...first, text: prefix + first.text }, ...rest];
  const last = all.at(-1)!;
  return [...all.slice(0, -1), { ...last, text: last.text + suffix }];
}

/** The text of a file: its lines, with every comment before or behind the line at which it stood. */
export function insertComments(lines: readonly PrintedLine[], comments: readonly Comment[]): string {
  const output: string[] = [];
  let next = 0;
  for (const [index, line] of lines.entries()) {
    const leading = comments.slice(next, firstAfter(comments, next, line.start));
    next += leading.length;
    for (const one of leadingLines(line, leading, isBlockStart(lines[index - 1]))) output.push(one);
    const trailing = comments[next];
    const limit = lines[index + 1]?.start ?? Number.POSITIVE_INFINITY;
    const isTrailing = trailing !== undefined && !trailing.ownLine && trailing.span.start < limit;
    output.push(isTrailing ? `${indented(line)} ${trailing.text}` : indented(line));
    if (isTrailing) next++;
  }
  for (const { text, afterBlank } of comments.slice(next)) {
    if (afterBlank && output.length > 0) output.push('');
    output.push(text);
  }
  return output.length === 0 ? '' : `${output.join('\n')}\n`;
}

function firstAfter(comments: readonly Comment[], from: number, offset: number): number {
  let index = from;
  while (index < comments.length && comments[index]!.span.start < offset) index++;
  return index;
}

function isBlockStart(before: PrintedLine | undefined): boolean {
  return before === undefined || /[{[]$/.test(before.text);
}

function indented(line: PrintedLine): string {
  return ' '.repeat(indentColumns(line.indent)) + line.text;
}

/** The comments before a line and the blank lines among them; documentation of the line is last. */
function leadingLines(line: PrintedLine, comments: readonly Comment[], isFirst: boolean): readonly string[] {
  const margin = ' '.repeat(indentColumns(line.isClosing ? line.indent + 1 : line.indent));
  const detached = comments.length - (line.doc === undefined ? 0 : attachedCount(line.doc, comments));
  const isApart =
    line.isBlankBefore === true || (line.indent === 0 && comments.length > 0 && line.doc !== undefined);
  const lines = comments.flatMap((comment, index) => {
    const wantsBlank = index === 0 ? isApart || comment.afterBlank : comment.afterBlank || index === detached;
    const text = margin + comment.text;
    return wantsBlank && !(isFirst && index === 0) ? ['', text] : [text];
  });
  const isDetachedFromLine = line.doc === null && comments.length > 0 && detached === comments.length;
  const isBlankLast = comments.length === 0 ? isApart && !isFirst : isDetachedFromLine;
  return isBlankLast ? [...lines, ''] : lines;
}

/**
 * How many of the comments stand right above the line: its documentation, and comments among it that silence
 * a warning.
 */
function attachedCount(doc: string | null, comments: readonly Comment[]): number {
  let docLines = doc?.split('\n').length ?? 0;
  let count = 0;
  for (const comment of comments.toReversed()) {
    if (!isSilence(comment)) docLines -= 1;
    if (docLines < 0) break;
    count += 1;
    if (comment.afterBlank) break;
  }
  return count;
}
