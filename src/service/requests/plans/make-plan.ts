// Turns the steps of a task into a plan: what would be decided for each now, and requests for the steps that need
// people, if the agent asks for them. Each step is decided as `authorize` decides a request, by the same functions.
// INVARIANT: a plan grants nothing. Its requests, its document and its record are stored in one write or not at all,
// and only while everything that the decisions rest on is as they saw it.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { PayloadIssue } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { MeterUse } from '../../../language/model/metering.ts';
import { type Facts, nothingSatisfied } from '../../../language/model/request.ts';
import type { ReadDocument } from '../../store/contract/collection.ts';
import type { DocumentVersion } from '../../store/contract/grant-precondition.ts';
import type { AppendResult, RequestBatch } from '../../store/contract/store.ts';
import { isUncertain } from '../../store/contract/store-error.ts';
import { readPushedRows } from '../../tables/read-rows.ts';
import type { KillSwitchSnapshot } from '../approvals/change-request.ts';
import {
  type AuthorizeDeps,
  type AuthorizeInput,
  type AuthorizerOptions,
  createAuthorizeDeps,
  type DecisionState,
  decideGiven,
  findGiven,
  type GivenBefore,
  grantPrecondition,
  maxAttempts,
  nonceUsed,
  noUsesLeft,
  replyToRecorded,
  rulesGivenBefore,
  underChain,
} from '../authorize.ts';
import type { DecidedRequest } from '../decide-request.ts';
import { idempotencyKeptMs } from '../idempotency.ts';
import { type IdentityRefusal, identifyAgain } from '../identify-again.ts';
import { usedUp, usesOf } from '../metering/delegation-uses.ts';
import { entryRows, meterSeriesOf } from '../metering/entry-rows.ts';
import { metered } from '../metering/metering.ts';
import { createRequestId } from '../record/id.ts';
import { recordTitle, requestRow } from '../record/record.ts';
import { requestDigest } from '../record/vote-scope.ts';
import { requestedFacts } from '../request-facts.ts';
import { standingPlaces } from '../standing/use-standing.ts';
import { plannedAmounts } from './amounts.ts';
import { idempotencyName, type Plan, type PlanStep, plansIn, shownPlan } from './plan.ts';

export interface PlanDraft {
  /** The call, as for a request; its own action and payload are not read. */
  readonly caller: AuthorizeInput;
  readonly goal: string | null;
  /** Whether the steps that need people become pending requests. */
  readonly isSubmitted: boolean;
  readonly steps: readonly StepDraft[];
}

export interface StepDraft {
  readonly actionKey: string;
  readonly payload: JsonObject;
}

export type PlanResult =
  | {
      readonly kind: 'made';
      readonly plan: Plan;
      /** The requests that were made just now; none when the idempotency key stands for an earlier plan. */
      readonly decided: readonly DecidedRequest[];
    }
  | RefusedPlan;

export type RefusedPlan =
  /** An operator has stopped what a step asks for; `step` counts from 0. */
  | { readonly kind: 'stopped'; readonly step: number }
  /** Steps whose action is not declared, or whose payload does not have its shape. */
  | { readonly kind: 'invalid'; readonly issues: readonly StepIssue[] }
  /** A delegation has too few uses left for the steps that need people. */
  | { readonly kind: 'too-few-uses'; readonly delegation: string }
  | { readonly kind: 'idempotency-mismatch' }
  | { readonly kind: 'too-many-open' }
  | IdentityRefusal;

export interface StepIssue extends PayloadIssue {
  /** Counts from 0. */
  readonly step: number;
  /** `action_key` or `payload`. */
  readonly field: 'action_key' | 'payload';
}

export interface Planner {
  /** Rejects with a StoreError when the plan cannot be stored: then nothing waits, and nothing was granted. */
  plan(draft: PlanDraft): Promise<PlanResult>;
}

export function createPlanner(options: AuthorizerOptions): Planner {
  const deps = createAuthorizeDeps(options);
  return {
    plan(draft) {
      const { chain } = draft.caller;
      return makePlan(chain === undefined ? deps : underChain(deps, chain), draft);
    },
  };
}

