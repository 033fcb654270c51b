// A policy set by its meaning: names resolved, sorted by name, independent of the order of files and lines.

import type { Span } from '../diagnostic/span.ts';
import type { Hours } from '../value/hours.ts';
import type { MeterWindow } from '../value/meter-window.ts';
import type { TableRows } from '../value/table/rows.ts';
import type { Expression, FieldRead } from './expression.ts';
import type { Title } from './title.ts';
import type { Shape, Type } from './type.ts';
import type { Value } from './value.ts';

export interface PolicySet {
  /** Actions by key. */
  readonly actions: ReadonlyMap<string, Action>;
  readonly lists: ReadonlyMap<string, List>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly hours: ReadonlyMap<string, Hours>;
  /** Lets by id: a let has one entry for each distinct expression that its uses resolve to. */
  readonly lets: ReadonlyMap<string, Let>;
  readonly meters: ReadonlyMap<string, Meter>;
  readonly approvers: ReadonlyMap<string, Approvers>;
  /** Sorted by the code points of the names. */
  readonly policies: readonly Policy[];
  readonly guarantees: readonly Guarantee[];
}

export interface Action {
  readonly key: string;
  readonly groups: readonly string[];
  readonly shape: Shape;
  /** The shape of what a call returns; null when the action does not declare it. */
  readonly result: Shape | null;
  /** The declared title; when null, the first short fields of the payload say what a request is about. */
  readonly title: Title | null;
  readonly doc: string | null;
  readonly span: Span;
}

export interface List {
  readonly name: string;
  readonly type: Type;
  readonly ignoringCase: boolean;
  /** Entries as written: texts of a list that ignores case are not folded yet. */
  readonly entries: readonly Value[];
}

export interface Table {
  readonly name: string;
  /** Text of some kind, or whole numbers; a row is found by the text of its key. */
  readonly key: Type;
  /**
   * Columns in the order of their names, which is the order of the cells in a row. A single column without a
   * name when a row is one value.
   */
  readonly columns: readonly Column[];
  /** The rows; null when they are pushed, because they are then facts of a request. */
  readonly rows: TableRows | null;
  /** How rows are pushed; null when a file or the policy itself holds the rows. */
  readonly pushed: PushedTable | null;
}

/** How rows reach a table while the service runs. */
export interface PushedTable {
  /** The shape of a row without its key. */
  readonly shape: Shape;
  /** The declared name of the column by which rows are found. */
  readonly keyName: string;
  /**
   * Sorted names of the enforcement points that may push rows. People may change rows without being named.
   */
  readonly by: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly type: Type;
}

export interface Let {
  readonly id: string;
  readonly name: string;
  readonly expression: Expression;
}

export interface Meter {
  readonly name: string;
  readonly aggregate: 'sum' | 'count' | 'distinct';
  /** The expression that is summed or counted; null for `count`. */
  readonly argument: Expression | null;
  /**
   * For a sum of money the currency (ISO 4217), or the field of `per` that names it; null for other meters.
   */
  readonly currency: string | FieldRead | null;
  /** Sorted keys of the actions that the meter counts. */
  readonly actions: readonly string[];
  readonly when: Expression | null;
  /** Sorted keys of the actions whose grants restart the meter; it counts none of them. */
  readonly since: readonly string[];
  readonly per: readonly MeterKey[];
  readonly over: MeterWindow;
  /** Whether entries depend on what calls return. A request is then not counted in its own reading. */
  readonly readsResult: boolean;
  /** The type of a reading: a number or money. */
  readonly type: Type;
}

export type MeterKey =
  | { readonly kind: 'agent' | 'owner' | 'session' | 'user' | 'delegate' }
  | { readonly kind: 'payload'; readonly read: FieldRead };

export interface Approvers {
  readonly name: string;
  readonly title: string;
  /** Up to which risk of a request the group may decide by chat; null for never. */
  readonly chat: ChatLimit | null;
}

/** The highest risk that a request can have. */
export const riskMax = 100;

export interface ChatLimit {
  /** A whole number from 0 to `riskMax`. */
  readonly maxRisk: number;
}

export interface Policy {
  readonly name: string;
  /** Sorted keys of the policy's actions. */
  readonly actions: readonly string[];
  readonly owner: string | null;
  readonly tags: readonly string[];
  readonly links: readonly string[];
  readonly doc: string | null;
  /** Rules sorted by name. */
  readonly rules: readonly Rule[];
  readonly span: Span;
}

export function countRules(policies: readonly Pick<Policy, 'rules'>[]): number {
  return policies.reduce((count, { rules }) => count + rules.length, 0);
}

export type Effect = 'allow' | 'deny' | 'escalate' | 'reauth' | 'risk';

/** Whether the rule is a guard: `deny`, `escalate` or `reauth`. */
export function isGuard({ effect }: Pick<Rule, 'effect'>): boolean {
  return effect === 'deny' || effect === 'escalate' || effect === 'reauth';
}

/**
 * Whether the rule refuses every request and says why. Actions that only such a rule is about are refused on
 * purpose.
 */
export function isRefusalWithReason({ effect, condition, reason }: Rule): boolean {
  return effect === 'deny' && reason !== null && condition.kind === 'literal' && condition.value === true;
}

/**
 * Whether the rule takes part in a decision even when its condition is unknown: a guard, or a rule with
 * points.
 */
export function takesPartUnknown(rule: Pick<Rule, 'effect' | 'points'>): boolean {
  return rule.points !== 0 || isGuard(rule);
}

