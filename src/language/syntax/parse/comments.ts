// Places of comments → comments of the tree, and the documentation of what stands below them: the whole-line comments
// that end on the line above.

import type { SourceText } from '../../diagnostic/span.ts';
import { isSilence } from '../tree/silence.ts';
import type { Comment } from '../tree/tree.ts';
import { makeSpan } from './context.ts';

/** The comment between two offsets, `#` included. */
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
 * Where the line break before an offset begins, given nothing but blanks between; 0 at the start of the text, null where
 * something else stands before it on its line.
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

/** The documentation above an offset, without `#` and one blank, joined by line breaks; null for none. */
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
      // What silences a warning speaks to the checker.
      if (!isSilence(comment)) lines.push(comment.text.replace(/^# ?/, ''));
      lineEnd = blanksBefore(source.text, comment.span.start);
    }
    return lines.length === 0 ? null : lines.reverse().join('\n');
  };

  function commentEnding(offset: number | null): Comment | undefined {
    return offset === null ? undefined : byEnd.get(offset);
  }
}