/** Why an attempt has no result: something that the decisions rest on has changed meanwhile. */
type StateChanged = 'precondition-failed';

async function makePlan(deps: AuthorizeDeps, draft: PlanDraft): Promise<PlanResult> {
  let switches = await deps.switches.current();
  let { caller } = draft;
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const result = await attempt(deps, { ...draft, caller }, switches);
    if (result !== 'precondition-failed') return result;
    switches = await deps.switches.refresh();
    const again = await identifyAgain(deps.store, caller, deps.clock());
    if ('kind' in again) return again;
    caller = { ...caller, ...again };
  }
  throw new Error(`the agent \`${caller.agent.id}\` changed during each attempt`);
}

async function attempt(
  deps: AuthorizeDeps,
  draft: PlanDraft,
  switches: KillSwitchSnapshot,
): Promise<PlanResult | StateChanged> {
  const { caller } = draft;
  const refusal = refusalOf(draft, switches);
  if (refusal !== null) return refusal;
  const isUsed = caller.nonce !== undefined && (await deps.store.settle(caller.nonce)) === 'nonce-used';
  if (isUsed) return nonceUsed;
  const nowMs = Math.trunc(deps.clock());
  const earlier = await findEarlierPlan(deps, caller, nowMs);
  if (earlier !== null) return earlier;
  const state = { policies: await metered(deps.metering, deps.policies), nowMs, switches };
  // Until the past of its meters is read, what a delegation has been used is unknown.
  if (usesOf(caller.chain).length > 0) await deps.metering.settled();
  const steps = await prepareSteps(deps, draft, state);
  const issues = steps.flatMap(({ input }, step) => issuesOf(state.policies, input, step));
  if (issues.length > 0) return { kind: 'invalid', issues };
  return await decideAndStore(deps, draft, { state, steps });
}

function refusalOf(
  { caller: { agent }, steps }: PlanDraft,
  switches: KillSwitchSnapshot,
): RefusedPlan | null {
  if (agent.status !== 'active') return { kind: 'not-allowed-now', why: agent.status };
  const step = steps.findIndex(
    ({ actionKey }) => switches.stoppedBy({ agentId: agent.id, tier: agent.riskTier, actionKey }) !== null,
  );
  return step === -1 ? null : { kind: 'stopped', step };
}

/** The plan that the agent's idempotency key already stands for; null when the key is new or absent. */
async function findEarlierPlan(
  { store, keyedDigest }: AuthorizeDeps,
  { agent, idempotencyKey, bodyDigest }: AuthorizeInput,
  nowMs: number,
): Promise<PlanResult | null> {
  if (idempotencyKey === null || bodyDigest === null) return null;
  const plans = plansIn(store.documents);
  const found: ReadDocument<Plan> | null = await plans.findByName(idempotencyName(agent.id, idempotencyKey));
  if (found === null || found.value.idempotency === null) return null;
  const { value: plan, version } = found;
  if (nowMs >= found.value.idempotency.keptUntilMs) {
    await store.documents.write([plans.put({ ...plan, idempotency: null }, version)], null);
    return null;
  }
  const isSame = found.value.idempotency.bodyDigest === keyedDigest(bodyDigest);
  return isSame ? { kind: 'made', plan, decided: [] } : { kind: 'idempotency-mismatch' };
}

/** A step with all that has to be read before it is decided. */
interface PreparedStep {
  readonly input: AuthorizeInput;
  readonly facts: Facts;
  readonly uses: readonly MeterUse[];
  /** Versions of the rows that rules read. */
  readonly seen: readonly DocumentVersion[];
}

interface PreparedPlan {
  readonly state: DecisionState;
  readonly steps: readonly PreparedStep[];
}