export interface Rule {
  /** The policy and the name of the rule: `policy/rule`. */
  readonly id: string;
  readonly policy: string;
  readonly name: string;
  readonly effect: Effect;
  /** Whether the rule is evaluated and recorded but never enforced, by its own mark or its policy's. */
  readonly isShadow: boolean;
  /**
   * The policy's `when`, the rule's `when` and not its `unless`, joined; a true literal when none is written.
   */
  readonly condition: Expression;
  /** For a rule with a requirement, the condition as text, to which approvals are bound; else empty. */
  readonly conditionText: string;
  /** Contribution to risk while the rule is true; 0 when the rule has none. */
  readonly points: number;
  /** Whether the condition reads `risk`, directly or through a let; such a rule contributes none. */
  readonly readsRisk: boolean;
  /** When null, the rule's name in words is the reason. */
  readonly reason: Template | null;
  /** Seconds of an `allow ... for`; null when not given. */
  readonly validForSeconds: number | null;
  /** What `escalate`, `reauth` and `allow ... after` require; null for other rules. */
  readonly requirement: Requirement | null;
  readonly doc: string | null;
  readonly span: Span;
}

/** A requirement whose expressions are of type `Value`. */
export type Requirement<Value = Expression> =
  | {
      readonly kind: 'approval';
      /** Sorted: groups, and texts of choices, each of which must approve. */
      readonly groups: readonly string[];
      /** The entries of `groups` that are not one declared group, sorted; absent when there are none. */
      readonly choices?: readonly Choice<Value>[];
      /** The number of people who must approve, in each group. */
      readonly needs: number;
      /** Sorted fields that name people who may not approve, as written, such as `payload.asked_by.id`. */
      readonly except: readonly string[];
      readonly withinSeconds: number;
      /** What later requests an approval may serve; absent when it serves its own request only. */
      readonly standing?: StandingScope;
    }
  /** When `withinSeconds` is null, the step-up is for this very request. */
  | { readonly kind: 'reauth'; readonly withinSeconds: number | null };

/** The widest scope of a standing approval; the agent is always part of it. */
export interface StandingScope {
  /** Sorted: `session`, `user`, and payload fields as written. A later request has equal, known values. */
  readonly per: readonly string[];
  readonly seconds: number;
  /** How many later requests it may serve; null for any number. */
  readonly times: number | null;
}

/** Whether a scope covers nothing that the other does not cover; no scope covers nothing. */
export function isStandingWithin(
  scope: StandingScope | undefined,
  other: StandingScope | undefined,
): boolean {
  if (scope === undefined) return true;
  if (other === undefined) return false;
  const isCounted = other.times === null || (scope.times !== null && scope.times <= other.times);
  return isCounted && scope.seconds <= other.seconds && other.per.every((key) => scope.per.includes(key));
}

/** Approvers of whom any may approve: several, one that the data of a request name, or one with fallbacks. */
export interface Choice<Value = Expression> {
  /** As written, sorted, such as `cfo or finance`, `staff[payload.employee].manager` and `finance then security`. */
  readonly text: string;
  readonly anyOf: readonly Approver<Value>[];
  /** In the order in which they are asked; absent when there are none. */
  readonly fallbacks?: readonly Fallback<Value>[];
}

/** Approvers who may approve as well once a request has been pending for so long. */
export interface Fallback<Value = Expression> {
  readonly afterSeconds: number;
  readonly anyOf: readonly Approver<Value>[];
}

export type Approver<Value = Expression> =
  | { readonly kind: 'group'; readonly group: string }
  | NamedApprover<Value>;

/** A person, or a group, that an expression names. */
export interface NamedApprover<Value = Expression> {
  readonly kind: 'named';
  /** The expression as written. */
  readonly text: string;
  /** The sorted groups that the expression may name; null when it names a person, by address or id. */
  readonly groups: readonly string[] | null;
  readonly value: Value;
  /** Why the value is unknown, if it is. */
  readonly missing: readonly (string | Value)[];
}

/** Texts and the values between them, in order. */
export type Template = readonly (string | Expression)[];

export interface Guarantee {
  readonly name: string;
  readonly actions: readonly string[];
  readonly claims: readonly GuaranteeClause[];
  readonly span: Span;
}

/** A claim about every request for which its condition is not false. */
export type GuaranteeClause = (OutcomeClause | AskClause | NeverStandingClause) & {
  readonly when: Expression | null;
  /**
   * Whether the claim covers only requests for which its condition is true. Policies cannot write this;
   * summaries set it.
   */
  readonly isDefinite?: boolean;
  readonly span: Span;
};

export interface OutcomeClause {
  readonly mode: 'never' | 'always';
  readonly effect: 'allow' | 'deny' | 'escalate' | 'reauth';
  /** Whether the claim is about requests for which no requirement of a rule has been met. */
  readonly isUnapproved: boolean;
}

/** Claims that no approval that a request waits for may stand for later requests. */
export interface NeverStandingClause {
  readonly mode: 'never';
  readonly effect: 'standing';
  readonly isUnapproved: true;
}

/**
 * Claims that a request for which no requirement has been met waits, or never waits, for at least `needs`
 * people of `group`.
 */
export interface AskClause {
  readonly mode: 'never' | 'always';
  readonly effect: 'ask';
  readonly isUnapproved: true;
  /** A group, or the text of a choice. */
  readonly group: string;
  /** The approvers of the choice, as written; absent for a group. */
  readonly anyOf?: readonly string[];
  readonly needs: number;
}
