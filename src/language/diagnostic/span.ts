/** Where a piece of text stands: a file and a half-open range of UTF-16 offsets into it. */
export interface Span {
  /** Path of the file, relative to the policy directory, with forward slashes. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A file's text under the path by which spans name it. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** Whether a span is the other or a part of it. */
export function isWithinSpan(inner: Span, outer: Span): boolean {
  return inner.file === outer.file && inner.start >= outer.start && inner.end <= outer.end;
}

/** The smallest span that covers both; the file is the first one's. */
export function spanning(first: Span, last: Span): Span {
  return { file: first.file, start: Math.min(first.start, last.start), end: Math.max(first.end, last.end) };
}
