// The request path without HTTP: decide, record on disk, reply. INVARIANT: no reply leaves before the record
// that holds its decision is durable; if the record cannot be stored, the promise rejects and nothing was
// granted. A record is stored only if agent, key and switches are as the decision saw them; otherwise the
// request is decided again.

import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import type { RuleRequirement } from '../../language/model/rule-requirement.ts';
import { seenPoint } from '../agents/points/point.ts';
import type { DocumentVersion, GrantBasis } from '../store/contract/grant-basis.ts';
import type { AppendResult, Store } from '../store/contract/store.ts';
import { isUncertain } from '../store/contract/store-error.ts';
import { type RowsRead, readPushedRows } from '../tables/read-rows.ts';
import type { OnBehalf } from '../users/on-behalf.ts';
import type { KillSwitchSnapshot, KillSwitchSource } from './approvals/change-request.ts';
import { askedBy } from './approvals/decide-again.ts';
import type { FindPeople } from './approvals/people-now.ts';
import { askedGroups, askedPeople } from './approvals/rights.ts';
import { freshReauths, lastStepUp } from './approvals/step-up.ts';
import { createVoteEvaluator, type VoteEvaluator } from './approvals/votes-now.ts';
import { attach, turnOf } from './attach.ts';
import { type DecideDeps, type DecidedRequest, decide } from './decide.ts';
import { findEarlier, findWinner, resumedReply } from './idempotency.ts';
import { type Asker, type IdentityRefusal, identifyAgain } from './identify-again.ts';
import { entryRows, meterPlaces } from './metering/entry-rows.ts';
import { type Metering, metered } from './metering/metering.ts';
import { createReceiptBases, type ReceiptBases } from './record/receipt-basis.ts';
import { type Evaluation, type RequestRecord, recordTitle, requestRow } from './record/record.ts';
import { type RequestView, replyView } from './record/reply.ts';
import type { RequestEvents } from './record/request-events.ts';
import { freshState } from './record/request-state.ts';
import { createSecretHider } from './record/secrets.ts';
import { createBodyDigest } from './record/vote-scope.ts';
import { requestedFacts } from './request-facts.ts';

/**
 * A request of an agent that is authenticated, active and within its rate, with its key as seen at that time.
 */
export interface AuthorizeInput extends Asker {
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
  readonly news?: RequestEvents;
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
 * Tries of one request. Each further try follows a change of the agent, its keys, the switches or documents;
 * more than this cannot occur in practice.
 */
const triesMax = 50;

interface Deps extends AuthorizerOptions, DecideDeps {
  readonly openRequestsMax: number;
  readonly metering: Metering;
  readonly judge: VoteEvaluator['judge'];
  readonly receiptBases: ReceiptBases;
}

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const deps: Deps = {
    ...options,
    openRequestsMax: options.openRequestsMax,
    hideSecrets: createSecretHider(options.store.masterKey),
    keyedDigest: createBodyDigest(options.store.masterKey),
    judge: createVoteEvaluator(options),
    receiptBases: createReceiptBases(options.store.masterKey),
  };
  const inTurn = createTurns();
  return {
    authorize: (input) =>
      input.isAttaching === true
        ? inTurn(turnOf(input), () => authorize(deps, input))
        : authorize(deps, input),
  };
}

/**
 * Decides by agent, key and switches as first seen, which are nearly always still current; if they have
 * changed, decides by the current ones.
 */
async function authorize(deps: Deps, input: AuthorizeInput): Promise<AuthorizeResult> {
  const switchLookup = deps.switches.current();
  let switches = switchLookup instanceof Promise ? await switchLookup : switchLookup;
  let currentInput = input;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const preparing = prepare(deps, currentInput, switches);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    const result =
      prepared === 'basis-changed'
        ? prepared
        : 'kind' in prepared
          ? await afterSettling(deps, currentInput, prepared)
          : await decideAndStore(deps, currentInput, prepared);
    if (result !== 'basis-changed') return result;
    switches = await deps.switches.refresh();
    const asker = await identifyAgain(deps.store, currentInput, deps.clock());
    if ('kind' in asker) return asker;
    currentInput = { ...currentInput, ...asker };
  }
  throw new Error(`the agent \`${input.agent.id}\` changed during each attempt`);
}

/** A result that was read but not written is returned only once the store can rely on what was read. */
async function afterSettling(
  deps: Deps,
  { nonce }: AuthorizeInput,
  outcome: AuthorizeResult,
): Promise<AuthorizeResult> {
  if (outcome.kind !== 'decided') return outcome;
  return (await deps.store.settle(nonce)) === 'settled' ? outcome : nonceUsed;
}