async function prepareSteps(
  { store, clock }: AuthorizeDeps,
  { caller, goal, steps }: PlanDraft,
  { policies, nowMs }: DecisionState,
): Promise<readonly PreparedStep[]> {
  const { nonce: _, ...own } = caller;
  const plan = { id: createRequestId(clock()), goal, steps: steps.length };
  const prepared: PreparedStep[] = [];
  for (const [at, { actionKey, payload }] of steps.entries()) {
    const input: AuthorizeInput = {
      ...own,
      actionKey,
      payload,
      idempotencyKey: null,
      bodyDigest: null,
      receiptFor: null,
      isAttaching: false,
      requestId: createRequestId(clock()),
      plan: { ...plan, step: at + 1 },
    };
    const requested = requestedFacts(input, nowMs, nothingSatisfied);
    const rows = await readPushedRows(store.documents, policies, { facts: requested, by: 'decideTraced' });
    const facts = rows === null ? requested : { ...requested, rows: rows.rows };
    prepared.push({
      input,
      facts,
      uses: [...policies.entries(facts), ...usesOf(caller.chain)],
      seen: rows?.seen ?? [],
    });
  }
  return prepared;
}

const issuesMax = 10;

function issuesOf(
  policies: ActivePolicies,
  { actionKey, payload }: AuthorizeInput,
  step: number,
): readonly StepIssue[] {
  const issues = policies.checkPayload(actionKey, payload);
  if (issues === null)
    return [{ step, field: 'action_key', pointer: '', message: 'no policy declares this action' }];
  return issues.slice(0, issuesMax).map((issue) => ({ ...issue, step, field: 'payload' }));
}

/** What people have given before for each step, as far as it has been looked for. */
type Given = Map<PreparedStep, GivenBefore>;

async function decideAndStore(
  deps: AuthorizeDeps,
  draft: PlanDraft,
  plan: PreparedPlan,
): Promise<PlanResult | StateChanged> {
  const given: Given = new Map();
  for (;;) {
    const position = plan.steps.some(({ uses }) => uses.length > 0) ? await deps.metering.catchUp() : null;
    const decided = decideSteps(deps, draft, { plan, given });
    if ('kind' in decided) return decided;
    const unread = plan.steps.filter(
      (step, at) => !given.has(step) && rulesGivenBefore(decided[at]!.record, plan.state.policies).length > 0,
    );
    if (unread.length === 0) return await store(deps, draft, { ...plan, decided, given, position });
    revertMeters(deps, kept(draft, decided));
    for (const step of unread) {
      const at = plan.steps.indexOf(step);
      given.set(step, await findGiven(deps, step.input, decided[at]!, plan.state));
    }
  }
}

/**
 * Decides the steps in order, as if each came alone now. Only those that will wait stay in the meters, so that later
 * steps are decided with them.
 */
function decideSteps(
  deps: AuthorizeDeps,
  draft: PlanDraft,
  { plan: { state, steps }, given }: { readonly plan: PreparedPlan; readonly given: Given },
): readonly DecidedRequest[] | RefusedPlan {
  const active = state.policies;
  const decided: DecidedRequest[] = [];
  for (const step of steps) {
    const { input, facts, uses } = step;
    const at = { nowMs: facts.nowMs, requestId: input.requestId };
    const empty = usedUp(draft.caller.chain, deps.metering, at);
    // Without a use left, nothing is decided by the delegation, not even one step.
    if (empty !== null && kept(draft, decided).length === 0) return noUsesLeft(empty);
    const one = decideGiven(deps, input, { active, facts, uses }, given.get(step) ?? null);
    decided.push(one);
    if (!isKept(draft, one)) revertMeters(deps, [one]);
    else if (empty !== null) {
      revertMeters(deps, kept(draft, decided));
      return { kind: 'too-few-uses', delegation: empty.name };
    }
  }
  return decided;
}

function isKept({ isSubmitted }: PlanDraft, { record }: DecidedRequest): boolean {
  return isSubmitted && record.status === 'pending';
}

function kept(draft: PlanDraft, decided: readonly DecidedRequest[]): readonly DecidedRequest[] {
  return decided.filter((one) => isKept(draft, one));
}

function revertMeters({ metering }: AuthorizeDeps, decided: readonly DecidedRequest[]): void {
  for (const { record, uses } of decided) metering.revertMeters(record.id, uses);
}

interface DecidedPlan extends PreparedPlan {
  readonly decided: readonly DecidedRequest[];
  readonly given: Given;
  /** Up to where the entries of other processes were taken in before the steps were decided. */
  readonly position: string | null;
}

