// Turns diagnostics of a file into excerpts: their lines with some lines around them. Diagnostics that are
// close together share an excerpt.

export interface FailureDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly help: string | null;
  readonly start: { readonly line: number; readonly column: number } | null;
  /** One past the last character. */
  readonly end: { readonly line: number; readonly column: number } | null;
}

export interface Excerpt {
  readonly firstLine: number;
  readonly text: string;
  readonly diagnostics: readonly FailureDiagnostic[];
}

const contextLines = 2;

/** Leaves out diagnostics without a place, or with a place beyond the end of the text. */
export function excerptsOf(text: string, diagnostics: readonly FailureDiagnostic[]): readonly Excerpt[] {
  const lines = text.split(/\r?\n/);
  const excerpts: { from: number; to: number; diagnostics: FailureDiagnostic[] }[] = [];
  const placed = diagnostics
    .filter(({ start }) => start !== null && start.line <= lines.length)
    .toSorted((a, b) => lineOf(a) - lineOf(b));
  for (const diagnostic of placed) {
    const from = Math.max(1, lineOf(diagnostic) - contextLines);
    const to = Math.min(lines.length, (diagnostic.end?.line ?? lineOf(diagnostic)) + contextLines);
    const last = excerpts.at(-1);
    if (last !== undefined && from <= last.to + 1) {
      last.to = Math.max(last.to, to);
      last.diagnostics.push(diagnostic);
    } else excerpts.push({ from, to, diagnostics: [diagnostic] });
  }
  return excerpts.map(({ from, to, diagnostics: own }) => ({
    firstLine: from,
    text: lines.slice(from - 1, to).join('\n'),
    diagnostics: own,
  }));
}

function lineOf({ start }: FailureDiagnostic): number {
  return start?.line ?? 1;
}
