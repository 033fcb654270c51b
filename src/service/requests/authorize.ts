// The request path without HTTP. The functions below follow it in order:
//
//   authorize              tries until the state that a decision was based on is still current when it is recorded
//   prepareDecision        refuses, finds an earlier request that answers this one, or reads what to decide with
//   decideAndRecord        decides and stores the record; a second time with a step-up of the control owner and
//                          with standing approvals
//   replyToRecorded        builds the reply and notifies listeners
//
// INVARIANT: no reply leaves before the record with its decision is durable; if the record cannot be stored,
// the promise rejects and nothing was granted. A record is stored only if agent, key and kill switches have
// not changed since the decision; otherwise the request is decided again (optimistic concurrency).

import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import type { RuleRequirement } from '../../language/model/rule-requirement.ts';
import { type ChainDecider, noChains } from '../agents/delegations/chain-decider.ts';
import { type ActingChain, type ActingLink, chainVersions } from '../agents/delegations/delegation.ts';
import { identityVersion } from '../agents/identities/identity.ts';
import { pointVersion } from '../agents/points/point.ts';
import type { DocumentVersion, GrantPrecondition } from '../store/contract/grant-precondition.ts';
import type { AppendResult, Store } from '../store/contract/store.ts';
import { isUncertain } from '../store/contract/store-error.ts';
import { type RowsRead, readPushedRows } from '../tables/read-rows.ts';
import type { OnBehalf } from '../users/on-behalf.ts';
import type { KillSwitchSnapshot, KillSwitchSource } from './approvals/change-request.ts';
import { votesJudgedBy } from './approvals/chat-votes.ts';
import type { FindPeople } from './approvals/current-person.ts';
import { requirementsOf } from './approvals/decide-again.ts';
import { createVoteEvaluator, type VoteEvaluator } from './approvals/effective-votes.ts';
import { covers, type FoundStanding, findStanding } from './approvals/find-standing.ts';
import { approvalGroups, approvalsOf, askedPeople } from './approvals/rights.ts';
import { hasStanding } from './approvals/standing-approval.ts';
import { freshReauths, lastStepUp } from './approvals/step-up.ts';
import { attach, attachKey } from './attach.ts';
import { type DecideDeps, type DecidedRequest, type DecideOptions, decideRequest } from './decide-request.ts';
import { findEarlier, findWinner, resumedReply } from './idempotency.ts';
import { type AuthenticatedCaller, type IdentityRefusal, identifyAgain } from './identify-again.ts';
import { createKeyedQueue } from './keyed-queue.ts';
import { usedUp, usesOf } from './metering/delegation-uses.ts';
import { entryRows, meterSeriesOf } from './metering/entry-rows.ts';
import { type Metering, metered } from './metering/metering.ts';
import type { Evaluation } from './record/evaluation.ts';
import type { PlanPlace } from './record/plan-place.ts';
import { createReceiptBases, type ReceiptBases } from './record/receipt-basis.ts';
import { type RequestRecord, recordTitle, requestRow, type StandingGiver } from './record/record.ts';
import { type RequestView, replyView } from './record/reply.ts';
import type { RequestEvents } from './record/request-events.ts';
import { freshState } from './record/request-state.ts';
import { createSecretHider } from './record/secrets.ts';
import { createBodyDigest } from './record/vote-scope.ts';
import { requestedFacts } from './request-facts.ts';
import { standingPlaces, takeStanding } from './standing/use-standing.ts';

/**
 * A request of an agent that is authenticated, active and within its rate, with its key as seen at that time.
 */
export interface AuthorizeInput extends AuthenticatedCaller {
  readonly actionKey: string;
  /** The payload, as the strict JSON reader returns it. */
  readonly payload: JsonObject;
  readonly session: string | null;
  readonly clientAddress: string;
  /** The person the agent asks for, from a checked token; absent when no token was sent. */
  readonly onBehalf?: OnBehalf;
  readonly idempotencyKey: string | null;
  /**
   * SHA-256 of the raw body, in hexadecimal; stored only as a keyed digest, since the body may hold secrets.
   * Null without an idempotency key.
   */
  readonly bodyDigest: string | null;
  /** Whether an existing request of the agent may serve instead of a new one; false when absent. */
  readonly isAttaching?: boolean;
  /** The id of the request that the caller has waited for; no other request will do in its place. */
  readonly awaitedId?: string;
  /**
   * The AuthZEN evaluation, or the access request after one, that this request is for; absent for other
   * requests.
   */
  readonly evaluation?: Evaluation;
  /** The plan that this request is a step of; absent for other requests. */
  readonly plan?: PlanPlace;
  /**
   * The audience of the receipt that is wanted. An empty text takes the action's audience; null or absent
   * asks for no receipt.
   */
  readonly receiptFor?: string | null;
  /** Made by `createRequestId`; never chosen by the client. */
  readonly requestId: string;
  /** The nonce of the signature, in the form in which it is stored; absent when the request carries none. */
  readonly nonce?: string;
}

