// Turns the service's findings about the playground's texts into marks of an editor.

import type { ApiProblem } from '../../api/problem.ts';
import { type ReadJson, rangeAtPointer } from '../../editor/json-positions.ts';
import { applyEdits, rangeOf } from '../../editor/text-positions.ts';
import type { Change } from './draft-files.ts';
import type { TryReply } from './use-try.ts';

export type PolicyDiagnostic = TryReply['diagnostics'][number];
export type TriedClause = NonNullable<TryReply['guarantees']>[number];
export type RequestIssue = TryReply['issues'][number];
export type Fix = NonNullable<PolicyDiagnostic['fix']>;

export interface EditorMark {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix: Fix | null;
}

export function markDiagnostics(
  text: string,
  diagnostics: readonly PolicyDiagnostic[],
): readonly EditorMark[] {
  return diagnostics.map((diagnostic) => ({
    ...rangeOf(text, diagnostic),
    severity: diagnostic.severity,
    message: withHelp(diagnostic),
    fix: diagnostic.fix ?? null,
  }));
}

/** Marks of a request's fault in JSON, or else of its issues. */
export function markIssues(
  { positions: places, fault }: ReadJson,
  issues: readonly RequestIssue[],
): readonly EditorMark[] {
  if (fault !== null) return [{ ...fault, severity: 'error', fix: null }];
  return issues.map((issue) => ({
    ...rangeAtPointer(places, issue.pointer),
    severity: 'error' as const,
    message: withHelp(issue),
    fix: null,
  }));
}

function withHelp({ message, help }: { readonly message: string; readonly help: string | null }): string {
  return help === null ? message : `${message}: ${help}`;
}

/** The files that a fix changes, with their new texts; null when the text of one of them is not loaded. */
export function fixedFiles(
  { edits }: Fix,
  textOf: (path: string) => string | null,
): readonly Change[] | null {
  const byFile = Map.groupBy(edits, ({ file }) => file);
  const changed = [...byFile].map(([path, own]): Change | null => {
    const text = textOf(path);
    return text === null ? null : { path, text: applyEdits(text, own) };
  });
  return changed.every((one) => one !== null) ? changed : null;
}

/** What the service refused about the form of a request, as issues of the request. */
export function problemIssues(problem: ApiProblem | null): readonly RequestIssue[] {
  if (problem?.code !== 'invalid_body') return [];
  return problem.errors
    .filter(({ pointer }) => pointer === '/request' || pointer.startsWith('/request/'))
    .map(({ pointer, detail }) => ({
      pointer: pointer.slice('/request'.length),
      message: detail,
      help: null,
    }));
}
