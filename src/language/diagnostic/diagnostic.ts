// A diagnostic is a value: what is wrong, where, why, and what to do. Stages return diagnostics beside a usable
// result and never throw for a user's mistake.

import type { Code } from './codes.ts';
import type { Span } from './span.ts';

export type Severity = 'error' | 'warning';

export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  readonly span: Span;
  /** One sentence in lower case without a final period; the user's text is in backticks. */
  readonly message: string;
  /** What to do about the problem, in the style of `message`. */
  readonly help?: string;
  /** Other places that explain the problem. */
  readonly related?: readonly RelatedLocation[];
  readonly fix?: Fix;
}

export interface RelatedLocation {
  readonly span: Span;
  readonly message: string;
}

/** Edits that resolve the diagnostic; their spans do not overlap. */
export interface Fix {
  readonly title: string;
  readonly edits: readonly Edit[];
}

export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/** Sorts by file, then position, then code: the order in which people read. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted(
    (a, b) =>
      compareText(a.span.file, b.span.file) || a.span.start - b.span.start || compareText(a.code, b.code),
  );
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
