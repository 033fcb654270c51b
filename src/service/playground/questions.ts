// What may be asked of the playground, and what it answers: plain data, which goes from thread to thread as it is.

import type { Vocabulary } from '../../language/assist/vocabulary.ts';
import type { Outcome } from '../../language/model/decision.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { AgentFacts, Satisfied, UserFacts } from '../../language/model/request.ts';
import type { TracedRule, Truth } from '../../language/model/trace.ts';
import type { DiffReport } from '../../reasoning/diff/report.ts';
import type { SentenceChange } from '../../reasoning/summary/changes.ts';
import type { SentenceKind } from '../../reasoning/summary/sentences.ts';
import type { SetTexts } from '../policies/texts.ts';
import type { ConditionLine } from './condition-lines.ts';
import type { RecordedRequest } from './recorded.ts';

/** Each question with what it needs. */
export interface PlaygroundAsk {
  readonly try: {
    /** Laid over the active policies. */
    readonly files: readonly TextFile[];
    /** Null where only the policies are looked at. */
    readonly request: { readonly given: GivenRequest } | { readonly recorded: RecordedRequest } | null;
  };
  readonly compare: { readonly files: readonly TextFile[] };
  readonly 'compare sets': { readonly old: SetTexts; readonly new: SetTexts };
  /** `actions`: those of which it is asked what is said otherwise. */
  readonly 'changed sentences': {
    readonly old: SetTexts;
    readonly new: SetTexts;
    readonly actions: readonly string[];
  };
  readonly outline: TextFile;
  /** `after`: the action behind which it goes on; null begins. */
  readonly summary: { readonly after: string | null };
  readonly vocabulary: null;
  /** A request that the active policies escalate. */
  readonly 'first request': null;
  readonly explain: RecordedRequest;
  /** The smallest change of the payload under which a refused request is granted. */
  readonly 'what passes': RecordedRequest;
}

export interface PlaygroundAnswers {
  readonly try: Tried;
  readonly compare: Compared;
  readonly 'compare sets': ComparedSets;
  readonly 'changed sentences': SaidChanges;
  readonly outline: readonly PolicyOutline[];
  readonly summary: SummaryPart;
  readonly vocabulary: Vocabulary;
  /** Null where none is found. */
  readonly 'first request': GivenRequest | null;
  readonly explain: ExplainedRecord;
  /** Null where there is none. */
  readonly 'what passes': string | null;
}

export type Question = keyof PlaygroundAsk;

