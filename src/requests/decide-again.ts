// A request that waits into what the policies of today make of it, on today's facts, with what people have given so far.
// It is one synchronous step, so that nothing changes between what is read and what is decided.

import { isControlOwner } from '../agents/control-owner.ts';
import type { ActivePolicies } from '../model/active-policies.ts';
import type { ApprovalRule, AskedRule } from '../model/asked.ts';
import { type Decision, defaultValidForSeconds } from '../model/decision.ts';
import { type Facts, nothingSatisfied, type Satisfied } from '../model/request.ts';
import { tracedRules } from '../model/trace.ts';
import type { AgentRow, RequestState } from '../store/records.ts';
import { agentFacts } from './agent-facts.ts';
import { type Approved, isSatisfied, requestDigest } from './binding.ts';
import { approvalSeconds, refusalHeldSeconds, stepUpSeconds } from './held.ts';
import { type LifeEvent, nextStatus } from './life.ts';
import type { Metering, MeterReadings } from './metering.ts';
import type { RequestRecord } from './record.ts';
import { type DecidedDetail, type Standing, stateOf } from './standing.ts';
import { freshReauths, type StepUp } from './step-up.ts';

export interface Today {
  readonly inForce: ActivePolicies;
  /** As the registry has it now. */
  readonly agent: AgentRow;
  /** The agent's last; null where there is none that counts. */
  readonly lastStepUp: StepUp | null;
  readonly nowMs: number;
  readonly metering: Pick<Metering, 'read'>;
}

export interface DecidedAgain extends DecidedDetail {
  /** What the rules that take part today ask. */
  readonly firing: readonly AskedRule[];
}

export function decideAgain(standing: Standing, today: Today): DecidedAgain {
  const { inForce } = today;
  const readings = readingsOf(standing, today);
  const facts: Facts = { ...factsOf(standing, today), meters: readings.known };
  const look = inForce.decideRecorded(facts);
  const firing = askedBy(look.decision, inForce);
  const satisfied = satisfiedOf(firing, standing, today);
  const isNothing = satisfied.escalate.length + satisfied.reauth.length === 0;
  const { decision, trace } = isNothing ? look : inForce.decideRecorded({ ...facts, satisfied });
  const policySet = { digest: inForce.digest, commit: inForce.commit };
  return { decision, trace: tracedRules(trace), satisfied, meters: readings.recorded, policySet, firing };
}

/** What the rules that take part in a decision ask of people. */
export function askedBy({ rules }: Decision, inForce: ActivePolicies): readonly AskedRule[] {
  const asks = inForce.asks();
  return rules.flatMap((id) => asks.get(id) ?? []);
}

export function isApprovalRule(rule: AskedRule): rule is ApprovalRule {
  return rule.kind === 'approval';
}

/** A request counts for whom it was made by, whoever the agent belongs to today. */
function readingsOf({ record }: Standing, { inForce, nowMs, metering }: Today): MeterReadings {
  const uses = inForce.entriesRecorded(recordedFacts(record)) ?? [];
  return metering.read(uses, { nowMs, requestId: record.id });
}

/** The facts on which entries in meters depend, as they were. */
export function recordedFacts({
  actionKey: action,
  payload,
  agent,
  request,
  createdAtMs,
}: RequestRecord): Facts {
  return { action, payload, agent, request, nowMs: createdAtMs, meters: {}, satisfied: nothingSatisfied };
}

function factsOf({ record }: Standing, { agent, nowMs }: Today): Facts {
  return {
    action: record.actionKey,
    payload: record.payload,
    agent: agentFacts(agent),
    request: record.request,
    nowMs,
    meters: {},
    satisfied: nothingSatisfied,
  };
}

function satisfiedOf(firing: readonly AskedRule[], standing: Standing, today: Today): Satisfied {
  const approved = approvedOf(standing, today.agent);
  const { createdAtMs } = standing.record;
  return {
    escalate: firing
      .filter(isApprovalRule)
      .filter((rule) => isSatisfied(rule, approved))
      .map(({ rule }) => rule),
    // For this very request, or by one that was fresh when the request was made, or came later.
    reauth: standing.isSteppedUp
      ? firing.filter(({ kind }) => kind === 'reauth').map(({ rule }) => rule)
      : freshReauths(firing, today.lastStepUp, createdAtMs),
  };
}

export function approvedOf({ record, words }: Standing, agent: AgentRow): Approved {
  // Then and now: neither may be the one who approves for themselves.
  const owners = [agent.controlOwner, record.agent.control_owner ?? ''];
  const isOwner: Approved['isOwner'] = (person) => owners.some((owner) => isControlOwner(person, owner));
  return { words, digest: requestDigest(record), isOwner };
}

/** How the request stands by a second decision. */
export function stateAgain(
  standing: Standing,
  event: LifeEvent,
  { decision, nowMs }: { readonly decision: Decision; readonly nowMs: number },
): RequestState {
  const status = nextStatus(standing.status, event, decision.outcome);
  if (status === null) throw new Error(`a request that is ${standing.status} cannot be decided again`);
  if (status === 'pending')
    return { ...stateOf(standing), expiresAtMs: deadlineOf(standing, decision, nowMs) };
  const heldSeconds =
    status === 'approved' ? (decision.validForSeconds ?? defaultValidForSeconds) : refusalHeldSeconds;
  return { status, decidedAtMs: nowMs, expiresAtMs: nowMs + heldSeconds * 1000 };
}

/**
 * Approvals are waited for from the beginning of the request, for the shortest time that any decision has allowed, and
 * a step-up for no longer than that either.
 */
function deadlineOf({ record, decisions, expiresAtMs }: Standing, decision: Decision, nowMs: number): number {
  const asking = [...decisions, decision].filter(({ requires }) => (requires?.approvals.length ?? 0) > 0);
  const lastMs = Math.min(...asking.map((one) => record.createdAtMs + approvalSeconds(one) * 1000));
  if (decision.outcome === 'ESCALATE') return lastMs;
  return Math.min(expiresAtMs, nowMs + stepUpSeconds * 1000, lastMs);
}
