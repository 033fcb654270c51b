// The request path without HTTP: decide, record on disk, reply. INVARIANT: no reply leaves before the record that
// holds its decision is durable; where it cannot be stored, the promise rejects and nothing was granted. A record is
// stored only where agent, key and switches are as the decision saw them; else the request is decided anew.

import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { AskedRule } from '../../language/model/asked.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { nothingSatisfied } from '../../language/model/request.ts';
import type { GrantBasis, SeenDocument } from '../store/contract/grant-basis.ts';
import type { AppendResult, Store } from '../store/contract/store.ts';
import { isUncertain } from '../store/contract/store-error.ts';
import { askedBy } from './approvals/decide-again.ts';
import type { FindPeople } from './approvals/people-now.ts';
import { freshReauths, lastStepUp } from './approvals/step-up.ts';
import type { SeenSwitches, SwitchesNow } from './approvals/switches-now.ts';
import { createVoteJudge, type VoteJudge } from './approvals/votes-now.ts';
import { type DecideDeps, type Decided, decide, requestedFacts, storedDigest } from './decide.ts';
import { type Asker, identifyAgain, type NotAllowedNow } from './identify-again.ts';
import { entryRows, meterPlaces } from './metering/entry-rows.ts';
import { type Metering, metered } from './metering/metering.ts';
import { createBodyDigest } from './record/body-digest.ts';
import { type RequestRecord, requestRow } from './record/record.ts';
import { type RequestDetail, type RequestView, replyView, requestDetail } from './record/reply.ts';
import type { RequestEvents } from './record/request-events.ts';
import { freshState, type RequestState, requestStateOf } from './record/request-state.ts';
import { createSecretHider } from './record/secrets.ts';

/** The agent is authenticated, active, within its rate; with its key as it was seen then. */
export interface AuthorizeInput extends Asker {
  readonly actionKey: string;
  /** As the strict reader yields it. */
  readonly payload: JsonObject;
  readonly session: string | null;
  readonly clientAddress: string;
  readonly idempotencyKey: string | null;
  /**
   * SHA-256 of the raw body, in hexadecimal; kept only as a keyed digest, as the body may hold secrets. Null where there
   * is no idempotency key.
   */
  readonly bodyDigest: string | null;
  /** Made by `createRequestId`; never the client's. */
  readonly requestId: string;
}

export type AuthorizeResult =
  | {
      readonly kind: 'decided';
      readonly request: RequestView;
      /** `policy/rule`, or a word of the engine. */
      readonly by: string;
      /** What the decision took now; null where it was made by an earlier request. */
      readonly decideMicroseconds: number | null;
    }
  /** An operator has stopped what it asks for. */
  | { readonly kind: 'stopped'; readonly reason: string }
  /** Agent or key have changed since they were identified. */
  | NotAllowedNow
  | { readonly kind: 'idempotency-mismatch' }
  | { readonly kind: 'too-many-open' };

export interface AuthorizerOptions {
  readonly store: Store;
  /** The set in force at the moment of the call. */
  readonly policies: () => ActivePolicies;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  readonly switches: SwitchesNow;
  readonly findPeople: FindPeople;
  /** The most requests of one agent that wait for people at the same time. */
  readonly openRequestsMax?: number;
  readonly metering: Metering;
  readonly news?: RequestEvents;
  /** Told of each request once it is recorded, before the reply; never throws. */
  readonly onRecorded?: (record: RequestRecord) => void;
}

export interface Authorizer {
  /** Rejects with a StoreError when the record cannot be stored: nothing was granted. */
  authorize(input: AuthorizeInput): Promise<AuthorizeResult>;
  /** The request as it is now; null where there is none of this agent. */
  find(id: string, agentId: string): Promise<RequestDetail | null>;
}

export const openRequestsMaxDefault = 20;

/** More than can come between: each time a change of the agent, its keys or the switches has been stored. */
const triesMax = 50;

interface Deps extends AuthorizerOptions, DecideDeps {
  readonly openRequestsMax: number;
  readonly metering: Metering;
  readonly judge: VoteJudge['judge'];
}

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const deps: Deps = {
    ...options,
    openRequestsMax: options.openRequestsMax ?? openRequestsMaxDefault,
    hideSecrets: createSecretHider(options.store.masterKey),
    keyedDigest: createBodyDigest(options.store.masterKey),
    judge: createVoteJudge(options),
  };
  return {
    authorize: (input) => authorize(deps, input),
    find: (id, agentId) => find(deps, id, agentId),
  };
}