export type AuthorizeResult =
  | {
      readonly kind: 'decided';
      readonly request: RequestView;
      /** `policy/rule`, or a word of the engine, that names what decided. */
      readonly by: string;
      /** How long the decision took; null when an earlier request had been decided already. */
      readonly decideMicroseconds: number | null;
    }
  /** An operator has stopped what the request asks for. */
  | { readonly kind: 'stopped' }
  /** The agent, its key or its enforcement point has changed since the caller was identified. */
  | IdentityRefusal
  | { readonly kind: 'idempotency-mismatch' }
  | { readonly kind: 'too-many-open' };

export interface AuthorizerOptions {
  readonly store: Store;
  /** Returns the active policies at the moment of the call. */
  readonly policies: () => ActivePolicies;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  readonly switches: KillSwitchSource;
  readonly findPeople: FindPeople;
  /** The maximum number of pending requests per agent. */
  readonly openRequestsMax: number;
  readonly metering: Metering;
  /** Decides what comes by delegations; nothing when absent. */
  readonly chains?: ChainDecider;
  readonly requestEvents?: RequestEvents;
  /** Called for each recorded request, before the reply; never throws. */
  readonly onRecorded?: (record: RequestRecord) => void;
  /** Called for each request that may have been recorded although its caller gets an error; never throws. */
  readonly onUncertain?: (record: RequestRecord) => void;
}

export interface Authorizer {
  /** Rejects with a StoreError when the record cannot be stored: nothing was granted. */
  authorize(input: AuthorizeInput): Promise<AuthorizeResult>;
}

/**
 * Each further attempt follows a change of the agent, its keys, the kill switches or documents; more than
 * this cannot occur in practice.
 */
export const maxAttempts = 50;

export interface AuthorizeDeps extends AuthorizerOptions, DecideDeps {
  readonly openRequestsMax: number;
  readonly metering: Metering;
  readonly evaluateVotes: VoteEvaluator['evaluateVotes'];
  readonly receiptBases: ReceiptBases;
}

export function createAuthorizeDeps(options: AuthorizerOptions): AuthorizeDeps {
  return {
    ...options,
    openRequestsMax: options.openRequestsMax,
    hideSecrets: createSecretHider(options.store.masterKey),
    keyedDigest: createBodyDigest(options.store.masterKey),
    evaluateVotes: createVoteEvaluator(options),
    receiptBases: createReceiptBases(options.store.masterKey),
  };
}

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const deps = createAuthorizeDeps(options);
  const enqueue = createKeyedQueue();
  return {
    authorize(input) {
      const own = input.chain === undefined ? deps : underChain(deps, input.chain);
      return input.isAttaching === true
        ? enqueue(attachKey(input), () => authorize(own, input))
        : authorize(own, input);
    },
  };
}

/** The same, with the policies as they decide what comes by the chain. */
export function underChain(deps: AuthorizeDeps, { links }: ActingChain): AuthorizeDeps {
  const { chains = noChains, policies } = deps;
  return { ...deps, policies: () => chains.under(policies(), links) };
}

/** The state that a request is decided with. */
export interface DecisionState {
  readonly policies: ActivePolicies;
  readonly nowMs: number;
  readonly switches: KillSwitchSnapshot;
}

/** Why an attempt has no result: agent, key, kill switches, policies or documents have changed meanwhile. */
type StateChanged = 'precondition-failed';

/**
 * Decides with agent, key and kill switches as first read, which are nearly always still current. If they
 * have changed, reads them again and repeats the attempt.
 */
