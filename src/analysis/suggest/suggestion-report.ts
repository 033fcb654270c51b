// Suggestions as plain data, which every printer and every reading program uses: each with its patch, the complete
// diff, the sentences that change, and the tests that it breaks.

import { unifiedDiff } from '../../language/assist/unified-diff.ts';
import type { SourceOf } from '../../language/diagnostic/render.ts';
import type { Decision, Outcome, Requirements } from '../../language/model/decision.ts';
import { type SentenceChange, sentenceChanges } from '../../reasoning/summary/summary-diff.ts';
import { digest } from '../../service/policies/digest.ts';
import type { TestCase } from '../../testing/test-file.ts';
import { type DiffReport, reportOf } from '../diff/diff-report.ts';
import type { LoadedSide } from '../diff/diff-side.ts';
import type { TallyResult } from '../replay/engine/tally.ts';
import type { ForbiddingClaim, SuggestGoal } from './obstacles.ts';
import type { Suggestion, Suggestions } from './suggest.ts';
import { brokenTests } from './test-cases.ts';
import type { DecidingSet } from './verify.ts';

export interface SuggestionReport {
  readonly decision: ReportedOutcome;
  /** What suggestions lead to, even if there are none; null when the guarantees leave nothing to suggest. */
  readonly goal: SuggestGoal | null;
  /** The claims of guarantees that forbid to allow the request at once. */
  readonly forbidden_by: readonly ForbiddingClaim[];
  /** The one that allows the least else first. */
  readonly suggestions: readonly ReportedSuggestion[];
}

interface ReportedOutcome {
  readonly decision: Outcome;
  readonly by: string;
  readonly reason: string;
  readonly requires: Requirements | null;
}

export interface ReportedSuggestion {
  readonly kind: Suggestion['kind'];
  readonly text: string;
  /** A unified diff for `git apply`. */
  readonly patch: string;
  readonly decision: ReportedOutcome;
  /** Of generated requests that resemble this one, how many get a milder decision. */
  readonly milder: Suggestion['milder'];
  readonly diff: DiffReport;
  readonly sentences: readonly SentenceChange[];
  /** The names of the test cases that fail afterwards; null when no tests were given. */
  readonly broken_tests: readonly string[] | null;
}

export interface ReportInput {
  readonly base: DecidingSet;
  /** A path of the set in the form that people see. */
  readonly shown: (path: string) => string;
  /** The cases of test files; null when there are none at hand. */
  readonly tests: readonly TestCase[] | null;
  /** For each suggestion the requests of a log, filed under the findings of its diff; absent without a log. */
  readonly logs?: readonly TallyResult[];
}

export function suggestionReport(
  { decision, goal, forbidding, suggestions }: Suggestions,
  input: ReportInput,
): SuggestionReport {
  return {
    decision: reportedOutcome(decision),
    goal,
    forbidden_by: forbidding,
    suggestions: suggestions.map((one, at) => reported(one, input, input.logs?.[at] ?? null)),
  };
}

function reported(
  { kind, text, files, decision, milder, diff, changed }: Suggestion,
  { base, shown, tests }: ReportInput,
  log: TallyResult | null,
): ReportedSuggestion {
  const sides = sidesOf(base, changed, shown);
  const about = tests?.filter(({ situation }) => diff.compared.includes(situation.action)) ?? null;
  return {
    kind,
    text,
    patch: files.map(({ path, before, after }) => unifiedDiff(shown(path), before, after)).join(''),
    decision: reportedOutcome(decision),
    milder,
    diff: reportOf({ sides, diff, guarantees: [], log }),
    sentences: sentenceChanges(sides, diff.compared.slice(0, sentenceActionsMax)),
    broken_tests: about === null ? null : brokenTests(about, base, changed),
  };
}

/** Sentences take proofs, so only the first actions are described. */
const sentenceActionsMax = 5;

/** The two sides of a suggestion, as comparisons take them. */
export function sidesOf(
  base: DecidingSet,
  changed: DecidingSet,
  shown: (path: string) => string,
): { readonly before: LoadedSide; readonly after: LoadedSide } {
  return { before: sideOf('now', base, shown), after: sideOf('suggested', changed, shown) };
}

function sideOf(
  name: string,
  { set, sources, compiled }: DecidingSet,
  shown: LoadedSide['shown'],
): LoadedSide {
  const texts = new Map(sources.files.map(({ path, text }) => [path, text]));
  const sourceOf: SourceOf = (path) => texts.get(path) ?? null;
  return { name, digest: digest(set), set, files: compiled.files, sourceOf, shown };
}

function reportedOutcome({ outcome, by, reason, requires }: Decision): ReportedOutcome {
  return { decision: outcome, by, reason, requires };
}
