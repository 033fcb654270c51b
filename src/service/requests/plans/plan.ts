// A plan: the steps of a task that an agent has told in advance, as a document. INVARIANT: a plan grants nothing. It
// holds no payload; a step that waits for people is a request of its own, which names the plan and its place in it. The
// record of a plan has each step as it was asked for, without secrets.

import { hash } from 'node:crypto';
import type { Outcome } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import { type Collection, createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { PlannedAmount } from './amounts.ts';

const planKind = 'plan';

/** The most steps of a plan. */
export const stepsMax = 50;
/** The most characters of the goal of a plan. */
export const goalLengthMax = 500;
/** How long a plan is kept after it was made, or after the last of its requests has ended. */
const keptMs = 30 * 24 * 3_600_000;

export interface Plan {
  readonly id: string;
  readonly createdAtMs: number;
  readonly agentId: string;
  /** The id of the enforcement point that sent the plan; absent when the agent sent it itself. */
  readonly pointId?: string;
  /** What the agent wants to reach; null when it has not said. */
  readonly goal: string | null;
  /** Whether the steps that need people were asked for; otherwise the plan only shows what would be decided. */
  readonly isSubmitted: boolean;
  readonly steps: readonly PlanStep[];
  /** When the last of its requests ends; null when it has none. */
  readonly untilMs: number | null;
  /** The idempotency key that stands for the plan; null when there is none any more. */
  readonly idempotency: PlanIdempotency | null;
}

export interface PlanStep {
  readonly actionKey: string;
  /** What the step is about, in one line; empty when nothing short describes it. */
  readonly title: string;
  /** The digest by which approvals are bound to the step. */
  readonly digest: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly matchedPolicy: string;
  /** 0 to 100. */
  readonly risk: number;
  readonly amounts: readonly PlannedAmount[];
  /** The request that waits for people; null when the step was not asked for. */
  readonly requestId: string | null;
}

export interface PlanIdempotency {
  /** Made of the agent and the key. */
  readonly name: string;
  /** Keyed digest of the raw body. */
  readonly bodyDigest: string;
  readonly keptUntilMs: number;
}

export function plansIn(documents: DocumentStore): Collection<Plan> {
  return createCollection<Plan>(documents, planKind, ({ agentId, createdAtMs, untilMs, idempotency }) => ({
    parent: agentId,
    endsAtMs: (untilMs ?? createdAtMs) + keptMs,
    ...(idempotency !== null && { name: idempotency.name }),
  }));
}

/** Returns the name under which a plan is found by its idempotency key. */
export function idempotencyName(agentId: string, key: string): string {
  return hash('sha256', `${agentId} ${key}`);
}

/** A plan as the record of its change shows it; `payloads` are those of its steps, with their secrets hidden. */
export function shownPlan({ goal, steps }: Plan, payloads: readonly JsonObject[]): CanonicalValue {
  return {
    goal,
    steps: steps.map(({ actionKey, title, digest, outcome, matchedPolicy, requestId }, at) => ({
      action: actionKey,
      title,
      payload: payloads[at] ?? null,
      digest,
      decision: outcome,
      policy: matchedPolicy,
      request: requestId,
    })),
  };
}
