// The request path without HTTP: decide, record on disk, reply. INVARIANT: no reply leaves before the record that
// holds its decision is durable; where it cannot be stored, the promise rejects and nothing was granted. A record is
// stored only where agent, key and switches are as the decision saw them; else the request is decided anew.

import { performance } from 'node:perf_hooks';
import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { Outcome } from '../../language/model/decision.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { MeterUse } from '../../language/model/metering.ts';
import {
  type Facts,
  nothingSatisfied,
  type RequestFacts,
  type Satisfied,
} from '../../language/model/request.ts';
import { memo } from '../../language/value/memo.ts';
import type { GrantBasis, SeenDocument } from '../store/contract/grant-basis.ts';
import type { RequestStatus } from '../store/contract/records.ts';
import type { AppendResult, Store } from '../store/contract/store.ts';
import { askedBy } from './approvals/decide-again.ts';
import type { FindPeople } from './approvals/people-now.ts';
import { freshReauths, lastStepUp } from './approvals/step-up.ts';
import type { SeenSwitches, SwitchesNow } from './approvals/switches-now.ts';
import { createVoteJudge, type VoteJudge } from './approvals/votes-now.ts';
import { attach } from './attach.ts';
import { earlierReply, findEarlier, findWinner, idempotencyOf, judged } from './idempotency.ts';
import { type Asker, identifyAgain, type NotAllowedNow } from './identify-again.ts';
import { entryRows } from './metering/entry-rows.ts';
import { type Metering, metered, noReadings } from './metering/metering.ts';
import { agentFacts } from './record/agent-facts.ts';
import { createBodyDigest } from './record/body-digest.ts';
import { createReceiptBases, type ReceiptBases } from './record/receipt-basis.ts';
import { type RequestRecord, requestRow } from './record/record.ts';
import { type RequestDetail, type RequestView, replyView, requestDetail } from './record/reply.ts';
import type { RequestEvents } from './record/request-events.ts';
import { freshState, requestStateOf } from './record/request-state.ts';
import { createSecretHider } from './record/secrets.ts';
import { validSeconds } from './record/validity.ts';
import { engineVersions } from './record/versions.ts';
import { requestDigest } from './record/vote-scope.ts';
import { createTurns } from './turns.ts';

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
  /** Whether a request that the agent has already is as good; no unless said otherwise. */
  readonly isAttaching?: boolean;
  /** The request that it has waited for, and wants no other one in place of. */
  readonly awaitedId?: string;
  /** For whom a receipt is wanted: an empty text leaves that to the action; none unless said otherwise. */
  readonly receiptFor?: string | null;
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

interface Deps extends AuthorizerOptions {
  readonly openRequestsMax: number;
  readonly hideSecrets: ReturnType<typeof createSecretHider>;
  readonly keyedDigest: (sha256: string) => string;
  readonly judge: VoteJudge['judge'];
  readonly receiptBases: ReceiptBases;
}

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const deps: Deps = {
    ...options,
    openRequestsMax: options.openRequestsMax ?? openRequestsMaxDefault,
    hideSecrets: createSecretHider(options.store.masterKey),
    keyedDigest: createBodyDigest(options.store.masterKey),
    judge: createVoteJudge(options),
    receiptBases: createReceiptBases(options.store.masterKey),
  };
  const inTurn = createTurns();
  return {
    authorize: (input) =>
      input.isAttaching === true
        ? inTurn(turnOf(input), () => authorize(deps, input))
        : authorize(deps, input),
    find: (id, agentId) => find(deps, id, agentId),
  };
}

