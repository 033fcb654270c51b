// Loads the policies of the workspace for tools, and shows their diagnostics with paths of the workspace, which
// the client's file tools take.

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FailedSide } from '../../../analysis/diff/diff-side.ts';
import { displayPath } from '../../../analysis/findings/display-path.ts';
import type { Diagnostic } from '../../../language/diagnostic/diagnostic.ts';
import { renderDiagnostic, type SourceOf } from '../../../language/diagnostic/render.ts';
import type { Span } from '../../../language/diagnostic/span.ts';
import { UsageError } from '../../output/output.ts';
import { questionFile } from '../../support/load-claims.ts';
import { loadCompiled, type WorkingPolicies, workingOf } from '../../support/load-policies.ts';
import { policiesInWorkspace } from './workspace.ts';

export interface Sources {
  readonly root: string | null;
  readonly sourceOf: SourceOf;
}

/** Paths of the workspace for the files of a set. */
export interface ShownSources {
  readonly shown: (span: Span) => Span;
  /** Takes either path of a file. */
  readonly sourceOf: SourceOf;
}

export function shownSources({ root, sourceOf }: Sources): ShownSources {
  const files = new Map<string, string>();
  return {
    shown: (span) => {
      if (span.file === '' || span.file === questionFile) return span;
      const file = displayPath(root, span.file);
      files.set(file, span.file);
      return { ...span, file };
    },
    sourceOf: (file) => sourceOf(files.get(file) ?? file),
  };
}

/** A diagnostic as text, with its place in the workspace. */
export function diagnosticText(diagnostic: Diagnostic, sources: Sources): string {
  const { shown, sourceOf } = shownSources(sources);
  const { span, related = [] } = diagnostic;
  const moved = {
    ...diagnostic,
    span: shown(span),
    related: related.map((one) => ({ ...one, span: shown(one.span) })),
  };
  return renderDiagnostic(moved, sourceOf);
}

/** Throws a UsageError that shows the errors. */
export async function workingInWorkspace(path: string | undefined): Promise<WorkingPolicies> {
  const loaded = await loadCompiled(policiesInWorkspace(path));
  const working = workingOf(loaded);
  if (working !== null) return working;
  throw policyErrors(loaded.diagnostics, loaded.read);
}

/** What a tool says when one side of a comparison does not compile. `path` is the path of the policies. */
export function sideErrors({ errors, sourceOf, name }: FailedSide, path: string): UsageError {
  // A revision lies in a temporary folder, but its files are named as in the workspace.
  const root = resolve(statSync(path).isDirectory() ? path : dirname(path));
  return new UsageError(`${name}: ${policyErrors(errors, { root, sourceOf }).message}`);
}

/** What a tool says that needs policies without errors. */
export function policyErrors(diagnostics: readonly Diagnostic[], sources: Sources): UsageError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const texts = errors.map((one) => diagnosticText(one, sources));
  return new UsageError(
    ['the policies have errors: use `check` until there are none', ...texts].join('\n\n'),
  );
}
