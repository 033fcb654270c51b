// Diagnostics by the file in which they stand, each file's sorted by place. INVARIANT: a list that is the same as before holds the
// same as before, so that whoever goes through a large set skips the files of which nothing else is said.

import { type Diagnostic, hasErrors, sortDiagnostics } from './diagnostic.ts';

export type DiagnosticsByFile = ReadonlyMap<string, readonly Diagnostic[]>;

/** In the order of files. */
export function groupByFile(diagnostics: readonly Diagnostic[]): DiagnosticsByFile {
  return Map.groupBy(sortDiagnostics(diagnostics), ({ span }) => span.file);
}

/** All of them, sorted by file and place. */
export function inOneList(byFile: DiagnosticsByFile): readonly Diagnostic[] {
  const sorted = [...byFile].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.flatMap(([, diagnostics]) => diagnostics);
}

/** What is said of each file by the one and by the other; the list of one of them where the other says nothing. */
export function joinByFile(some: DiagnosticsByFile, others: DiagnosticsByFile): DiagnosticsByFile {
  if (others.size === 0) return some;
  const joined = new Map(some);
  for (const [file, more] of others) {
    const known = joined.get(file);
    joined.set(file, known === undefined ? more : sortDiagnostics([...known, ...more]));
  }
  return joined;
}

const withErrors = new WeakMap<readonly Diagnostic[], boolean>();

/** Asked of each list once. */
export function hasErrorsIn(byFile: DiagnosticsByFile): boolean {
  for (const diagnostics of byFile.values()) {
    const known = withErrors.get(diagnostics) ?? hasErrors(diagnostics);
    withErrors.set(diagnostics, known);
    if (known) return true;
  }
  return false;
}
