// A policy set as functions, and the active set: what the request path needs, independent of what compiled
// it.

import type { ChatLimits } from './approvers.ts';
import type { Decision, PayloadIssue } from './decision.ts';
import type { Json, JsonObject } from './json.ts';
import type { MeterDefinition, MeterUse } from './metering.ts';
import type { Possibility } from './possibility.ts';
import type { PushedTable } from './pushed-row.ts';
import type { AgentFacts, Facts } from './request.ts';
import type { RuleRequirement } from './rule-requirement.ts';
import type { Title } from './title.ts';
import type { TracedDecision, TracedRule } from './trace.ts';
import type { Shape } from './type.ts';

export interface PolicyEngine {
  /** Makes the whole decision: gate, payload check, rules, combining. */
  readonly decide: (facts: Facts) => Decision;
  /**
   * As `decide`, with the result of every rule of the action; the payload is checked and the rules are
   * evaluated once.
   */
  readonly decideTraced: (facts: Facts) => TracedDecision;
  /**
   * As `decideTraced`, for the payload of a record, in which digests replace secrets; no rule can read
   * secrets.
   */
  readonly decideRecorded: (facts: Facts) => TracedDecision;
  /** Evaluates the rules alone. */
  readonly trace: (facts: Facts) => readonly TracedRule[];
  /**
   * What the request adds to meters, and the meters that its rules read; empty when the gate refuses the
   * request.
   */
  readonly entries: (facts: Facts) => readonly MeterUse[];
  /** As `entries`, for a record; null when its payload no longer has the action's shape. */
  readonly entriesRecorded: (facts: Facts) => readonly MeterUse[] | null;
  /** Every meter that some action counts or reads; each definition once, by id. */
  readonly meters: readonly MeterDefinition[];
  /** The shape of an action's payload; null when the action is not declared. */
  readonly shapeOf: (action: string) => Shape | null;
  /** The shape of what an action's calls return; null when the action declares no result. */
  readonly resultShapeOf: (action: string) => Shape | null;
  /** The places where a result does not have the declared shape; null when the action declares no result. */
  readonly checkResult: (action: string, result: Json) => readonly PayloadIssue[] | null;
  /** The places where a payload does not have the action's shape; null when the action is not declared. */
  readonly checkPayload: (action: string, payload: Json) => readonly PayloadIssue[] | null;
  /** Checks a row for a pushed table; null when no rule reads such a table. */
  readonly checkRow: (table: string, key: string, row: JsonObject) => CheckedRow | null;
  /** The pushed tables that some rule reads, by name. */
  readonly pushedTables: () => ReadonlyMap<string, PushedTable>;
  /** Whether rules of the action read rows of pushed tables. */
  readonly readsPushed: (action: string) => boolean;
  /** Keys of the declared actions, sorted. */
  readonly actions: () => Iterable<string>;
  /**
   * What the agent can get for an action, by the facts about the agent alone; null when the action is not
   * declared.
   */
  readonly possibility: (action: string, agent: AgentFacts) => Possibility | null;
}

/** `key` is in canonical form. `issues` point into the row; its key is addressed as one of the columns. */
export type CheckedRow =
  | { readonly kind: 'fit'; readonly key: string }
  | { readonly kind: 'unfit'; readonly issues: readonly PayloadIssue[] };

/**
 * The policy set that decides now. A request takes it once, so that no request is decided by parts of two
 * sets.
 */
export interface ActivePolicies extends PolicyEngine {
  /** The enforced rules that require something of people, by rule id. */
  readonly asks: () => ReadonlyMap<string, RuleRequirement>;
  /** By approval group, up to which risk it may decide by chat. */
  readonly chatLimits: () => ChatLimits;
  /** The title of an action, which says what a request is about; null when the action declares none. */
  readonly titleOf: (action: string) => Title | null;
  /** The digest that names the set in every record: SHA-256 in hexadecimal. */
  readonly digest: string;
  /** The git commit of the policy directory; null outside a repository. */
  readonly commit: string | null;
}