async function decideAndStore(
  deps: Deps,
  input: AuthorizeInput,
  prepared: DecisionBasis,
): Promise<AuthorizeResult | 'basis-changed'> {
  const facts = requestedFacts(input, prepared.nowMs, nothingSatisfied);
  const rowLookup = readPushedRows(deps.store.documents, prepared.active, { facts, by: 'decideTraced' });
  const rows = rowLookup && (await rowLookup);
  let spent = await decideAndSpend(deps, input, prepared, { facts, rows, stepUp: null });
  if (spent.result === 'nothing') {
    const stepUp = await freshStepUp(deps, input, spent.decided, prepared);
    spent = await decideAndSpend(deps, input, prepared, { facts, rows, stepUp });
  }
  switch (spent.result) {
    case 'stored':
      return recorded(deps, spent.decided.record);
    case 'duplicate-key': {
      const winner = await findWinner(deps, input, prepared.nowMs);
      return winner === 'basis-changed' ? winner : await afterSettling(deps, input, winner);
    }
    case 'too-many-open':
      return { kind: 'too-many-open' };
    case 'nonce-used':
      return nonceUsed;
    case 'basis-changed':
      return spent.result;
    case 'nothing':
      throw new Error('the same lookup was needed twice');
  }
}

const nonceUsed: IdentityRefusal = { kind: 'not-allowed-now', why: 'nonce-used' };

type PreparedOrResult = DecisionBasis | AuthorizeResult | 'basis-changed';

/**
 * What is settled before the decision. Returns without a promise when nothing has to be looked up, as for
 * nearly all requests.
 */
function prepare(
  deps: Deps,
  input: AuthorizeInput,
  switches: KillSwitchSnapshot,
): PreparedOrResult | Promise<PreparedOrResult> {
  const { agent, actionKey } = input;
  if (agent.status !== 'active') return { kind: 'not-allowed-now', why: agent.status };
  const isStopped = switches.stoppedBy({ agentId: agent.id, tier: agent.riskTier, actionKey }) !== null;
  if (isStopped) return { kind: 'stopped' };
  const nowMs = Math.trunc(deps.clock());
  const moment = { nowMs, switches };
  const isNew = input.idempotencyKey === null && input.isAttaching !== true;
  return isNew ? prepareNew(deps, moment) : prepareOnce(deps, input, moment);
}

/** When a request is decided, and under which kill switches. */
type PreparationContext = Omit<DecisionBasis, 'active'>;

/**
 * Prepares a request only if no earlier one answers it: one that waits or is approved, or the one made under
 * the same idempotency key.
 */
async function prepareOnce(
  deps: Deps,
  input: AuthorizeInput,
  moment: PreparationContext,
): Promise<PreparedOrResult> {
  if (input.isAttaching === true) {
    const resumed = await attach(deps, input);
    if (resumed === 'basis-changed') return resumed;
    if (resumed !== null) return resumedReply(resumed, moment.nowMs);
  }
  return (await findEarlier(deps, input, moment.nowMs)) ?? (await prepareNew(deps, moment));
}

function prepareNew(
  deps: Deps,
  { nowMs, switches }: PreparationContext,
): DecisionBasis | Promise<DecisionBasis> {
  const policyLookup = activeMetered(deps);
  return policyLookup instanceof Promise
    ? policyLookup.then((active) => ({ active, nowMs, switches }))
    : { active: policyLookup, nowMs, switches };
}

function basisOf(
  { agent, key, nonce, point }: AuthorizeInput,
  { switches: { generation }, active }: DecisionBasis,
  documents: readonly DocumentVersion[],
): GrantBasis {
  const basis: GrantBasis = {
    policies: active.digest,
    agentId: agent.id,
    agentVersion: agent.version,
    keyNotAfterMs: key.notAfterMs,
    switchGeneration: generation,
    documents: point === undefined ? documents : [...documents, seenPoint(point)],
  };
  return nonce === undefined ? basis : { ...basis, nonce };
}

function recorded({ onRecorded, news }: Deps, record: RequestRecord): AuthorizeResult {
  onRecorded?.(record);
  if (record.status === 'pending') emitPending(news, record);
  return {
    kind: 'decided',
    request: replyView(freshState(record), record.createdAtMs),
    by: record.decision.by,
    decideMicroseconds: record.timing.decideMicroseconds,
  };
}

/** The active policies; returned without a promise when the store has noted their meters. */
function activeMetered({ policies, metering }: Deps): ActivePolicies | Promise<ActivePolicies> {
  const active = policies();
  return metering.note(active) === null ? active : metered(metering, policies);
}

