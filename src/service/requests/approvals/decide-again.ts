// Decides a pending request by the active policies, on the present facts, with its votes and step-ups. The
// decision is one synchronous step, so nothing changes between reading and deciding.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import {
  type ApprovalRequirement,
  type Decision,
  defaultValidForSeconds,
} from '../../../language/model/decision.ts';
import { type Facts, type MetRequirements, nothingSatisfied } from '../../../language/model/request.ts';
import type { ApprovalRule, RuleRequirement } from '../../../language/model/rule-requirement.ts';
import { tracedRules } from '../../../language/model/trace.ts';
import { agentFacts } from '../../agents/agent-facts.ts';
import type { ChainDecider } from '../../agents/delegations/chain-decider.ts';
import type { AgentRow, LifecycleState } from '../../store/contract/records.ts';
import type { RowsRead } from '../../tables/read-rows.ts';
import type { Metering, MeterReadings } from '../metering/metering.ts';
import { withAskedFallbacks } from '../record/fallbacks.ts';
import {
  approvalSeconds,
  type LifecycleEvent,
  nextStatus,
  refusalValidSeconds,
  stepUpSeconds,
} from '../record/lifecycle.ts';
import type { RequestRecord } from '../record/record.ts';
import { type DecidedDetail, lifecycleOf, type RequestState } from '../record/request-state.ts';
import { satisfiedRules } from '../record/vote-scope.ts';
import { approvedOf } from './effective-votes.ts';
import { covers, type FoundStanding } from './find-standing.ts';
import { approvalsOf } from './rights.ts';
import { freshReauths, type StepUp } from './step-up.ts';

export interface DecisionContext {
  readonly active: ActivePolicies;
  readonly chains: Pick<ChainDecider, 'under'>;
  /** The agent as the registry holds it now. */
  readonly agent: AgentRow;
  /** The agent's last step-up; null when none counts. */
  readonly lastStepUp: StepUp | null;
  /** The standing approvals under which the request was recorded, those that have not ended. */
  readonly standing: readonly FoundStanding[];
  /** The pushed rows that rules read; null when no rule reads one. */
  readonly rows: RowsRead | null;
  readonly nowMs: number;
  readonly metering: Pick<Metering, 'read'>;
}

export interface RepeatedDecision extends DecidedDetail {
  /** What the decision would ask if nobody had approved, with the approvers that data name today. */
  readonly asking: readonly ApprovalRequirement[];
  /** What the rules that take part in today's decision ask of people. */
  readonly firing: readonly RuleRequirement[];
}

export function decideAgain(state: RequestState, context: DecisionContext): RepeatedDecision {
  const active = context.chains.under(context.active, state.record.chain ?? []);
  const readings = readingsOf(state, context);
  const facts: Facts = { ...factsOf(state, context), meters: readings.known };
  const decide = (given: Facts) => {
    const decided = active.decideRecorded(given);
    return { ...decided, decision: withAskedFallbacks(decided.decision, state) };
  };
  const firstPass = decide(facts);
  const firing = requirementsOf(firstPass.decision, active);
  const satisfied = satisfiedOf({ firing, decision: firstPass.decision }, state, context);
  const isNothing = satisfied.escalate.length + satisfied.reauth.length === 0;
  const { decision, trace } = isNothing ? firstPass : decide({ ...facts, satisfied });
  const policySet = { digest: active.digest, commit: active.commit };
  const again = {
    decision,
    trace: tracedRules(trace),
    ...(trace.form.others !== undefined && { others: trace.form.others }),
    satisfied,
    meters: readings.recorded,
    policySet,
    firing,
    asking: approvalsOf(firstPass.decision),
  };
  return context.rows === null ? again : { ...again, rows: context.rows.rows.given };
}

/** Returns what the rules that take part in a decision ask of people. */
export function requirementsOf({ rules }: Decision, active: ActivePolicies): readonly RuleRequirement[] {
  const asks = active.asks();
  return rules.flatMap((id) => asks.get(id) ?? []);
}

export function isApprovalRule(rule: RuleRequirement): rule is ApprovalRule {
  return rule.kind === 'approval';
}

/**
 * Reads the meters by the facts recorded with the request, so a later owner of the agent makes no difference.
 */
function readingsOf({ record }: RequestState, { active, nowMs, metering }: DecisionContext): MeterReadings {
  const uses = active.entriesRecorded(recordedFacts(record)) ?? [];
  return metering.read(uses, { nowMs, requestId: record.id });
}

