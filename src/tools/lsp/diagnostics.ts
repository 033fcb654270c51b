// What is wrong with a set, file by file, and the edits that mend it.

import {
  type CodeAction,
  CodeActionKind,
  DiagnosticSeverity,
  type Diagnostic as Shown,
  type TextEdit,
} from 'vscode-languageserver';
import type { Diagnostic, Edit } from '../../language/diagnostic/diagnostic.ts';
import { locationOf, rangeOf } from './places.ts';
import { documentOf, fileNameOf, type SetSnapshot, uriOf } from './workspace.ts';

/** By URI; every file of the set has an entry, so that what is mended disappears. */
export function shownDiagnostics(snapshot: SetSnapshot): ReadonlyMap<string, readonly Shown[]> {
  const shown = new Map<string, Shown[]>();
  for (const file of snapshot.texts.keys()) shown.set(uriOf(snapshot, file), []);
  for (const diagnostic of snapshot.diagnostics) {
    const uri = uriOf(snapshot, diagnostic.span.file);
    shown.set(uri, [...(shown.get(uri) ?? []), shownOf(snapshot, diagnostic)]);
  }
  return shown;
}

function shownOf(snapshot: SetSnapshot, diagnostic: Diagnostic): Shown {
  const { code, severity, span, message, help, related = [] } = diagnostic;
  return {
    range: rangeOf(documentOf(snapshot, span.file), span),
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    source: 'writ',
    code,
    message: help === undefined ? message : `${message}\n${help}`,
    ...(related.length === 0
      ? {}
      : {
          relatedInformation: related.map((one) => ({
            location: locationOf(snapshot, one.span),
            message: one.message,
          })),
        }),
  };
}

/** Fixes of what stands between two offsets, and one action that fixes all of the file. */
export function fixesOf(
  snapshot: SetSnapshot,
  uri: string,
  { start, end }: { readonly start: number; readonly end: number },
): readonly CodeAction[] {
  const file = fileNameOf(snapshot, uri);
  const ofFile = snapshot.diagnostics.filter(({ span, fix }) => fix !== undefined && span.file === file);
  const here = ofFile.filter(({ span }) => span.start <= end && start <= span.end);
  const single = here.map((diagnostic): CodeAction => {
    return {
      title: diagnostic.fix!.title,
      kind: CodeActionKind.QuickFix,
      diagnostics: [shownOf(snapshot, diagnostic)],
      isPreferred: true,
      edit: { changes: editsOf(snapshot, diagnostic.fix!.edits) },
    };
  });
  const edits = apart(ofFile.flatMap(({ fix }) => fix?.edits ?? []).filter(({ span }) => span.file === file));
  if (edits.length === 0) return single;
  const all: CodeAction = {
    title: 'Fix all that has one fix',
    kind: CodeActionKind.SourceFixAll,
    edit: { changes: editsOf(snapshot, edits) },
  };
  return [...single, all];
}

/** In order, without those that overlap one before them: they are offered again once these are made. */
function apart(edits: readonly Edit[]): readonly Edit[] {
  const kept: Edit[] = [];
  for (const edit of edits.toSorted((a, b) => a.span.start - b.span.start)) {
    if ((kept.at(-1)?.span.end ?? -1) < edit.span.start) kept.push(edit);
  }
  return kept;
}

export function editsOf(snapshot: SetSnapshot, edits: readonly Edit[]): Record<string, TextEdit[]> {
  const changes: Record<string, TextEdit[]> = {};
  for (const { span, text } of edits) {
    const uri = uriOf(snapshot, span.file);
    const edit = { range: rangeOf(documentOf(snapshot, span.file), span), newText: text };
    changes[uri] = [...(changes[uri] ?? []), edit];
  }
  return changes;
}