export interface TextFile {
  /** Relative to the policy directory, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A request as a person writes it. What is left out is unknown to the policies, but for the time, which is now. */
export interface GivenRequest {
  readonly action_key: string;
  readonly payload: JsonObject;
  readonly agent?: AgentFacts;
  /** RFC 3339. */
  readonly at?: string;
  readonly session?: string;
  /** Name of the enforcement point. */
  readonly point?: string;
  readonly address?: string;
  readonly signed?: boolean;
  readonly user?: UserFacts;
  /** Readings by name: `10`, `"100 USD"`. */
  readonly meters?: JsonObject;
  /** Rows of pushed tables, by table and key; there are no others where it is given. */
  readonly tables?: JsonObject;
}

export interface Tried {
  readonly diagnostics: readonly PlacedDiagnostic[];
  /** What is wrong with the request. */
  readonly issues: readonly RequestIssue[];
  /** Places of the payload where a digest stands for a secret. */
  readonly digested: readonly string[];
  /** Null where the policies have errors or the request could not be understood. */
  readonly decision: TriedDecision | null;
  /** In the order of the files; null where the policies have errors, or too many rules to be proved beside typing. */
  readonly guarantees: readonly TriedClaim[] | null;
}

/** The active policies, and the set with files laid over it. */
export interface Compared {
  /** Of the files laid over. */
  readonly diagnostics: readonly PlacedDiagnostic[];
  /** Null where the policies have errors. */
  readonly comparison: DiffReport | null;
  /** The example of each finding, as it can be tried; null where it has none, or a reading has a part that waits. */
  readonly requests: readonly (GivenRequest | null)[];
}

/** Two sets, of which either may have been written for another version of the language. */
export interface ComparedSets extends Compared {
  /** The side whose diagnostics these are, as it has errors. */
  readonly failed: 'old' | 'new' | null;
}

/** Plain sentences of some actions. */
export interface SummaryPart {
  readonly actions: readonly {
    /** Keys of which the same is said. */
    readonly actions: readonly string[];
    readonly title: string | null;
    readonly sentences: readonly (LinePlace & {
      readonly kind: SentenceKind;
      readonly text: string;
      /** `policy/rule`; null for what no rule says. */
      readonly rule: string | null;
      /** Why it is not confirmed; null where it is proved. */
      readonly why_not: string | null;
    })[];
  }[];
  /** What the names in them stand for. */
  readonly words: readonly (LinePlace & { readonly name: string; readonly text: string })[];
  /** The action behind which it goes on; null at the end. */
  readonly next: string | null;
}

interface LinePlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** The sentences that one set says and another does not. */
export interface SaidChanges {
  readonly items: readonly SentenceChange[];
  /** Whether all actions were looked at that were asked for, in two sets without errors. */
  readonly is_whole: boolean;
}

/** One claim of a guarantee, about all requests. */
export interface TriedClaim extends TextPlace {
  readonly guarantee: string;
  /** As it is written. */
  readonly claim: string;
  readonly file: string;
  readonly result: 'proved' | 'refuted' | 'undecided';
  /** Of an undecided claim. */
  readonly why: string | null;
  /** Of a refuted claim. */
  readonly refuted_by: {
    readonly decision: Outcome;
    /** `policy/rule`, or the gate. */
    readonly by: string;
    /** Rules whose requirements have been met before that, such as by votes. */
    readonly satisfied: Satisfied;
    /** Null where a reading has a part that waits, which no request can be written with. */
    readonly request: GivenRequest | null;
  } | null;
}

/** Lines and columns count from 1, columns in code points; 1 where the file has no text. */
export interface PlacedDiagnostic extends TextPlace {
  readonly file: string;
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly help: string | null;
  readonly fix?: {
    readonly title: string;
    readonly edits: readonly (TextPlace & { readonly file: string; readonly text: string })[];
  };
}

export interface TextPlace {
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
  /** `policy/rule`; null where a gate decided. */
  readonly rule: string | null;
  /** 0 to 100. */
  readonly risk_score: number;
  /** How the request would stand. */
  readonly status: 'auto_approved' | 'rejected' | 'pending';
  readonly message: string;
  readonly requires: {
    readonly approvals: readonly { readonly group: string; readonly needs: number; readonly given: number }[];
    readonly step_up: boolean;
    readonly fell_away: readonly never[];
  } | null;
  readonly trace: readonly TracedRule[];
  /** How many more rules the action has, none of which took part. */
  readonly trace_others: number;
  /** The smallest change that would have changed it. */
  readonly change: string | null;
}

export interface PolicyOutline {
  readonly name: string;
  readonly line: number;
  readonly doc: string | null;
  readonly rules: readonly { readonly id: string; readonly line: number; readonly end_line: number }[];
}

export interface ExplainedRecord {
  /** What these policies make of it. */
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
  /** Of each rule of the action; none where a gate refuses. */
  readonly conditions: readonly ExplainedCondition[];
}

export interface ExplainedCondition {
  /** `policy/rule`. */
  readonly rule: string;
  readonly truth: Truth;
  readonly lines: readonly ConditionLine[];
}

export type ToPlayground =
  /** Of the active policies, which are compiled before anything is asked. */
  { readonly kind: 'take'; readonly texts: SetTexts } | AskPlayground;

export interface AskPlayground<Q extends Question = Question> {
  readonly kind: 'ask';
  readonly question: Q;
  readonly asked: PlaygroundAsk[Q];
}

export type FromPlayground =
  /** Its code is loaded, or what it took is compiled. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: PlaygroundAnswers[Question] }
  /** A mistake of ours, after which the thread has nothing. */
  | { readonly kind: 'mistake'; readonly text: string };