/** By agent, key and switches as they were seen first, which is nearly always as they are; else by those of now. */
async function authorize(deps: Deps, input: AuthorizeInput): Promise<AuthorizeResult> {
  const look = deps.switches.seen();
  let switches = look instanceof Promise ? await look : look;
  let asking = input;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const result = await authorizeAsSeen(deps, asking, switches);
    if (result !== 'basis-changed') return result;
    switches = await deps.switches.lookAgain();
    const asker = await identifyAgain(deps.store, asking, deps.clock());
    if ('kind' in asker) return asker;
    asking = { ...asking, ...asker };
  }
  throw new Error(`the agent \`${input.agent.id}\` changes all the time`);
}

async function authorizeAsSeen(
  deps: Deps,
  input: AuthorizeInput,
  switches: SeenSwitches,
): Promise<AuthorizeResult | 'basis-changed'> {
  const { agent, actionKey } = input;
  if (agent.status !== 'active') return { kind: 'not-allowed-now', why: agent.status };
  const stopping = switches.stoppedBy({ agentId: agent.id, tier: agent.riskTier, actionKey });
  if (stopping !== null) return { kind: 'stopped', reason: stopping.reason };
  const nowMs = Math.trunc(deps.clock());
  if (input.idempotencyKey !== null) {
    const earlier = await findEarlier(deps, input, nowMs);
    if (earlier !== null) return earlier;
  }
  const look = inForceMetered(deps);
  const inForce = look instanceof Promise ? await look : look;
  const asked = { inForce, nowMs, switches };
  let spent = await spend(deps, input, { ...asked, stepUp: null });
  if (spent.result === 'nothing') {
    const stepUp = await freshStepUp(deps, input, spent.decided, asked);
    spent = await spend(deps, input, { ...asked, stepUp });
  }
  switch (spent.result) {
    case 'stored':
      return recorded(deps, spent.decided.record, nowMs);
    case 'duplicate-key':
      return await findWinner(deps, input, nowMs);
    case 'too-many-open':
      return { kind: 'too-many-open' };
    case 'basis-changed':
      return spent.result;
    case 'nothing':
      throw new Error('what has been looked for is not looked for again');
  }
}

function basisOf(
  { agent, key }: Asker,
  { generation }: SeenSwitches,
  documents: readonly SeenDocument[],
): GrantBasis {
  return {
    agentId: agent.id,
    agentVersion: agent.version,
    keyNotAfterMs: key.notAfterMs,
    switchGeneration: generation,
    documents,
  };
}

function recorded({ onRecorded, news }: Deps, record: RequestRecord, nowMs: number): AuthorizeResult {
  onRecorded?.(record);
  if (record.status === 'pending') tellWaiting(news, record);
  return {
    kind: 'decided',
    request: replyView(freshState(record), nowMs),
    by: record.decision.by,
    decideMicroseconds: record.timing.decideMicroseconds,
  };
}

/** At once where its meters are known. */
function inForceMetered({ policies, metering }: Deps): ActivePolicies | Promise<ActivePolicies> {
  const inForce = policies();
  return metering.note(inForce) === null ? inForce : metered(metering, policies);
}

interface Asked {
  readonly inForce: ActivePolicies;
  readonly nowMs: number;
  readonly switches: SeenSwitches;
}

/** With the step-up that has been looked for; null where none has been. */
interface AskedWith extends Asked {
  readonly stepUp: FoundStepUp | null;
}

interface FoundStepUp {
  /** The rules that it satisfies. */
  readonly reauth: readonly string[];
  /** What was read to find it. */
  readonly documents: readonly SeenDocument[];
}

interface Spent {
  /** `nothing`: a rule asks for a step-up, and there may be a fresh one. */
  readonly result: AppendResult | 'nothing';
  /** By the last try. */
  readonly decided: Decided;
}

const noDocuments: readonly SeenDocument[] = [];