/** What a request is decided by. */
interface DecisionBasis {
  readonly active: ActivePolicies;
  readonly nowMs: number;
  readonly switches: KillSwitchSnapshot;
}

interface FreshStepUp {
  /** Ids of the rules that the step-up satisfies. */
  readonly reauth: readonly string[];
  /** Documents that were read to find the step-up. */
  readonly documents: readonly DocumentVersion[];
}

interface SpendResult {
  /** `nothing` means that nothing was stored: a rule asks for a step-up, and a fresh one may exist. */
  readonly result: AppendResult | 'nothing';
  /** The outcome of the last try. */
  readonly decided: DecidedRequest;
}

const noDocuments: readonly DocumentVersion[] = [];

interface SpendInput {
  /** Facts without rows and meters, and with no rule satisfied. */
  readonly facts: Facts;
  /** Null when no rule reads a pushed row. */
  readonly rows: RowsRead | null;
  readonly stepUp: FreshStepUp | null;
}

/**
 * Decides and stores. Entries that a try has made in meters are taken back before the next try, if they were
 * not stored. `stepUp` is null when no step-up has been looked for.
 */
async function decideAndSpend(
  deps: Deps,
  input: AuthorizeInput,
  prepared: DecisionBasis,
  { facts: plain, rows, stepUp }: SpendInput,
): Promise<SpendResult> {
  const { active } = prepared;
  const { store, openRequestsMax: openMax, metering } = deps;
  const satisfied = { escalate: [], reauth: stepUp?.reauth ?? [] };
  const metFacts = stepUp === null ? plain : { ...plain, satisfied };
  const facts = rows === null ? metFacts : { ...metFacts, rows: rows.rows };
  const uses = active.entries(facts);
  const basis = basisOf(input, prepared, [
    ...(stepUp?.documents ?? noDocuments),
    ...(rows?.seen ?? noDocuments),
  ]);
  let decided: DecidedRequest | null = null;
  /** The uses that the last try has entered in meters. */
  let entered: DecidedRequest['uses'] = [];
  let result: SpendResult['result'];
  const takeBack = () => {
    if (entered.length > 0) metering.takeBack(input.requestId, entered);
    entered = [];
  };
  const work = () => {
    takeBack();
    decided = decide(deps, input, { active, facts, uses });
    const { record, uses: added } = decided;
    entered = added;
    if (stepUp === null && stepUpRules(record, active).length > 0) {
      takeBack();
      return null;
    }
    return { row: requestRow(record), limits: { openMax, basis }, entries: entryRows(added), takeBack };
  };
  try {
    result = await store.meters.spend(meterPlaces(uses), work);
  } catch (error) {
    // When it is uncertain whether the request is stored, nothing is taken back: the store does so once it
    // knows, or all meters are read again.
    if (!isUncertain(error)) takeBack();
    else if (decided !== null) deps.onUncertain?.((decided as DecidedRequest).record);
    throw error;
  }
  if (result !== 'stored') takeBack();
  if (decided === null) throw new Error('the store returned a result without deciding');
  return { result, decided };
}

/**
 * The rules that an earlier step-up may satisfy. Only a request that would have to wait is worth the lookup.
 */
function stepUpRules(
  { status, decision }: RequestRecord,
  active: ActivePolicies,
): readonly RuleRequirement[] {
  if (status !== 'pending') return [];
  return askedBy(decision, active).filter((rule) => rule.kind === 'reauth' && rule.withinSeconds !== null);
}

async function freshStepUp(
  { store, findPeople }: Deps,
  { agent }: AuthorizeInput,
  { record }: DecidedRequest,
  { active }: DecisionBasis,
): Promise<FreshStepUp> {
  const stepUp = await lastStepUp({ documents: store.documents, findPeople }, agent);
  const reauth = freshReauths(stepUpRules(record, active), stepUp, record.createdAtMs);
  return stepUp === null || reauth.length === 0
    ? { reauth: [], documents: noDocuments }
    : { reauth, documents: [stepUp.version] };
}

function emitPending(news: RequestEvents | undefined, record: RequestRecord): void {
  const { id: requestId, agentId, actionKey, decision, createdAtMs: atMs } = record;
  const asked = { groups: askedGroups(decision), people: askedPeople(decision) };
  const asksStepUp = decision.requires?.reauth != null;
  const title = recordTitle(record);
  const notice = { requestId, agentId, actionKey, title, ...asked, asksStepUp, atMs };
  news?.emit({ kind: 'pending', status: 'pending', ...notice });
}

// Runs work one after the other for each key, in the order of arrival, so that later work sees what earlier
// work has stored.

export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    const done = () => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(done, done);
    return mine;
  };
}
