// A policy set as functions, and the one that is active: what the request path needs of it, whatever compiled it.

import type { AskedRule } from './asked.ts';
import type { Decision, PayloadIssue } from './decision.ts';
import type { Json, JsonObject } from './json.ts';
import type { MeterDefinition, MeterUse } from './metering.ts';
import type { Possibility } from './possibility.ts';
import type { Pushed } from './pushed-row.ts';
import type { AgentFacts, Facts } from './request.ts';
import type { Title } from './title.ts';
import type { TracedDecision, TracedRule } from './trace.ts';
import type { Shape } from './type.ts';

export interface PolicyEngine {
  /** The whole decision: gate, payload check, rules, combining. */
  readonly decide: (facts: Facts) => Decision;
  /** As `decide`, with every rule of the action as it turned out; the payload is checked and the rules are evaluated once. */
  readonly decideTraced: (facts: Facts) => TracedDecision;
  /** As `decideTraced`, for a payload out of a record, where digests stand for secrets; no rule can read those. */
  readonly decideRecorded: (facts: Facts) => TracedDecision;
  /** The rules alone. */
  readonly trace: (facts: Facts) => readonly TracedRule[];
  /** What the request adds to meters and reads of them; nothing where the gate refuses it. */
  readonly entries: (facts: Facts) => readonly MeterUse[];
  /** As `entries`, of a record; null where its payload is not of the action's shape any more. */
  readonly entriesRecorded: (facts: Facts) => readonly MeterUse[] | null;
  /** Every meter that some action counts or reads, each definition once, by id. */
  readonly meters: readonly MeterDefinition[];
  /** What an action's payload may hold; null where the action is not declared. */
  readonly shapeOf: (action: string) => Shape | null;
  /** What is not of the shape of what a call returns; null where the action does not declare it. */
  readonly checkResult: (action: string, result: Json) => readonly PayloadIssue[] | null;
  /** What is not of the action's shape; null where the action is not declared. */
  readonly checkPayload: (action: string, payload: Json) => readonly PayloadIssue[] | null;
  /** A row for a table whose rows are pushed; null where no rule reads such a table. */
  readonly checkRow: (table: string, key: string, row: JsonObject) => CheckedRow | null;
  /** Tables that some rule reads and whose rows are pushed, by name. */
  readonly pushedTables: () => ReadonlyMap<string, Pushed>;
  /** Whether rules of the action read rows that are pushed. */
  readonly readsPushed: (action: string) => boolean;
  /** Keys of the declared actions, sorted. */
  readonly actions: () => Iterable<string>;
  /** What the agent may hope for, by what is known of the agent alone; null where the action is not declared. */
  readonly possibility: (action: string, agent: AgentFacts) => Possibility | null;
}

/** `key` in canonical form; `issues` point into the row, and name its key as the column that it is. */
export type CheckedRow =
  | { readonly kind: 'fit'; readonly key: string }
  | { readonly kind: 'unfit'; readonly issues: readonly PayloadIssue[] };

/** The policy set that decides now. Taken once per request, so that no request is decided by half of two sets. */
export interface ActivePolicies extends PolicyEngine {
  /** By id, the enforced rules that ask something of people. */
  readonly asks: () => ReadonlyMap<string, AskedRule>;
  /** What a request of the action is about; null where the action has no title. */
  readonly titleOf: (action: string) => Title | null;
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
  /** The git commit of the policy directory; null outside a repository. */
  readonly commit: string | null;
}
