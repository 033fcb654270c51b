// Draws diagnostics for golden cases: code, place and message, the line with a mark below the span, help, and
// the lines after the fix.

import type { Diagnostic, Fix } from '../../../src/language/diagnostic/diagnostic.ts';

export function drawDiagnostics(diagnostics: readonly Diagnostic[], text: string): string {
  return diagnostics.map((diagnostic) => drawDiagnostic(diagnostic, text)).join('\n');
}

function drawDiagnostic(
  { code, severity, span, message, help, related, fix }: Diagnostic,
  text: string,
): string {
  const from = position(text, span.start);
  const to = position(text, span.end);
  const line = text.split('\n')[from.line - 1] ?? '';
  const width = from.line === to.line ? to.column - from.column : line.length - from.column + 1;
  const mark = ' '.repeat(from.column - 1) + (width > 0 ? '^'.repeat(width) : '|');
  return [
    `${severity}[${code}] ${from.line}:${from.column}-${to.line}:${to.column} ${message}`,
    `    ${visible(line)}`,
    `    ${mark}`,
    ...(related ?? []).map((place) => {
      const { line: relatedLine, column } = position(text, place.span.start);
      return `  see ${relatedLine}:${column} ${place.message}`;
    }),
    ...(help === undefined ? [] : [`  help: ${help}`]),
    ...(fix === undefined ? [] : drawFix(fix, text)),
    '',
  ].join('\n');
}

function drawFix(fix: Fix, text: string): readonly string[] {
  const before = text.split('\n');
  const after = applyFix(fix, text).split('\n');
  const changed = after.filter((line, index) => line !== before[index]);
  return [`  fix: ${fix.title}`, ...changed.map((line) => `    ${visible(line)}`)];
}

export function applyFix({ edits }: Fix, text: string): string {
  return edits
    .toSorted((a, b) => b.span.start - a.span.start)
    .reduce(
      (result, { span, text: better }) => result.slice(0, span.start) + better + result.slice(span.end),
      text,
    );
}

/** Line and column of an offset, both from 1, columns in UTF-16 units. */
function position(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

function visible(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is made visible
  return line.replaceAll(/[\u0000-\u001f\u200e-\u202e\u2066-\u2069]/g, '·');
}
