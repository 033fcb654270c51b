// The questions that the language server asks its second thread, and their answers: plain data that passes
// between threads unchanged. They are the questions whose answer may take longer than typing a key.

import type { DecisionStep } from '../../analysis/decision-steps.ts';
import type { Finding } from '../../analysis/findings/findings.ts';
import type { GivenRequest, RequestIssue } from '../../analysis/playground-questions.ts';
import type { ChangedFile } from '../../analysis/suggest/suggest.ts';
import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { RuleCoverage } from '../../testing/coverage.ts';
import type { CaseResult } from '../../testing/run.ts';

/** A policy set on disk, with unsaved texts laid over the files. */
export interface SetState {
  /** The absolute folder of the set. */
  readonly root: string;
  /** Unsaved texts, with paths relative to the root. */
  readonly open: readonly SourceText[];
}

export interface ThreadInputs {
  readonly claims: SetState;
  /** `only` is the path in the set of the one test file to run; null for all test files. */
  readonly tests: SetState & { readonly only: string | null };
  /** Asks for the changes since HEAD. */
  readonly changes: SetState;
  readonly walk: SetState & { readonly request: GivenRequest };
  /** Asks for a change after which the case at an offset of a test file passes. */
  readonly suggestion: SetState & { readonly only: string; readonly start: number };
}

export interface ThreadAnswers {
  /** The judged claims; null when the set has errors. */
  readonly claims: readonly ClauseView[] | null;
  readonly tests: TestsView;
  readonly changes: ChangesView;
  readonly walk: DecisionStepsView;
  readonly suggestion: SuggestionView;
}

export type ThreadQuestion = keyof ThreadInputs;

/** The verdict of `writ check` on a claim. */
export interface ClauseView {
  readonly file: string;
  readonly start: number;
  readonly result: 'proved' | 'refuted' | 'undecided';
  /** Why the claim is undecided, or how the refuting request is decided; null when the claim is proved. */
  readonly why: string | null;
  /** The request that refutes the claim, in the form that `writ decide` takes. */
  readonly request: object | null;
}

export interface TestsView {
  readonly files: readonly TestFileView[];
  /** The coverage of all files that were run; files of rules are paths in the set. */
  readonly coverage: readonly RuleCoverage[];
}

export interface TestFileView {
  readonly path: string;
  /** Whether the test file or its policies have errors; then no case was run. */
  readonly isBroken: boolean;
  readonly cases: readonly TestCaseView[];
  readonly diagnostics: readonly CaseDiagnostic[];
}

export interface TestCaseView extends Pick<CaseResult, 'name' | 'outcome'> {
  /** The offset at which the case begins. */
  readonly start: number;
  /** How the result differs from the expected one. */
  readonly text: string;
  /** Whether the case fails, and could pass if the policies let more pass. */
  readonly expectsMilder: boolean;
}

/** A diagnostic of a test file; a failing case has a code of its own. */
export type CaseDiagnostic = Omit<Diagnostic, 'code'> & { readonly code: string };

export interface ChangesView {
  /** Findings of `writ diff`, with paths in the set; lines and columns count from 1. */
  readonly findings: readonly Finding[];
  /** Why nothing was compared; null when the comparison was made. */
  readonly failure: string | null;
}

export interface SuggestionView {
  /** The files that change, with paths in the set; empty when nothing is suggested. */
  readonly files: readonly ChangedFile[];
  /** Why nothing is suggested; null when something is. */
  readonly failure: string | null;
}

/** The decision of a request, step by step. */
export interface DecisionStepsView {
  /** The steps; null when the policies have errors or the request cannot be read. */
  readonly steps: readonly DecisionStep[] | null;
  /** What is wrong with the request. */
  readonly issues: readonly RequestIssue[];
}

export interface ThreadRequest<Q extends ThreadQuestion = ThreadQuestion> {
  readonly question: Q;
  readonly input: ThreadInputs[Q];
}

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: ThreadAnswers[ThreadQuestion] }
  /** An error inside Writ. */
  | { readonly kind: 'mistake'; readonly text: string };
