// The questions and answers of the playground: plain data, which is sent between threads.

import type { Vocabulary } from '../language/assist/vocabulary.ts';
import type { Outcome } from '../language/model/decision.ts';
import type { JsonObject } from '../language/model/json.ts';
import type { AgentFacts, MetRequirements, UserFacts } from '../language/model/request.ts';
import type { TracedRule, Truth } from '../language/model/trace.ts';
import type { SentenceKind } from '../reasoning/summary/sentences.ts';
import type { SentenceChange } from '../reasoning/summary/summary-diff.ts';
import type { SetTexts } from '../service/policies/texts.ts';
import type { ConditionLine } from './condition-lines.ts';
import type { DiffReport } from './diff/diff-report.ts';
import type { ProposalAnswer, ProposalQuestion } from './judge-proposal.ts';
import type { RecordedRequest } from './records/recorded-request.ts';
import type { SuggestionReport } from './suggest/suggestion-report.ts';

/** Each question with its input. */
export interface PlaygroundInputs {
  readonly try: {
    /** Files that are laid over the active policies. */
    readonly files: readonly TextFile[];
    /** Null when only the policies are to be checked. */
    readonly request: { readonly given: GivenRequest } | { readonly recorded: RecordedRequest } | null;
  };
  readonly compare: { readonly files: readonly TextFile[] };
  readonly 'compare sets': { readonly old: SetTexts; readonly new: SetTexts };
  /** `actions`: the actions whose sentences are compared. */
  readonly 'changed sentences': {
    readonly old: SetTexts;
    readonly new: SetTexts;
    readonly actions: readonly string[];
  };
  readonly outline: TextFile;
  /** `after`: the action after which the summary continues; null for the beginning. */
  readonly summary: { readonly after: string | null };
  readonly vocabulary: null;
  /** Asks for a request that the active policies escalate. */
  readonly 'first request': null;
  readonly explain: RecordedRequest;
  /** Asks for the smallest change of the payload with which a refused request is granted. */
  readonly 'what passes': RecordedRequest;
  /** Asks for changes of the policies that would allow the request. */
  readonly suggest: RecordedRequest;
  /** Asks what a change of the active policies would mean. */
  readonly 'judge proposal': ProposalQuestion;
}

export interface PlaygroundAnswers {
  readonly try: TryResult;
  readonly compare: DiffResult;
  readonly 'compare sets': ComparedSets;
  readonly 'changed sentences': SentenceChanges;
  readonly outline: readonly PolicyOutline[];
  readonly summary: SummaryPart;
  readonly vocabulary: Vocabulary;
  /** Null when no such request is found. */
  readonly 'first request': GivenRequest | null;
  readonly explain: ExplainedRecord;
  /** Null when no such change is found. */
  readonly 'what passes': string | null;
  readonly suggest: SuggestionReport;
  readonly 'judge proposal': ProposalAnswer;
}

export type Question = keyof PlaygroundInputs;

