/** The place of a piece of text: a file and a half-open range of UTF-16 offsets into it. */
export interface Span {
  /** Path of the file, relative to the policy directory, with forward slashes. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** The places of several pieces of one file. */
export interface Spans {
  readonly file: string;
  /** Start and end of each piece, one after the other. */
  readonly offsets: readonly number[];
}

/** Returns the places of parts of one file, of which there is at least one. */
export function spansOf(parts: readonly { readonly span: Span }[]): Spans {
  return { file: parts[0]!.span.file, offsets: parts.flatMap(({ span: { start, end } }) => [start, end]) };
}

/** Returns the place of the piece at a position. */
export function spanAt({ file, offsets }: Spans, at: number): Span {
  return { file, start: offsets[2 * at]!, end: offsets[2 * at + 1]! };
}

/** The keys under which nodes of the tree and of the model hold places. */
export const spanKeys: ReadonlySet<string> = new Set(['span', 'spans', 'operatorSpan', 'leftSpan']);

/** The text of a file, with the path that spans use for the file. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** Whether the inner span equals the outer one or is a part of it. */
export function isWithinSpan(inner: Span, outer: Span): boolean {
  return inner.file === outer.file && inner.start >= outer.start && inner.end <= outer.end;
}

/** Returns the smallest span that covers both; the file is that of the first. */
export function spanning(first: Span, last: Span): Span {
  return { file: first.file, start: Math.min(first.start, last.start), end: Math.max(first.end, last.end) };
}
