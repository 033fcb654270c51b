// Turns places of comments into comments of the tree, and finds the documentation of a declaration: the
// whole-line comments that end on the line above it.

import type { SourceText } from '../../diagnostic/span.ts';
import { isSilence } from '../tree/silence.ts';
import type { Comment } from '../tree/tree.ts';
import { makeSpan } from './context.ts';

/** The comment between two offsets; its text includes `#`. */
export function buildComment(start: number, end: number, source: SourceText): Comment {
  const before = blanksBefore(source.text, start);
  return {
    text: source.text.slice(start, end).trimEnd(),
    ownLine: before !== null,
    afterBlank: before !== null && blanksBefore(source.text, before) !== null && before > 0,
    span: makeSpan({ source }, start, end),
  };
}

/**
 * Offset of the line break before an offset, if only blanks stand between them; 0 at the start of the text.
 * Null if something else stands before the offset on its line.
 */
function blanksBefore(text: string, offset: number): number | null {
  let at = offset;
  while (at > 0 && isBlank(text.charCodeAt(at - 1))) at--;
  if (at === 0) return 0;
  if (text[at - 1] !== '\n' && text[at - 1] !== '\r') return null;
  return text[at - 1] === '\n' && text[at - 2] === '\r' ? at - 2 : at - 1;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0xfeff;
}

/**
 * Returns a function that finds the documentation above an offset: without `#` and one blank, joined by line
 * breaks, null for none.
 */
export function documentationBefore(
  comments: readonly Comment[],
  source: SourceText,
): (offset: number) => string | null {
  const byEnd = new Map(
    comments.filter(({ ownLine }) => ownLine).map((comment) => [comment.span.end, comment]),
  );
  return (offset) => {
    const lines: string[] = [];
    let lineEnd = blanksBefore(source.text, offset);
    for (let comment = commentEnding(lineEnd); comment !== undefined; comment = commentEnding(lineEnd)) {
      // A comment that silences a warning is meant for the checker and documents nothing.
      if (!isSilence(comment)) lines.push(comment.text.replace(/^# ?/, ''));
      lineEnd = blanksBefore(source.text, comment.span.start);
    }
    return lines.length === 0 ? null : lines.reverse().join('\n');
  };

  function commentEnding(offset: number | null): Comment | undefined {
    return offset === null ? undefined : byEnd.get(offset);
  }
}