export interface TextFile {
  /** Relative to the policy directory, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * A request as a person writes it. A fact that is left out is unknown to the policies; `at` left out is the
 * present time.
 */
export interface GivenRequest {
  readonly action_key: string;
  readonly payload: JsonObject;
  readonly agent?: AgentFacts;
  /** RFC 3339; the present time when absent. */
  readonly at?: string;
  readonly session?: string;
  /** Name of the enforcement point. */
  readonly point?: string;
  /** Names of delegations, the agent's own first; absent when the agent asks by itself. */
  readonly chain?: readonly string[];
  readonly address?: string;
  readonly signed?: boolean;
  readonly user?: UserFacts;
  /** Readings by meter name: `10`, `"100 USD"`. */
  readonly meters?: JsonObject;
  /** Rows of pushed tables, by table and key. If present, these are all rows that exist. */
  readonly tables?: JsonObject;
}

export interface TryResult {
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** What is wrong with the request. */
  readonly issues: readonly RequestIssue[];
  /** Pointers to values of the payload that are digests in place of secrets. */
  readonly digested: readonly string[];
  /** Null when the policies have errors or the request could not be understood. */
  readonly decision: TriedDecision | null;
  /**
   * In the order of the files; null when the policies have errors, or too many rules to be proved while
   * somebody types.
   */
  readonly guarantees: readonly TriedClause[] | null;
}

/** Compares the active policies with the set that has files laid over it. */
export interface DiffResult {
  /** Diagnostics of the files that are laid over. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** Null when the policies have errors. */
  readonly diff: DiffReport | null;
  /**
   * The example of each finding as it can be tried. Null for a finding without an example, or with a meter
   * reading that is a range because requests wait.
   */
  readonly requests: readonly (GivenRequest | null)[];
}

/** Compares two sets, either of which may have been written for another version of the language. */
export interface ComparedSets extends DiffResult {
  /** The side that has errors, to which the diagnostics belong; null when neither has. */
  readonly failed: 'old' | 'new' | null;
}

/** Plain sentences about some actions. */
export interface SummaryPart {
  readonly actions: readonly {
    /** Keys of actions that share these sentences. */
    readonly actions: readonly string[];
    readonly title: string | null;
    readonly sentences: readonly (FileLine & {
      readonly kind: SentenceKind;
      readonly text: string;
      /** `policy/rule`; null for a sentence that comes from no rule. */
      readonly rule: string | null;
      /** Why the sentence is not confirmed; null when it is proved. */
      readonly unproved_reason: string | null;
    })[];
  }[];
  /** What the names in the sentences mean. */
  readonly words: readonly (FileLine & { readonly name: string; readonly text: string })[];
  /** The action after which the summary continues; null at the end. */
  readonly next: string | null;
}

interface FileLine {
  readonly file: string;
  /** Line number, counted from 1. */
  readonly line: number;
}

/** The sentences that are true of only one of two sets. */
export interface SentenceChanges {
  readonly items: readonly SentenceChange[];
  /** Whether both sets compile and all actions that were asked for were compared. */
  readonly is_complete: boolean;
}

/** One claim of a guarantee, about all requests. */
export interface TriedClause extends LocatedText {
  readonly guarantee: string;
  /** The claim as it is written in the policy. */
  readonly clause: string;
  readonly file: string;
  readonly result: 'proved' | 'refuted' | 'undecided';
  /** Why the claim is undecided; null for other results. */
  readonly reason: string | null;
  /** The request that refutes the claim; null for other results. */
  readonly refuted_by: {
    readonly decision: Outcome;
    /** `policy/rule`, or the gate. */
    readonly by: string;
    /** Rules whose requirements are met before the decision, for example by votes. */
    readonly satisfied: MetRequirements;
    /** Null when a meter reading is a range because requests wait, which a written request cannot express. */
    readonly request: GivenRequest | null;
  } | null;
}

/** Lines and columns count from 1, columns in code points. Both are 1 for a file without text. */
export interface LocatedDiagnostic extends LocatedText {
  readonly file: string;
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly help: string | null;
  readonly fix?: {
    readonly title: string;
    readonly edits: readonly (LocatedText & { readonly file: string; readonly text: string })[];
  };
}

export interface LocatedText {
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  /** One past the last character. */
  readonly end_column: number;
}

export interface RequestIssue {
  /** RFC 6901, from the root of the request. */
  readonly pointer: string;
  readonly message: string;
  readonly help: string | null;
}

export interface TriedDecision {
  readonly decision: Outcome;
  readonly reason: string;
  readonly matched_policy: string;
  /** `policy/rule`; null when the gate decided. */
  readonly rule: string | null;
  /** 0 to 100. */
  readonly risk_score: number;
  /** The status that the request would have. */
  readonly status: 'auto_approved' | 'rejected' | 'pending';
  readonly message: string;
  readonly requires: {
    readonly approvals: readonly { readonly group: string; readonly needs: number; readonly given: number }[];
    readonly step_up: boolean;
    readonly invalidated: readonly never[];
  } | null;
  readonly trace: readonly TracedRule[];
  /** Number of further rules of the action, none of which took part. */
  readonly trace_omitted: number;
  /** The smallest change that would have changed the decision; null when none is found. */
  readonly change: string | null;
}

export interface PolicyOutline {
  readonly name: string;
  readonly line: number;
  readonly doc: string | null;
  readonly rules: readonly { readonly id: string; readonly line: number; readonly end_line: number }[];
}

export interface ExplainedRecord {
  /** The outcome by the active policies. */
  readonly decision: Outcome;
  readonly change: string | null;
  readonly rule: {
    readonly policy: string;
    readonly id: string;
    readonly file: string;
    readonly line: number;
    readonly end_line: number;
    readonly text: string;
  } | null;
  /** One condition for each rule of the action; empty when the gate refuses. */
  readonly conditions: readonly ExplainedCondition[];
}

export interface ExplainedCondition {
  /** `policy/rule`. */
  readonly rule: string;
  readonly truth: Truth;
  readonly lines: readonly ConditionLine[];
}

export type ToPlayground =
  /** Texts of the active policies, which are compiled before the first question. */
  { readonly kind: 'take'; readonly texts: SetTexts } | PlaygroundRequest;

export interface PlaygroundRequest<Q extends Question = Question> {
  readonly kind: 'ask';
  readonly question: Q;
  readonly input: PlaygroundInputs[Q];
}

export type FromPlayground =
  /** The thread's code is loaded, or the policies that it took are compiled. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: PlaygroundAnswers[Question] }
  /** A fault of Writ itself, after which the thread's workspace is empty. */
  | { readonly kind: 'mistake'; readonly text: string };