/** Calls for the same come one after the other, so that the second finds what the first has made. */
function turnOf({ agent, actionKey, payload }: AuthorizeInput): string {
  return requestDigest({ agentId: agent.id, actionKey, payload });
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
  if (input.isAttaching === true) {
    const held = await attach(deps, input);
    if (held === 'basis-changed') return held;
    if (held !== null) return earlierReply(await judged(deps, held), nowMs);
  }
  if (input.idempotencyKey !== null) {
    const earlier = await findEarlier(deps, input, nowMs);
    if (earlier !== null) return earlier;
  }
  const look = inForceMetered(deps);
  const inForce = look instanceof Promise ? await look : look;
  let decided = decide(deps, input, { inForce, nowMs, satisfied: nothingSatisfied });
  if (decided.record.status === 'pending')
    decided = await withFreshStepUp(deps, input, { decided, inForce, nowMs });
  const result = await append(deps, decided, basisOf(input, switches, decided.documents));
  switch (result) {
    case 'stored':
      return recorded(deps, decided.record, nowMs);
    case 'duplicate-key':
      return await findWinner(deps, input, nowMs);
    case 'too-many-open':
      return { kind: 'too-many-open' };
    case 'basis-changed':
      return result;
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

/** What was entered into meters is taken back where nothing was stored, before anything is decided anew. */
async function append(
  { store, openRequestsMax: openMax, metering }: Deps,
  { record, uses }: Decided,
  basis: GrantBasis,
): Promise<AppendResult> {
  let result: AppendResult | null = null;
  try {
    result = await store.requests.append(requestRow(record), { openMax, basis }, entryRows(uses));
  } finally {
    if (result !== 'stored') metering.takeBack(record.id, uses);
  }
  return result;
}

/** Decided again where an earlier step-up satisfies a rule. Only a request that would have to wait is worth the look. */
async function withFreshStepUp(
  deps: Deps,
  input: AuthorizeInput,
  {
    decided,
    inForce,
    nowMs,
  }: { readonly decided: Decided; readonly inForce: ActivePolicies; readonly nowMs: number },
): Promise<Decided> {
  const { metering, store, findPeople } = deps;
  const { record, uses } = decided;
  const asked = askedBy(record.decision, inForce).filter(
    (rule) => rule.kind === 'reauth' && rule.withinSeconds !== null,
  );
  if (asked.length === 0) return decided;
  try {
    const stepUp = await lastStepUp({ documents: store.documents, findPeople }, input.agent);
    const reauth = freshReauths(asked, stepUp, record.createdAtMs);
    if (stepUp === null || reauth.length === 0) return decided;
    // In one step: what was reserved gives way to what is entered now.
    metering.settle(input.requestId, null);
    const again = decide(deps, input, { inForce, nowMs, satisfied: { escalate: [], reauth } });
    return { ...again, documents: [stepUp.seen] };
  } catch (error) {
    metering.takeBack(record.id, uses);
    throw error;
  }
}

function tellWaiting(news: RequestEvents | undefined, record: RequestRecord): void {
  const { id: requestId, agentId, actionKey, decision, createdAtMs: atMs } = record;
  const groups = decision.requires?.approvals.map(({ group }) => group) ?? [];
  news?.emit({ kind: 'pending', requestId, agentId, actionKey, status: 'pending', groups, atMs });
}

async function find(deps: Deps, id: string, agentId: string): Promise<RequestDetail | null> {
  const history = await deps.store.requests.history(id);
  if (history?.row.agentId !== agentId) return null;
  return requestDetail(await judged(deps, requestStateOf(history)), deps.clock());
}

interface DecideOptions {
  readonly inForce: ActivePolicies;
  readonly nowMs: number;
  readonly satisfied: Satisfied;
}

/** One synchronous step: what the meters say, the decision, what it adds to the meters. */
function decide(deps: Deps, input: AuthorizeInput, { inForce, nowMs, satisfied }: DecideOptions): Decided {
  const { metering } = deps;
  const asked = factsOf(input, nowMs, satisfied);
  const uses = inForce.entries(asked);
  const readings =
    uses.length === 0 ? noReadings : metering.read(uses, { nowMs, requestId: input.requestId });
  const facts = readings === noReadings ? asked : { ...asked, meters: readings.known };
  const startedAt = performance.now();
  const { decision, trace, resolved } = inForce.decideTraced(facts);
  const decidedAt = performance.now();
  const status = firstStatus[decision.outcome];
  const expiresAtMs = nowMs + validSeconds(decision) * 1000;
  const decidedAtMs = status === 'pending' ? null : nowMs;
  if (status !== 'rejected') metering.enter(input.requestId, uses, decidedAtMs);
  const record: RequestRecord = {
    id: input.requestId,
    agentId: input.agent.id,
    actionKey: input.actionKey,
    payload: deps.hideSecrets(input.payload, {
      shape: inForce.shapeOf(input.actionKey),
      isWellShaped: decision.by !== 'invalid_payload',
    }),
    ...(resolved === undefined ? {} : { resolved }),
    agent: facts.agent,
    request: facts.request,
    meters: readings.recorded,
    satisfied: facts.satisfied,
    createdAtMs: nowMs,
    decision,
    trace,
    policySet: policySetOf(inForce),
    engine: engineVersions,
    key: { id: input.key.id, isReplaced: input.key.notAfterMs !== null },
    isSigned: input.isSigned,
    clientAddress: input.clientAddress,
    timing: { decideMicroseconds: microseconds(startedAt, decidedAt) },
    idempotency: idempotencyOf(deps, input, expiresAtMs),
    status,
    decidedAtMs,
    expiresAtMs,
  };
  // Nearly no request wants one, and a copy costs more than the look.
  const isProved = typeof input.receiptFor === 'string' && status !== 'rejected';
  return {
    record: isProved ? { ...record, ...deps.receiptBases.wantedBy(input) } : record,
    uses: status === 'rejected' ? [] : uses,
    documents: noDocuments,
  };
}

const noDocuments: readonly SeenDocument[] = [];

interface Decided {
  readonly record: RequestRecord;
  /** What it adds to meters: nothing where it is refused. */
  readonly uses: readonly MeterUse[];
  /** What the decision rests on besides agent, key and switches. */
  readonly documents: readonly SeenDocument[];
}

/** One object for all requests that share what it says: a record writes such a part once. */
const policySetOf = remember(({ digest, commit }: ActivePolicies) => ({ digest, commit }));
const agentFactsOf = remember(agentFacts);

/** What `make` yields, made once for as long as somebody holds what it was made of. */
function remember<From extends object, To extends object>(make: (from: From) => To): (from: From) => To {
  const made = new WeakMap<From, To>();
  return (from) => memo(made, from, make);
}

const firstStatus = {
  ALLOW: 'auto_approved',
  DENY: 'rejected',
  ESCALATE: 'pending',
  REAUTH_REQUIRED: 'pending',
} as const satisfies Record<Outcome, RequestStatus>;

function factsOf(input: AuthorizeInput, nowMs: number, satisfied: Satisfied): Facts {
  return {
    action: input.actionKey,
    payload: input.payload,
    agent: agentFactsOf(input.agent),
    request: requestFacts(input),
    nowMs,
    meters: noReadings.known,
    satisfied,
  };
}

function requestFacts({ clientAddress, isSigned, session }: AuthorizeInput): RequestFacts {
  const known = { ip: clientAddress, signed: isSigned };
  return session === null ? known : { ...known, session };
}

function microseconds(from: number, to: number): number {
  return Math.round((to - from) * 1000);
}