/** The recorded facts that entries in meters depend on. */
export function recordedFacts({
  actionKey: action,
  payload,
  agent,
  request,
  createdAtMs,
  satisfied: { standing },
}: RequestRecord): Facts {
  const satisfied = standing === undefined ? nothingSatisfied : { ...nothingSatisfied, standing };
  return { action, payload, agent, request, nowMs: createdAtMs, meters: {}, satisfied };
}

function factsOf({ record }: RequestState, { agent, rows, nowMs }: DecisionContext): Facts {
  return {
    ...(rows && { rows: rows.rows }),
    action: record.actionKey,
    payload: record.payload,
    agent: agentFacts(agent),
    request: record.request,
    nowMs,
    meters: {},
    satisfied: nothingSatisfied,
  };
}

/** The rules whose approval or step-up the request has been given. */
export function satisfiedOf(
  { firing, decision }: { readonly firing: readonly RuleRequirement[]; readonly decision: Decision },
  state: RequestState,
  context: Pick<DecisionContext, 'agent' | 'lastStepUp' | 'standing' | 'nowMs'>,
): MetRequirements {
  const approved = { ...approvedOf(state, context.agent), approvals: approvalsOf(decision) };
  const { createdAtMs } = state.record;
  const byVotes = satisfiedRules(firing.filter(isApprovalRule), approved).map(({ rule }) => rule);
  const standing = standingOf({ firing, decision }, state, context).filter(
    ({ rule }) => !byVotes.includes(rule.rule),
  );
  return {
    escalate: [...byVotes, ...standing.map(({ rule }) => rule.rule)],
    ...(standing.length > 0 && {
      standing: Object.fromEntries(standing.map(({ id, rule }) => [rule.rule, id])),
    }),
    // A step-up satisfies these rules if it was given for this request, was fresh when the request was made,
    // or came later.
    reauth:
      state.stepUps.length > 0
        ? firing.filter(({ kind }) => kind === 'reauth').map(({ rule }) => rule)
        : freshReauths(firing, context.lastStepUp, createdAtMs),
  };
}

/** The standing approvals of the request that serve rules of a decision now. Their uses have been counted. */
function standingOf(
  { firing, decision }: { readonly firing: readonly RuleRequirement[]; readonly decision: Decision },
  { record }: RequestState,
  { agent, standing, nowMs }: Pick<DecisionContext, 'agent' | 'standing' | 'nowMs'>,
): readonly FoundStanding[] {
  const approvals = approvalsOf(decision);
  return standing.filter(
    (one) =>
      firing.some(({ rule }) => rule === one.rule.rule) && covers(one, record, { agent, approvals, nowMs }),
  );
}

/**
 * The state of the request in its lifecycle after it is decided again. Throws if the event is not possible in
 * its present state.
 */
export function stateAgain(
  state: RequestState,
  event: LifecycleEvent,
  { decision, nowMs }: { readonly decision: Decision; readonly nowMs: number },
): LifecycleState {
  const status = nextStatus(state.status, event, decision.outcome);
  if (status === null) throw new Error(`a request that is ${state.status} cannot be decided again`);
  if (status === 'pending') {
    const { decisions, expiresAtMs, record } = state;
    const wait = { createdAtMs: record.createdAtMs, decisions, expiresAtMs };
    return { ...lifecycleOf(state), expiresAtMs: deadlineOf(wait, decision, nowMs) };
  }
  const validSeconds =
    status === 'approved' ? (decision.validForSeconds ?? defaultValidForSeconds) : refusalValidSeconds;
  return { status, decidedAtMs: nowMs, expiresAtMs: nowMs + validSeconds * 1000 };
}

/**
 * When the wait ends. The wait for approvals begins with the request and lasts for the shortest time that any
 * decision has allowed. A wait for a step-up ends no later than that.
 */
export function deadlineOf(
  { createdAtMs, decisions, expiresAtMs }: Wait,
  decision: Decision,
  nowMs: number,
): number {
  const asking = [...decisions, decision].filter(({ requires }) => (requires?.approvals.length ?? 0) > 0);
  const lastMs = Math.min(...asking.map((one) => createdAtMs + approvalSeconds(one) * 1000));
  if (decision.outcome === 'ESCALATE') return lastMs;
  return Math.min(expiresAtMs, nowMs + stepUpSeconds * 1000, lastMs);
}

type Wait = Pick<RequestState, 'decisions' | 'expiresAtMs'> & Pick<RequestRecord, 'createdAtMs'>;
