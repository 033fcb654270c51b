// Turns diagnostics into what an editor marks: the first hundred, errors before warnings, each with its line
// and column.

import { type Diagnostic, sortDiagnostics } from '../language/diagnostic/diagnostic.ts';
import { diagnosticToJson, type Position, type SourceOf } from '../language/diagnostic/render.ts';
import type { LocatedDiagnostic, LocatedText } from './playground-questions.ts';

const diagnosticsMax = 100;

export function locateDiagnostics(
  diagnostics: readonly Diagnostic[],
  sourceOf: SourceOf,
): readonly LocatedDiagnostic[] {
  const errorsFirst = [
    ...diagnostics.filter(({ severity }) => severity === 'error'),
    ...diagnostics.filter(({ severity }) => severity !== 'error'),
  ];
  return sortDiagnostics(errorsFirst.slice(0, diagnosticsMax)).map((diagnostic) =>
    placeDiagnostic(diagnostic, sourceOf),
  );
}

function placeDiagnostic(diagnostic: Diagnostic, sourceOf: SourceOf): LocatedDiagnostic {
  const { file, code, severity, message, help, start, end, fix } = diagnosticToJson(diagnostic, sourceOf);
  const placed = { file, code, severity, message, help, ...textRangeOf(start, end) };
  if (fix === null) return placed;
  const edits = fix.edits.map((edit) => ({
    file: edit.file,
    text: edit.text,
    ...textRangeOf(edit.start, edit.end),
  }));
  return { ...placed, fix: { title: fix.title, edits } };
}

export function textRangeOf(start: Position | null, end: Position | null): LocatedText {
  const { line, column } = start ?? { line: 1, column: 1 };
  return { line, column, end_line: end?.line ?? line, end_column: end?.column ?? column };
}
