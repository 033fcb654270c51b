// Groups diagnostics by file, each file's sorted by place. INVARIANT: a list that is the same object as
// before has the same contents, so that a walk over a large set can skip the files whose diagnostics have not
// changed.

import { type Diagnostic, hasErrors, sortDiagnostics } from './diagnostic.ts';

export type DiagnosticsByFile = ReadonlyMap<string, readonly Diagnostic[]>;

/** Groups diagnostics by file, in the order of files. */
export function groupByFile(diagnostics: readonly Diagnostic[]): DiagnosticsByFile {
  return Map.groupBy(sortDiagnostics(diagnostics), ({ span }) => span.file);
}

/** Returns all diagnostics in one list, sorted by file and place. */
export function inOneList(byFile: DiagnosticsByFile): readonly Diagnostic[] {
  const sorted = [...byFile].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.flatMap(([, diagnostics]) => diagnostics);
}

/** Joins two groupings. A file that only one of them mentions keeps its list. */
export function joinByFile(some: DiagnosticsByFile, others: DiagnosticsByFile): DiagnosticsByFile {
  if (others.size === 0) return some;
  const joined = new Map(some);
  for (const [file, more] of others) {
    const cached = joined.get(file);
    joined.set(file, cached === undefined ? more : sortDiagnostics([...cached, ...more]));
  }
  return joined;
}

const withErrors = new WeakMap<readonly Diagnostic[], boolean>();

/** Whether any diagnostic is an error; each list is searched once. */
export function hasErrorsIn(byFile: DiagnosticsByFile): boolean {
  for (const diagnostics of byFile.values()) {
    const cached = withErrors.get(diagnostics) ?? hasErrors(diagnostics);
    withErrors.set(diagnostics, cached);
    if (cached) return true;
  }
  return false;
}