async function store(
  deps: AuthorizeDeps,
  draft: PlanDraft,
  decidedPlan: DecidedPlan,
): Promise<PlanResult | StateChanged> {
  const waiting = kept(draft, decidedPlan.decided);
  const plan = planOf(deps, draft, decidedPlan);
  let result: AppendResult;
  try {
    result = await deps.store.requests.appendTogether(batchOf(deps, draft, { ...decidedPlan, plan }));
  } catch (error) {
    // When it is uncertain whether the plan is stored, the store has all meters read again.
    if (!isUncertain(error)) revertMeters(deps, waiting);
    else for (const { record } of waiting) deps.onUncertain?.(record);
    throw error;
  }
  if (result !== 'stored') revertMeters(deps, waiting);
  switch (result) {
    case 'stored':
      for (const { record } of waiting) replyToRecorded(deps, record);
      return { kind: 'made', plan, decided: waiting };
    case 'too-many-open':
      return { kind: 'too-many-open' };
    // Another call has stored a plan under the same key: the next attempt finds it.
    case 'duplicate-key':
    case 'precondition-failed':
      return 'precondition-failed';
    case 'nonce-used':
      return nonceUsed;
  }
}

function planOf(deps: AuthorizeDeps, draft: PlanDraft, { state, steps, decided }: DecidedPlan): Plan {
  const { agent, point, idempotencyKey, bodyDigest } = draft.caller;
  const ends = kept(draft, decided).map(({ record }) => record.expiresAtMs);
  const untilMs = ends.length === 0 ? null : Math.max(...ends);
  const idempotency =
    idempotencyKey === null || bodyDigest === null
      ? null
      : {
          name: idempotencyName(agent.id, idempotencyKey),
          bodyDigest: deps.keyedDigest(bodyDigest),
          keptUntilMs: (untilMs ?? state.nowMs) + idempotencyKeptMs,
        };
  return {
    id: steps[0]!.input.plan!.id,
    createdAtMs: state.nowMs,
    agentId: agent.id,
    ...(point && { pointId: point.id }),
    goal: draft.goal,
    isSubmitted: draft.isSubmitted,
    steps: decided.map((one) => stepOf(draft, one, state.policies)),
    untilMs,
    idempotency,
  };
}

function stepOf(draft: PlanDraft, decided: DecidedRequest, policies: ActivePolicies): PlanStep {
  const { record } = decided;
  const { outcome, reason, matchedPolicy, risk } = record.decision;
  return {
    actionKey: record.actionKey,
    title: recordTitle(record),
    digest: requestDigest(record),
    outcome,
    reason,
    matchedPolicy,
    risk: risk.high,
    amounts: plannedAmounts(record.payload, policies.shapeOf(record.actionKey)),
    requestId: isKept(draft, decided) ? record.id : null,
  };
}

function batchOf(
  { store: { documents }, openRequestsMax: openMax }: AuthorizeDeps,
  draft: PlanDraft,
  { plan, state, steps, decided, given, position }: DecidedPlan & { readonly plan: Plan },
): RequestBatch {
  const { caller } = draft;
  const before = [...given.values()];
  const series = meterSeriesOf([
    ...steps.flatMap(({ uses }) => uses),
    ...before.flatMap(({ standing }) => standingPlaces(standing)),
  ]);
  const precondition = grantPrecondition(caller, state, [
    ...before.flatMap((one) => one.documents),
    ...steps.flatMap(({ seen }) => seen),
  ]);
  return {
    agentId: caller.agent.id,
    requests: kept(draft, decided).map(({ record, uses }) => ({
      row: requestRow(record),
      entries: entryRows(uses),
    })),
    limits: { openMax, precondition },
    ...(series.length > 0 && { meters: { series, position } }),
    documents: [plansIn(documents).put(plan, 0)],
    change: {
      atMs: plan.createdAtMs,
      who: `agent ${plan.agentId}`,
      what: plan.isSubmitted ? 'plan-submitted' : 'plan-previewed',
      subject: plan.id,
      before: null,
      after: shownPlan(
        plan,
        decided.map(({ record }) => record.payload),
      ),
    },
  };
}
