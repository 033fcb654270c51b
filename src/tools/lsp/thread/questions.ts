// What the language server asks of its second thread, and what it is answered: plain data, which goes from thread to thread as
// it is. These are the questions that may take longer than a key may take to be typed.

import type { Diagnostic } from '../../../language/diagnostic/diagnostic.ts';
import type { SourceText } from '../../../language/diagnostic/span.ts';
import type { Finding } from '../../findings/findings.ts';
import type { RuleCoverage } from '../../testing/coverage.ts';
import type { CaseResult } from '../../testing/run.ts';

/** A policy set as the files have it, with what is not saved laid over them. */
export interface SetState {
  /** Absolute. */
  readonly root: string;
  /** By path relative to the root. */
  readonly open: readonly SourceText[];
}

export interface ThreadAsk {
  readonly claims: SetState;
  /** `only`: the one test file that is run, by its path in the set; null for all of them. */
  readonly tests: SetState & { readonly only: string | null };
  /** Since HEAD. */
  readonly changes: SetState;
}

export interface ThreadAnswers {
  /** Null where the set has errors. */
  readonly claims: readonly ShownClaim[] | null;
  readonly tests: ShownTests;
  readonly changes: ShownChanges;
}

export type ThreadQuestion = keyof ThreadAsk;

/** What `writ check` says of a claim. */
export interface ShownClaim {
  readonly file: string;
  readonly start: number;
  readonly result: 'proved' | 'refuted' | 'undecided';
  /** Why it is undecided, or how the request that refutes it is decided; null where it is proved. */
  readonly why: string | null;
  /** The request that refutes it, as `writ decide` takes it. */
  readonly request: object | null;
}

export interface ShownTests {
  readonly files: readonly ShownTestFile[];
  /** Of all files that were run; the files of rules are paths in the set. */
  readonly coverage: readonly RuleCoverage[];
}

export interface ShownTestFile {
  readonly path: string;
  /** Whether its policies have errors, or it has: then no case was run. */
  readonly isBroken: boolean;
  readonly cases: readonly ShownCase[];
  readonly diagnostics: readonly CaseDiagnostic[];
}

export interface ShownCase extends Pick<CaseResult, 'name' | 'outcome'> {
  /** Where it begins. */
  readonly start: number;
  /** What came out otherwise. */
  readonly text: string;
}

/** As a diagnostic; a case that fails has a code of its own. */
export type CaseDiagnostic = Omit<Diagnostic, 'code'> & { readonly code: string };

export interface ShownChanges {
  /** As `writ diff` has them, with paths in the set; lines and columns from 1. */
  readonly findings: readonly Finding[];
  /** Why nothing was compared; null where it was. */
  readonly failure: string | null;
}

export interface AskThread<Q extends ThreadQuestion = ThreadQuestion> {
  readonly question: Q;
  readonly asked: ThreadAsk[Q];
}

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: ThreadAnswers[ThreadQuestion] }
  /** A mistake of ours. */
  | { readonly kind: 'mistake'; readonly text: string };