async function authorize(deps: AuthorizeDeps, input: AuthorizeInput): Promise<AuthorizeResult> {
  const switchLookup = deps.switches.current();
  let switches = switchLookup instanceof Promise ? await switchLookup : switchLookup;
  let currentInput = input;
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const lookup = prepareDecision(deps, currentInput, switches);
    const prepared = lookup instanceof Promise ? await lookup : lookup;
    const result =
      prepared === 'precondition-failed'
        ? prepared
        : 'kind' in prepared
          ? await confirmedReply(deps, currentInput, prepared)
          : await decideAndRecord(deps, currentInput, prepared);
    if (result !== 'precondition-failed') return result;
    switches = await deps.switches.refresh();
    const caller = await identifyAgain(deps.store, currentInput, deps.clock());
    if ('kind' in caller) return caller;
    currentInput = { ...currentInput, ...caller };
  }
  throw new Error(`the agent \`${input.agent.id}\` changed during each attempt`);
}

type PreparedDecision = DecisionState | AuthorizeResult | StateChanged;

/**
 * Returns the result if no decision is needed: a refusal, or the request that answers this one; otherwise the
 * state to decide with. Returns without a promise if nothing has to be read, as for nearly all requests.
 */
function prepareDecision(
  deps: AuthorizeDeps,
  input: AuthorizeInput,
  switches: KillSwitchSnapshot,
): PreparedDecision | Promise<PreparedDecision> {
  const { agent, actionKey } = input;
  if (agent.status !== 'active') return { kind: 'not-allowed-now', why: agent.status };
  const isStopped = switches.stoppedBy({ agentId: agent.id, tier: agent.riskTier, actionKey }) !== null;
  if (isStopped) return { kind: 'stopped' };
  const nowMs = Math.trunc(deps.clock());
  const mayHaveEarlierRequest = input.idempotencyKey !== null || input.isAttaching === true;
  return mayHaveEarlierRequest
    ? findEarlierOrReadState(deps, input, { nowMs, switches })
    : readState(deps, { nowMs, switches });
}

/**
 * Returns the reply of an earlier request that answers this one: one that is pending or approved, or the one
 * under the same idempotency key; otherwise the state to decide with.
 */
async function findEarlierOrReadState(
  deps: AuthorizeDeps,
  input: AuthorizeInput,
  now: Omit<DecisionState, 'policies'>,
): Promise<PreparedDecision> {
  if (input.isAttaching === true) {
    const resumed = await attach(deps, input);
    if (resumed === 'precondition-failed') return resumed;
    if (resumed !== null) return resumedReply(resumed, now.nowMs);
  }
  return (await findEarlier(deps, input, now.nowMs)) ?? (await readState(deps, now));
}

/** Adds the active policies; returned without a promise if the store has noted their meters. */
function readState(
  { policies, metering }: AuthorizeDeps,
  now: Omit<DecisionState, 'policies'>,
): DecisionState | Promise<DecisionState> {
  const active = policies();
  return metering.note(active) === null
    ? { ...now, policies: active }
    : metered(metering, policies).then((noted) => ({ ...now, policies: noted }));
}

/** Returns a result that was read but not written, once what was read is durable. */
async function confirmedReply(
  deps: AuthorizeDeps,
  { nonce }: AuthorizeInput,
  result: AuthorizeResult,
): Promise<AuthorizeResult> {
  if (result.kind !== 'decided') return result;
  return (await deps.store.settle(nonce)) === 'settled' ? result : nonceUsed;
}

export const nonceUsed: IdentityRefusal = { kind: 'not-allowed-now', why: 'nonce-used' };

async function decideAndRecord(
  deps: AuthorizeDeps,
  input: AuthorizeInput,
  state: DecisionState,
): Promise<AuthorizeResult | StateChanged> {
  const facts = requestedFacts(input, state.nowMs, nothingSatisfied);
  const rowLookup = readPushedRows(deps.store.documents, state.policies, { facts, by: 'decideTraced' });
  const rows = rowLookup && (await rowLookup);
  // Until the past of its meters is read, what a delegation has been used is unknown.
  if (usesOf(input.chain).length > 0) await deps.metering.settled();
  let attempt = await attemptToRecord(deps, input, state, { facts, rows, given: null });
  if ('result' in attempt && attempt.result === 'nothing') {
    const given = await findGiven(deps, input, attempt.decided, state);
    attempt = await attemptToRecord(deps, input, state, { facts, rows, given });
  }
  if ('kind' in attempt) return attempt;
  switch (attempt.result) {
    case 'stored':
      return replyToRecorded(deps, attempt.decided.record);
    case 'duplicate-key': {
      const winner = await findWinner(deps, input, state.nowMs);
      return winner === 'precondition-failed' ? winner : await confirmedReply(deps, input, winner);
    }
    case 'too-many-open':
      return { kind: 'too-many-open' };
    case 'nonce-used':
      return nonceUsed;
    case 'precondition-failed':
      return attempt.result;
    case 'nothing':
      throw new Error('the same lookup was needed twice');
  }
}

