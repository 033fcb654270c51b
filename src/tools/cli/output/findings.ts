// Diagnostics and refuted guarantees → one list for build servers, with paths relative to the current folder.

import type { Diagnostic } from '../../../language/diagnostic/diagnostic.ts';
import {
  diagnosticToJson,
  type JsonDiagnostic,
  position,
  type SourceOf,
} from '../../../language/diagnostic/render.ts';
import type { Trial } from '../../../reasoning/guarantees/try.ts';
import type { ReadSources } from '../../../service/policies/read.ts';
import { shownPath } from './shown-path.ts';

export type Finding = JsonDiagnostic;

/** The code of a refuted guarantee. */
export const guaranteeRefuted = {
  code: 'guarantee-refuted',
  summary: 'a guarantee does not hold: there is a request that refutes it',
} as const;

export interface Found {
  /** The path that the command checks; the place of findings that belong to no single file. */
  readonly path: string;
  readonly read: ReadSources;
  readonly diagnostics: readonly Diagnostic[];
  readonly trials: readonly Trial[];
}

/** Diagnostics in their order, then the guarantees that are refuted. */
export function findingsOf({ path, read, diagnostics, trials }: Found): readonly Finding[] {
  const findings = [
    ...diagnostics.map((diagnostic) => diagnosticToJson(diagnostic, read.sourceOf)),
    ...trials.flatMap((trial) => refutation(trial, read.sourceOf)),
  ];
  const shown = <T extends { readonly file: string }>(place: T): T => ({
    ...place,
    file: place.file === '' ? path : shownPath(read.root, place.file),
  });
  return findings.map((finding) => ({
    ...shown(finding),
    related: finding.related.map(shown),
    fix: finding.fix === null ? null : { ...finding.fix, edits: finding.fix.edits.map(shown) },
  }));
}

function refutation({ guarantee, claim, counterexample }: Trial, sourceOf: SourceOf): readonly Finding[] {
  if (counterexample === null) return [];
  const { file, start, end } = claim.span;
  const text = sourceOf(file) ?? '';
  const said = text.slice(start, end).replace(/\s+/g, ' ');
  const { facts, decision } = counterexample;
  return [
    {
      code: guaranteeRefuted.code,
      severity: 'error',
      message: `\`${guarantee.name}\` does not hold: \`${said}\` is refuted by a request for \`${facts.action}\`, which is ${decision.outcome} by \`${decision.by}\``,
      file,
      start: position(text, start),
      end: position(text, end),
      help: '`writ check` shows the whole request, as `writ decide` takes it',
      related: [],
      fix: null,
    },
  ];
}
