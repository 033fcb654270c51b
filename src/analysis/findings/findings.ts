// Turns diagnostics and unproved guarantees into one list for build servers, with paths relative to the
// folder in which the command runs.

import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import {
  diagnosticToJson,
  type JsonDiagnostic,
  position,
  type SourceOf,
} from '../../language/diagnostic/render.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import { clauseText } from '../../reasoning/prove/report/wording.ts';
import type { ReadSources } from '../../service/policies/read-policies.ts';
import { displayPath } from './display-path.ts';
import { type ClauseResult, type Counterexample, undecidedLines } from './guarantee-results.ts';

export type Finding = JsonDiagnostic;

/** Code and summary of a refuted guarantee. */
export const guaranteeRefuted = {
  code: 'guarantee-refuted',
  summary: 'a guarantee does not hold: there is a request that refutes it',
} as const;

export const guaranteeUndecided = {
  code: 'guarantee-undecided',
  summary: 'a guarantee is neither proved nor refuted',
} as const;

/** The code and summary of each kind of finding in a comparison. */
export const diffCodes = {
  loosened: { code: 'decision-loosened', summary: 'requests are decided more loosely than before' },
  stricter: { code: 'decision-stricter', summary: 'requests are decided more strictly than before' },
  undecided: {
    code: 'decision-undecided',
    summary: 'it is undecided whether requests are decided differently',
  },
} as const;

export interface CheckedDirectory {
  /** The path that the command checks; the place of findings that belong to no single file. */
  readonly path: string;
  readonly read: ReadSources;
  readonly diagnostics: readonly Diagnostic[];
  readonly claims: readonly ClauseResult[];
  /** Whether warnings count as errors. */
  readonly isStrict: boolean;
}

/** Diagnostics in their order, then the guarantees that are refuted or undecided. */
export function findingsOf({
  path,
  read,
  diagnostics,
  claims,
  isStrict,
}: CheckedDirectory): readonly Finding[] {
  const findings = [
    ...diagnostics.map((diagnostic) => diagnosticToJson(diagnostic, read.sourceOf)),
    ...claims.flatMap((claim) => findingOf(claim, read)),
  ].map((finding) => (isStrict ? asError(finding) : finding));
  const withFile = <T extends { readonly file: string }>(location: T): T => ({
    ...location,
    file: location.file === '' ? path : displayPath(read.root, location.file),
  });
  return findings.map((finding) => ({
    ...withFile(finding),
    related: finding.related.map(withFile),
    fix: finding.fix === null ? null : { ...finding.fix, edits: finding.fix.edits.map(withFile) },
  }));
}

function findingOf(judged: ClauseResult, { sourceOf }: ReadSources): readonly Finding[] {
  const { guarantee, claim, counterexample, kind } = judged;
  const { file, start, end } = claim.span;
  const text = sourceOf(file) ?? '';
  const location = { file, start: position(text, start), end: position(text, end), related: [], fix: null };
  const subject = `\`${guarantee.name}\`: \`${clauseText(claim, sourceOf)}\``;
  if (counterexample !== null) {
    const { facts, decision, rule } = counterexample;
    return [
      {
        code: guaranteeRefuted.code,
        severity: 'error',
        message: `${subject} is refuted by a request for \`${facts.action}\`, which is ${decision.outcome} by \`${decision.by}\``,
        help: refutedHelp(counterexample),
        ...location,
        related: rule === null ? [] : [relatedRule(rule, decision.by, sourceOf)],
      },
    ];
  }
  if (kind === 'proved') return [];
  return [
    {
      code: guaranteeUndecided.code,
      severity: 'warning',
      message: `${subject} is neither proved nor refuted: ${undecidedLines(judged, sourceOf).join('; ')}`,
      help: judged.undecidedHelp,
      ...location,
    },
  ];
}

function refutedHelp({ unknown }: Counterexample): string {
  const helps = new Set(unknown.flatMap(({ help }) => (help === null ? [] : [help])));
  return [
    ...helps,
    '`writ check` shows the whole request, as `writ decide` takes it',
    '`writ prove --add-tests` makes it a test',
  ].join('; ');
}

function relatedRule({ file, start, end }: Span, id: string, sourceOf: SourceOf): Finding['related'][number] {
  const text = sourceOf(file) ?? '';
  return { file, start: position(text, start), end: position(text, end), message: `\`${id}\` decides it` };
}

function asError(finding: Finding): Finding {
  return { ...finding, severity: 'error' };
}