/** What people have given before, and rules of the request accept. */
export interface GivenBefore {
  /** Ids of the rules that a recent step-up satisfies. */
  readonly reauth: readonly string[];
  readonly standing: readonly FoundStanding[];
  /** Documents that this rests on. */
  readonly documents: readonly DocumentVersion[];
}

const noDocuments: readonly DocumentVersion[] = [];

interface DecisionInput {
  /** Facts without rows and meters, and with no rule satisfied. */
  readonly facts: Facts;
  /** Null when no rule reads a pushed row. */
  readonly rows: RowsRead | null;
  /** Null when nothing has been looked for. */
  readonly given: GivenBefore | null;
}

interface RecordAttempt {
  /** `nothing` means that nothing was stored: a rule asks people for what they may have given before. */
  readonly result: AppendResult | 'nothing';
  /** The decision that was, or was not, recorded. */
  readonly decided: DecidedRequest;
}

/**
 * Decides and stores. The store may decide several times before it stores; meter entries of a decision that
 * was not stored are reverted before the next one.
 */
async function attemptToRecord(
  deps: AuthorizeDeps,
  input: AuthorizeInput,
  state: DecisionState,
  { facts: requested, rows, given }: DecisionInput,
): Promise<RecordAttempt | IdentityRefusal> {
  const { policies: active } = state;
  const { store, openRequestsMax: openMax, metering } = deps;
  const facts = rows === null ? requested : { ...requested, rows: rows.rows };
  const uses = [...active.entries(facts), ...usesOf(input.chain)];
  const standing = given?.standing ?? [];
  const precondition = grantPrecondition(input, state, [
    ...(given?.documents ?? noDocuments),
    ...(rows?.seen ?? noDocuments),
  ]);
  let decided: DecidedRequest | null = null;
  let empty: ActingLink | null = null;
  /** The uses that the last decision has entered in meters. */
  let entered: DecidedRequest['uses'] = [];
  let result: RecordAttempt['result'];
  const revertMeters = () => {
    if (entered.length > 0) metering.revertMeters(input.requestId, entered);
    entered = [];
  };
  const decideOnce = () => {
    revertMeters();
    empty = usedUp(input.chain, metering, { nowMs: facts.nowMs, requestId: input.requestId });
    if (empty !== null) return null;
    decided = decideGiven(deps, input, { active, facts, uses }, given);
    const { record, uses: added } = decided;
    entered = added;
    if (given === null && rulesGivenBefore(record, active).length > 0) {
      revertMeters();
      return null;
    }
    return {
      row: requestRow(record),
      limits: { openMax, precondition },
      entries: entryRows(added),
      revertMeters,
    };
  };
  try {
    result = await store.meters.spend(meterSeriesOf([...uses, ...standingPlaces(standing)]), decideOnce);
  } catch (error) {
    // When it is uncertain whether the request is stored, nothing is reverted: the store does so once it
    // knows, or all meters are read again.
    if (!isUncertain(error)) revertMeters();
    else if (decided !== null) deps.onUncertain?.((decided as DecidedRequest).record);
    throw error;
  }
  if (result !== 'stored') revertMeters();
  if (empty !== null) return noUsesLeft(empty);
  if (decided === null) throw new Error('the store returned a result without deciding');
  return { result, decided };
}

export function noUsesLeft({ name }: ActingLink): IdentityRefusal {
  const detail = `the delegation \`${name}\` has no uses left`;
  return { kind: 'not-allowed-now', why: 'delegation-ended', detail };
}

