// The request path without HTTP: decide, record on disk, reply. INVARIANT: no reply leaves before the record that
// holds its decision is durable; where it cannot be stored, the promise rejects and nothing was granted.

import { performance } from 'node:perf_hooks';
import type { Outcome } from '../model/decision.ts';
import type { JsonObject } from '../model/json.ts';
import type { MeterUse } from '../model/metering.ts';
import { type Facts, nothingSatisfied, type RequestFacts, type Satisfied } from '../model/request.ts';
import type { AgentRow, RequestStatus } from '../store/records.ts';
import type { AppendResult, Store } from '../store/store.ts';
import { agentFacts } from './agent-facts.ts';
import { createBodyDigest } from './body-digest.ts';
import { askedBy } from './decide-again.ts';
import type { InForce } from './engine.ts';
import type { RequestNewsDesk } from './events.ts';
import { heldSeconds } from './held.ts';
import { entryRows, type Metering, metered, noReadings } from './metering.ts';
import { type KeyUsed, type RequestRecord, requestRow } from './record.ts';
import { type RequestDetail, type RequestView, replyView, requestDetail } from './reply.ts';
import { createSecretHider } from './secrets.ts';
import { freshStanding, standingOf } from './standing.ts';
import { freshReauths, lastStepUp } from './step-up.ts';
import { engineVersions } from './versions.ts';

export interface AuthorizeInput {
  /** Authenticated, active, within its rate. */
  readonly agent: AgentRow;
  readonly key: KeyUsed;
  readonly actionKey: string;
  /** As the strict reader yields it. */
  readonly payload: JsonObject;
  /** The request carries a valid signature. */
  readonly isSigned: boolean;
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
  | { readonly kind: 'idempotency-mismatch' }
  | { readonly kind: 'too-many-open' };

export interface AuthorizerOptions {
  readonly store: Store;
  /** The set in force at the moment of the call. */
  readonly policies: () => InForce;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  /** The most requests of one agent that wait for people at the same time. */
  readonly openRequestsMax?: number;
  readonly metering: Metering;
  readonly news?: RequestNewsDesk;
  /** Told of each request once it is recorded, before the reply; never throws. */
  readonly onRecorded?: (record: RequestRecord) => void;
}

export interface Authorizer {
  /** Rejects with a StoreError when the record cannot be stored: nothing was granted. */
  authorize(input: AuthorizeInput): Promise<AuthorizeResult>;
  /** The request as it stands now; null where there is none of this agent. */
  find(id: string, agentId: string): Promise<RequestDetail | null>;
}

export const openRequestsMaxDefault = 20;

const idempotencyKeptMs = 24 * 60 * 60 * 1000;

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { store, policies, clock, openRequestsMax = openRequestsMaxDefault, metering, news } = options;
  const { onRecorded } = options;
  const hideSecrets = createSecretHider(store.masterKey);
  const keyedDigest = createBodyDigest(store.masterKey);

  async function authorize(input: AuthorizeInput): Promise<AuthorizeResult> {
    const nowMs = Math.trunc(clock());
    if (input.idempotencyKey !== null) {
      const earlier = await findEarlier(input, nowMs);
      if (earlier !== null) return earlier;
    }

    const look = inForceMetered();
    const inForce = look instanceof Promise ? await look : look;
    let decided = decide(input, { inForce, nowMs, satisfied: nothingSatisfied });
    if (decided.record.status === 'pending') {
      const reauth = await freshFor(decided, input.agent, inForce);
      // In one step: what was reserved gives way to what is entered now.
      if (reauth.length > 0) metering.settle(input.requestId, null);
      if (reauth.length > 0) decided = decide(input, { inForce, nowMs, satisfied: { escalate: [], reauth } });
    }
    const { record } = decided;
    switch (await append(decided)) {
      case 'stored':
        onRecorded?.(record);
        if (record.status === 'pending') tellWaiting(record);
        return {
          ...{ kind: 'decided', request: replyView(freshStanding(record), nowMs) },
          ...{ by: record.decision.by, decideMicroseconds: record.timing.decideMicroseconds },
        };
      case 'too-many-open':
        return { kind: 'too-many-open' };
      case 'duplicate-key':
        return await findWinner(input, nowMs);
    }
  }

  /** At once where its meters are known. */
  function inForceMetered(): InForce | Promise<InForce> {
    const inForce = policies();
    return metering.note(inForce) === null ? inForce : metered(metering, policies);
  }

  /** What was entered into meters is taken back where nothing was stored. */
  async function append({ record, uses }: Decided): Promise<AppendResult> {
    let result: AppendResult | null = null;
    try {
      result = await store.requests.append(requestRow(record), { openMax: openRequestsMax }, entryRows(uses));
    } finally {
      if (result !== 'stored') metering.takeBack(record.id, uses);
    }
    return result;
  }

