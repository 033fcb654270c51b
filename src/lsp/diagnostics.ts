// Turns the diagnostics of a set into those of the protocol, file by file, with the edits that fix them.

import { isDeepStrictEqual } from 'node:util';
import {
  type CodeAction,
  CodeActionKind,
  DiagnosticSeverity,
  type Diagnostic as Shown,
  type TextEdit,
} from 'vscode-languageserver';
import { haveSameParts } from '../language/check/logic/same.ts';
import type { Diagnostic, Edit } from '../language/diagnostic/diagnostic.ts';
import type { SourceText } from '../language/diagnostic/span.ts';
import { locationOf, rangeOf } from './set/positions.ts';
import { documentOf, fileNameOf, type SetSnapshot, uriOf } from './set/workspace.ts';

/** The diagnostics that the editor already has, by the file's path in the set. */
export type PublishedDiagnostics = Map<string, PublishedFile>;

interface PublishedFile {
  readonly source: SourceText;
  readonly diagnostics: readonly Diagnostic[];
  /** Diagnostics that do not come from the check. */
  readonly more: readonly Shown[];
}

export interface FileDiagnostics {
  readonly file: string;
  readonly diagnostics: readonly Shown[];
}

/** The files whose diagnostics differ from those that the editor has. Notes the new diagnostics in `published`. */
export function newDiagnostics(
  snapshot: SetSnapshot,
  published: PublishedDiagnostics,
  more: ReadonlyMap<string, readonly Shown[]>,
): readonly FileDiagnostics[] {
  const { texts, byFile } = snapshot;
  const files = new Set([...texts.keys(), ...byFile.keys(), ...published.keys(), ...more.keys()]);
  return newDiagnosticsOf([...files], snapshot, published, more);
}

/** Does the same as `newDiagnostics`, for some files only. */
export function newDiagnosticsOf(
  files: readonly string[],
  snapshot: SetSnapshot,
  published: PublishedDiagnostics,
  more: ReadonlyMap<string, readonly Shown[]>,
): readonly FileDiagnostics[] {
  const { byFile } = snapshot;
  const newFiles: FileDiagnostics[] = [];
  for (const file of files) {
    const diagnostics = byFile.get(file) ?? nothing;
    const now = { source: sourceOf(snapshot, file), diagnostics, more: more.get(file) ?? none };
    const before = published.get(file);
    published.set(file, now);
    if (before !== undefined && areSame(before, now)) continue;
    newFiles.push({
      file,
      diagnostics: [...diagnostics.map((one) => toLspDiagnostic(snapshot, one)), ...now.more],
    });
  }
  return newFiles;
}

const none: readonly Shown[] = [];
const nothing: readonly Diagnostic[] = [];
const noText: SourceText = { path: '', text: '' };

function sourceOf({ texts, tests }: SetSnapshot, file: string): SourceText {
  return texts.get(file) ?? tests.get(file) ?? noText;
}

function areSame(before: PublishedFile, now: PublishedFile): boolean {
  return (
    before.source === now.source &&
    haveSameParts(before.diagnostics, now.diagnostics) &&
    isDeepStrictEqual(before.more, now.more) &&
    !pointsElsewhere(now.diagnostics)
  );
}

const pointing = new WeakMap<readonly Diagnostic[], boolean>();

/** Whether a diagnostic names a place in another file. The place may move with the text of that file. */
function pointsElsewhere(diagnostics: readonly Diagnostic[]): boolean {
  const isOther = ({ related = [], span }: Diagnostic): boolean =>
    related.some((one) => one.span.file !== span.file);
  const isElsewhere = pointing.get(diagnostics) ?? diagnostics.some(isOther);
  pointing.set(diagnostics, isElsewhere);
  return isElsewhere;
}

export function toLspDiagnostic(
  snapshot: SetSnapshot,
  diagnostic: Omit<Diagnostic, 'code'> & { readonly code: string },
): Shown {
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

/** Fixes for the diagnostics between two offsets, and one action that fixes the whole file. */
export function fixesOf(
  snapshot: SetSnapshot,
  uri: string,
  { start, end }: { readonly start: number; readonly end: number },
): readonly CodeAction[] {
  const file = fileNameOf(snapshot, uri);
  const ofFile = (snapshot.byFile.get(file) ?? nothing).filter(({ fix }) => fix !== undefined);
  const here = ofFile.filter(({ span }) => span.start <= end && start <= span.end);
  const single = here.map((diagnostic): CodeAction => {
    return {
      title: diagnostic.fix!.title,
      kind: CodeActionKind.QuickFix,
      diagnostics: [toLspDiagnostic(snapshot, diagnostic)],
      isPreferred: true,
      edit: { changes: editsOf(snapshot, diagnostic.fix!.edits) },
    };
  });
  const edits = apart(ofFile.flatMap(({ fix }) => fix?.edits ?? []).filter(({ span }) => span.file === file));
  if (edits.length === 0) return single;
  const all: CodeAction = {
    title: 'Fix all problems with a single fix',
    kind: CodeActionKind.SourceFixAll,
    edit: { changes: editsOf(snapshot, edits) },
  };
  return [...single, all];
}

/**
 * The edits in order, without those that overlap an earlier one. The editor offers those again once the
 * earlier ones are made.
 */
function apart(edits: readonly Edit[]): readonly Edit[] {
  const separate: Edit[] = [];
  for (const edit of edits.toSorted((a, b) => a.span.start - b.span.start)) {
    if ((separate.at(-1)?.span.end ?? -1) < edit.span.start) separate.push(edit);
  }
  return separate;
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