/** Decides with what people have given before, and uses standing approvals as far as rules that take part ask. */
export function decideGiven(
  deps: AuthorizeDeps,
  input: AuthorizeInput,
  { active, facts, uses }: DecideOptions,
  given: GivenBefore | null,
): DecidedRequest {
  if (given === null) return decideRequest(deps, input, { active, facts, uses });
  const at = { nowMs: facts.nowMs, requestId: input.requestId };
  const taken = takeStanding(given.standing, deps.metering, at);
  const { standing, givers } = taken;
  const isUsed = taken.uses.length > 0;
  const satisfied = {
    escalate: Object.keys(standing),
    reauth: given.reauth,
    ...(isUsed && { standing }),
  };
  const decided = decideRequest(deps, input, {
    active,
    facts: { ...facts, satisfied },
    uses: isUsed ? [...uses, ...taken.uses] : uses,
  });
  const { rules } = decided.record.decision;
  const asked = given.standing.filter(({ rule }) => rules.includes(rule.rule));
  if (!isUsed) return decided;
  if (asked.length === given.standing.length) return withGivers(decided, givers);
  // A meter has moved, and a rule no longer asks: its standing approval is not used.
  deps.metering.revertMeters(input.requestId, decided.uses);
  return decideGiven(deps, input, { active, facts, uses }, { ...given, standing: asked });
}

/** What is refused uses nothing, so nobody has given it. */
function withGivers({ record, uses }: DecidedRequest, givers: readonly StandingGiver[]): DecidedRequest {
  return { record: record.status === 'rejected' ? record : { ...record, givers }, uses };
}

/** The versions that must still be current when the record is stored. */
export function grantPrecondition(
  { agent, key, nonce, point, chain, workload }: AuthorizeInput,
  { switches: { generation }, policies }: DecisionState,
  documents: readonly DocumentVersion[],
): GrantPrecondition {
  const ofChain = chain === undefined ? documents : [...documents, ...chainVersions(chain)];
  const versions = workload === undefined ? ofChain : [...ofChain, identityVersion(workload)];
  const precondition: GrantPrecondition = {
    policies: policies.digest,
    agentId: agent.id,
    agentVersion: agent.version,
    keyNotAfterMs: key.notAfterMs,
    switchGeneration: generation,
    documents: point === undefined ? versions : [...versions, pointVersion(point)],
  };
  return nonce === undefined ? precondition : { ...precondition, nonce };
}

/**
 * The rules that an earlier step-up or a standing approval may satisfy. Only a request that would be pending is
 * worth the lookup.
 */
export function rulesGivenBefore(
  { status, decision }: RequestRecord,
  active: ActivePolicies,
): readonly RuleRequirement[] {
  if (status !== 'pending') return [];
  return requirementsOf(decision, active).filter((rule) =>
    rule.kind === 'reauth' ? rule.withinSeconds !== null : hasStanding(rule),
  );
}

export async function findGiven(
  { store, findPeople }: AuthorizeDeps,
  { agent }: AuthorizeInput,
  { record }: DecidedRequest,
  { policies, nowMs }: DecisionState,
): Promise<GivenBefore> {
  const rules = rulesGivenBefore(record, policies);
  const stepUp = rules.some(({ kind }) => kind === 'reauth')
    ? await lastStepUp({ documents: store.documents, findPeople }, agent)
    : null;
  const reauth = freshReauths(rules, stepUp, record.createdAtMs);
  const moment = { agent, ...votesJudgedBy(policies), nowMs, rules };
  const approvals = approvalsOf(record.decision);
  const found = await findStanding({ store, findPeople }, record, moment);
  const standing = found.filter((one) => covers(one, record, { agent, approvals, nowMs }));
  return {
    reauth,
    standing,
    documents: [
      ...(stepUp === null || reauth.length === 0 ? noDocuments : [stepUp.version]),
      ...standing.flatMap(({ documents }) => documents),
    ],
  };
}

export function replyToRecorded(
  { onRecorded, requestEvents }: AuthorizeDeps,
  record: RequestRecord,
): AuthorizeResult {
  onRecorded?.(record);
  if (record.status === 'pending') notifyPending(requestEvents, record);
  return {
    kind: 'decided',
    request: replyView(freshState(record), record.createdAtMs),
    by: record.decision.by,
    decideMicroseconds: record.timing.decideMicroseconds,
  };
}

function notifyPending(events: RequestEvents | undefined, record: RequestRecord): void {
  const { id: requestId, agentId, actionKey, decision, createdAtMs: atMs } = record;
  const approvers = { groups: approvalGroups(decision), people: askedPeople(decision) };
  const asksStepUp = decision.requires?.reauth != null;
  const title = recordTitle(record);
  const plan = record.plan && { plan: record.plan };
  const notice = { requestId, agentId, actionKey, title, ...plan, ...approvers, asksStepUp, atMs };
  events?.emit({ kind: 'pending', status: 'pending', ...notice });
}
