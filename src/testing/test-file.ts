// A test file once it is understood: the situations to decide by a policy set, and the expectation of each.
// Plain data, with defaults, tests and cases already merged.

import type { Diagnostic } from '../language/diagnostic/diagnostic.ts';
import type { Span } from '../language/diagnostic/span.ts';
import type { Outcome } from '../language/model/decision.ts';
import type { JsonObject } from '../language/model/json.ts';
import type { AgentFacts, RequestFacts } from '../language/model/request.ts';
import type { StandingValue } from '../language/model/rule-requirement.ts';
import type { Decimal } from '../language/value/decimal.ts';

export interface TestFile {
  /** The path under which the file was named. */
  readonly path: string;
  readonly text: string;
  /** Files and directories of the policies under test, resolved. */
  readonly policies: readonly string[];
  readonly cases: readonly TestCase[];
  /**
   * Not empty when the file is malformed; `cases` then holds the cases that could be understood, which must
   * not count.
   */
  readonly diagnostics: readonly Diagnostic[];
}

export interface TestCase {
  /** Such as `boundaries #2 (set payload.amount=1000.01)`. */
  readonly name: string;
  readonly span: Span;
  readonly situation: Situation;
  readonly expectation: Expectation;
  /** The requests before this one in its sequence, in order; null outside of a sequence. */
  readonly before: readonly PastRequest[] | null;
  /** The answer of people to the request; null when nobody has answered, and outside of a sequence. */
  readonly answer: ApprovalAnswer | null;
}

export interface PastRequest {
  readonly situation: Situation;
  readonly answer: ApprovalAnswer | null;
  /** What the call returned, reported at once; null when nothing was reported. */
  readonly result: GivenResult | null;
}

export interface GivenResult {
  readonly json: JsonObject;
  readonly span: Span;
}

export const approvalAnswers = ['approved', 'rejected', 'standing'] as const;
export type ApprovalAnswer =
  | { readonly kind: Exclude<(typeof approvalAnswers)[number], 'standing'> }
  | StandingAnswer;

/** An approval that also serves later requests; null takes the most that the rule allows. */
export interface StandingAnswer {
  readonly kind: 'standing';
  readonly seconds: number | null;
  readonly times: number | null;
  readonly span: Span;
}

/** Facts that only a policy set is needed to complete: the currency of meters comes from the set. */
export interface Situation {
  readonly action: string;
  readonly payload: JsonObject;
  readonly agent: AgentFacts;
  readonly request: RequestFacts;
  readonly nowMs: number;
  readonly meters: readonly GivenReading[];
  /** Rows of pushed tables. */
  readonly tables: readonly GivenRow[];
  readonly satisfied: readonly GivenSatisfaction[];
  readonly standing: readonly GivenStanding[];
}

export interface GivenReading {
  readonly meter: string;
  readonly low: Amount;
  readonly high: Amount;
  readonly span: Span;
}

export interface GivenRow {
  readonly table: string;
  readonly key: string;
  readonly row: JsonObject;
  readonly span: Span;
}

export interface Amount {
  readonly amount: Decimal;
  /** ISO 4217; null for a plain number. */
  readonly currency: string | null;
}

export interface GivenSatisfaction {
  readonly kind: 'escalate' | 'reauth';
  readonly rule: string;
  readonly span: Span;
}

/** A standing approval that a case gives; it satisfies its rule if it covers the request. */
export interface GivenStanding {
  readonly rule: string;
  /** The values of its keys, sorted by key. */
  readonly keys: ReadonlyMap<string, StandingValue>;
  /** When it ends; null when it does not end before the request. */
  readonly untilMs: number | null;
  readonly span: Span;
}

/** Fields that are null are not compared. */
export interface Expectation {
  readonly decision: Outcome | null;
  /** The outcome that the decision must not have. */
  readonly not: Outcome | null;
  readonly by: string | null;
  readonly matchedPolicy: string | null;
  readonly risk: number | null;
  readonly reason: string | RegExp | null;
  /** Compared as a set. */
  readonly rules: readonly string[] | null;
  readonly requires: ExpectedRequirements | null;
  /** How long an ALLOW holds, in seconds. */
  readonly validForSeconds: number | null;
}

export interface ExpectedRequirements {
  /** All groups that must approve, in any order. */
  readonly escalate: readonly ExpectedApproval[] | null;
  /** `none`, `this request`, or the time within which a step-up counts, in seconds. */
  readonly reauth: 'none' | 'this request' | number | null;
}

export interface ExpectedApproval {
  readonly group: string;
  readonly needs: number | null;
  readonly withinSeconds: number | null;
  /** Fields that name who may not approve, in any order. */
  readonly except: readonly string[] | null;
  /** The groups and people who may approve, in any order; empty for an approver who is not known. */
  readonly anyOf: readonly string[] | null;
  /** Who may approve as well later, in order; empty for nobody. */
  readonly fallbacks: readonly ExpectedFallback[] | null;
}

export interface ExpectedFallback {
  readonly afterSeconds: number | null;
  /** As in `ExpectedApproval`. */
  readonly anyOf: readonly string[] | null;
}