  /** Rules that a step-up of before satisfies. Only a request that would have to wait is worth the look. */
  async function freshFor({ record, uses }: Decided, agent: AgentRow, inForce: InForce) {
    const asked = askedBy(record.decision, inForce).filter(
      (rule) => rule.kind === 'reauth' && rule.withinSeconds !== null,
    );
    if (asked.length === 0) return [];
    try {
      return freshReauths(asked, await lastStepUp(store.documents, agent), record.createdAtMs);
    } catch (error) {
      metering.takeBack(record.id, uses);
      throw error;
    }
  }

  function tellWaiting({
    id: requestId,
    agentId,
    actionKey,
    decision,
    createdAtMs: atMs,
  }: RequestRecord): void {
    const groups = decision.requires?.approvals.map(({ group }) => group) ?? [];
    news?.tell({ kind: 'pending', requestId, agentId, actionKey, status: 'pending', groups, atMs });
  }

  /** What the agent's idempotency key already stands for; null where it is new, or there is none. */
  async function findEarlier(input: AuthorizeInput, nowMs: number): Promise<AuthorizeResult | null> {
    const { idempotencyKey: key, agent } = input;
    if (key === null) return null;
    const row = await store.requests.findByIdempotencyKey({ agentId: agent.id, key, nowMs });
    if (row === null) return null;
    if (row.idempotency?.bodyDigest !== storedDigest(input)) return { kind: 'idempotency-mismatch' };
    const standing = standingOf({ row, events: await store.requests.events(row.id) });
    const request = replyView(standing, nowMs);
    return { kind: 'decided', request, by: standing.decision.by, decideMicroseconds: null };
  }

  /** The same key came twice at the same time, and the other request was stored first. */
  async function findWinner(input: AuthorizeInput, nowMs: number): Promise<AuthorizeResult> {
    const winner = await findEarlier(input, nowMs);
    if (winner === null) throw new Error('a key refused as used must stand for a request');
    return winner;
  }

  function decide(
    input: AuthorizeInput,
    { inForce, nowMs, satisfied }: { inForce: InForce; nowMs: number; satisfied: Satisfied },
  ): Decided {
    const asked = factsOf(input, nowMs, satisfied);
    const uses = inForce.entries(asked);
    const readings =
      uses.length === 0 ? noReadings : metering.read(uses, { nowMs, requestId: input.requestId });
    const facts = readings === noReadings ? asked : { ...asked, meters: readings.known };
    const startedAt = performance.now();
    const { decision, trace, resolved } = inForce.decideTraced(facts);
    const decidedAt = performance.now();
    const status = firstStatus[decision.outcome];
    const expiresAtMs = nowMs + heldSeconds(decision) * 1000;
    const decidedAtMs = status === 'pending' ? null : nowMs;
    if (status !== 'rejected') metering.enter(input.requestId, uses, decidedAtMs);
    const record: RequestRecord = {
      id: input.requestId,
      agentId: input.agent.id,
      actionKey: input.actionKey,
      payload: hideSecrets(input.payload, {
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
      key: input.key,
      isSigned: input.isSigned,
      clientAddress: input.clientAddress,
      timing: { decideMicroseconds: microseconds(startedAt, decidedAt) },
      idempotency: idempotencyOf(input, expiresAtMs),
      status,
      decidedAtMs,
      expiresAtMs,
    };
    return { record, uses: status === 'rejected' ? [] : uses };
  }

  function idempotencyOf(input: AuthorizeInput, expiresAtMs: number): RequestRecord['idempotency'] {
    const key = input.idempotencyKey;
    if (key === null) return null;
    return { key, bodyDigest: storedDigest(input), keptUntilMs: expiresAtMs + idempotencyKeptMs };
  }

  function storedDigest({ bodyDigest }: AuthorizeInput): string {
    if (bodyDigest === null) throw new Error('an idempotency key comes with the digest of its body');
    return keyedDigest(bodyDigest);
  }

  async function find(id: string, agentId: string): Promise<RequestDetail | null> {
    const history = await store.requests.history(id);
    return history?.row.agentId === agentId ? requestDetail(standingOf(history), clock()) : null;
  }

  return { authorize, find };
}

interface Decided {
  readonly record: RequestRecord;
  /** What it adds to meters: nothing where it is refused. */
  readonly uses: readonly MeterUse[];
}

/** One object for all requests that share what it says: a record writes such a part once. */
const policySetOf = remember(({ digest, commit }: InForce) => ({ digest, commit }));
const agentFactsOf = remember(agentFacts);

/** What `make` yields, made once for as long as somebody holds what it was made of. */
function remember<From extends object, To>(make: (from: From) => To): (from: From) => To {
  const made = new WeakMap<From, To>();
  return (from) => {
    const known = made.get(from);
    if (known !== undefined) return known;
    const fresh = make(from);
    made.set(from, fresh);
    return fresh;
  };
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