/** Decides and stores. What a try has entered into meters is taken back where it was not stored, before the next one. */
async function spend(deps: Deps, input: AuthorizeInput, asked: AskedWith): Promise<Spent> {
  const { store, openRequestsMax: openMax, metering } = deps;
  const { inForce, nowMs, switches, stepUp } = asked;
  const satisfied = stepUp === null ? nothingSatisfied : { escalate: [], reauth: stepUp.reauth };
  const facts = requestedFacts(input, nowMs, satisfied);
  const uses = inForce.entries(facts);
  const basis = basisOf(input, switches, stepUp?.documents ?? noDocuments);
  let decided: Decided | null = null;
  let result: Spent['result'];
  const takeBack = () => {
    if (decided !== null) metering.takeBack(input.requestId, decided.uses);
  };
  const work = () => {
    takeBack();
    decided = decide(deps, input, { inForce, facts, uses });
    const { record } = decided;
    if (stepUp === null && stepUpRules(record, inForce).length > 0) return null;
    return { row: requestRow(record), limits: { openMax, basis }, entries: entryRows(decided.uses) };
  };
  try {
    result = await store.meters.spend(meterPlaces(uses), work);
  } catch (error) {
    // Of one that may be stored nothing is taken back: all meters are read anew.
    if (!isUncertain(error)) takeBack();
    throw error;
  }
  if (result !== 'stored') takeBack();
  if (decided === null) throw new Error('a store does the work before it says what came of it');
  return { result, decided };
}

/** The rules that an earlier step-up may satisfy. Only a request that would have to wait is worth the look. */
function stepUpRules({ status, decision }: RequestRecord, inForce: ActivePolicies): readonly AskedRule[] {
  if (status !== 'pending') return [];
  return askedBy(decision, inForce).filter((rule) => rule.kind === 'reauth' && rule.withinSeconds !== null);
}

async function freshStepUp(
  { store, findPeople }: Deps,
  { agent }: AuthorizeInput,
  { record }: Decided,
  { inForce }: Asked,
): Promise<FoundStepUp> {
  const stepUp = await lastStepUp({ documents: store.documents, findPeople }, agent);
  const reauth = freshReauths(stepUpRules(record, inForce), stepUp, record.createdAtMs);
  return stepUp === null || reauth.length === 0
    ? { reauth: [], documents: noDocuments }
    : { reauth, documents: [stepUp.seen] };
}

function tellWaiting(news: RequestEvents | undefined, record: RequestRecord): void {
  const { id: requestId, agentId, actionKey, decision, createdAtMs: atMs } = record;
  const groups = decision.requires?.approvals.map(({ group }) => group) ?? [];
  news?.emit({ kind: 'pending', requestId, agentId, actionKey, status: 'pending', groups, atMs });
}

/** The request that the agent's idempotency key already means; null where it is new, or there is none. */
async function findEarlier(
  deps: Deps,
  input: AuthorizeInput,
  nowMs: number,
): Promise<AuthorizeResult | null> {
  const { idempotencyKey: key, agent } = input;
  const { requests } = deps.store;
  if (key === null) return null;
  const row = await requests.findByIdempotencyKey({ agentId: agent.id, key, nowMs });
  if (row === null) return null;
  if (row.idempotency?.bodyDigest !== storedDigest(deps, input)) return { kind: 'idempotency-mismatch' };
  const state = await judged(deps, requestStateOf({ row, events: await requests.events(row.id) }));
  return {
    kind: 'decided',
    request: replyView(state, nowMs),
    by: state.decision.by,
    decideMicroseconds: null,
  };
}

/** The same key came twice at the same time, and the other request was stored first. */
async function findWinner(deps: Deps, input: AuthorizeInput, nowMs: number): Promise<AuthorizeResult> {
  const winner = await findEarlier(deps, input, nowMs);
  if (winner === null) throw new Error('a key refused as used must stand for a request');
  return winner;
}

async function judged({ judge }: Deps, state: RequestState): Promise<RequestState> {
  return (await judge([state]))[0] ?? state;
}

async function find(deps: Deps, id: string, agentId: string): Promise<RequestDetail | null> {
  const history = await deps.store.requests.history(id);
  if (history?.row.agentId !== agentId) return null;
  return requestDetail(await judged(deps, requestStateOf(history)), deps.clock());
}
