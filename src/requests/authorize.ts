// The request path without HTTP: decide, record on disk, reply. INVARIANT: no reply leaves before the record that
// holds its decision is durable; where it cannot be stored, the promise rejects and nothing was granted.

import { performance } from 'node:perf_hooks';
import { type Decision, defaultValidForSeconds, type Outcome } from '../model/decision.ts';
import type { JsonObject } from '../model/json.ts';
import { type AgentFacts, type Facts, nothingSatisfied, type RequestFacts } from '../model/request.ts';
import type { AgentRow, RequestStatus } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { createBodyDigest } from './body-digest.ts';
import type { InForce } from './engine.ts';
import { type KeyUsed, type RequestRecord, requestRecord, requestRow } from './record.ts';
import { type RequestDetail, type RequestView, replyView, requestDetail } from './reply.ts';
import { createSecretHider } from './secrets.ts';
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
}

export interface Authorizer {
  /** Rejects with a StoreError when the record cannot be stored: nothing was granted. */
  authorize(input: AuthorizeInput): Promise<AuthorizeResult>;
  /** The request as it stands now; null where there is none of this agent. */
  find(id: string, agentId: string): Promise<RequestDetail | null>;
}

/** High while nothing but a deadline ends a wait: a low one would lock an honest agent out for a day. */
const openRequestsMaxDefault = 10_000;

const refusalHeldSeconds = 5 * 60;
const defaultApprovalSeconds = 24 * 60 * 60;
const stepUpSeconds = 15 * 60;
const idempotencyKeptMs = 24 * 60 * 60 * 1000;

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { store, policies, clock, openRequestsMax = openRequestsMaxDefault } = options;
  const hideSecrets = createSecretHider(store.masterKey);
  const keyedDigest = createBodyDigest(store.masterKey);

  async function authorize(input: AuthorizeInput): Promise<AuthorizeResult> {
    const nowMs = Math.trunc(clock());
    if (input.idempotencyKey !== null) {
      const earlier = await findEarlier(input, nowMs);
      if (earlier !== null) return earlier;
    }

    const record = decide(input, policies(), nowMs);
    switch (await store.requests.append(requestRow(record), { openMax: openRequestsMax })) {
      case 'stored':
        return {
          ...{ kind: 'decided', request: replyView(record, nowMs) },
          ...{ by: record.decision.by, decideMicroseconds: record.timing.decideMicroseconds },
        };
      case 'too-many-open':
        return { kind: 'too-many-open' };
      case 'duplicate-key':
        return await findWinner(input, nowMs);
    }
  }

  /** What the agent's idempotency key already stands for; null where it is new, or there is none. */
  async function findEarlier(input: AuthorizeInput, nowMs: number): Promise<AuthorizeResult | null> {
    const { idempotencyKey: key, agent } = input;
    if (key === null) return null;
    const row = await store.requests.findByIdempotencyKey({ agentId: agent.id, key, nowMs });
    if (row === null) return null;
    if (row.idempotency?.bodyDigest !== storedDigest(input)) return { kind: 'idempotency-mismatch' };
    const record = requestRecord(row);
    const request = replyView(record, nowMs);
    return { kind: 'decided', request, by: record.decision.by, decideMicroseconds: null };
  }

  /** The same key came twice at the same time, and the other request was stored first. */
  async function findWinner(input: AuthorizeInput, nowMs: number): Promise<AuthorizeResult> {
    const winner = await findEarlier(input, nowMs);
    if (winner === null) throw new Error('a key refused as used must stand for a request');
    return winner;
  }

  function decide(input: AuthorizeInput, inForce: InForce, nowMs: number): RequestRecord {
    const facts = factsOf(input, nowMs);
    const startedAt = performance.now();
    const { decision, trace } = inForce.decideTraced(facts);
    const decidedAt = performance.now();
    const status = firstStatus[decision.outcome];
    const expiresAtMs = nowMs + heldSeconds(decision) * 1000;
    return {
      id: input.requestId,
      agentId: input.agent.id,
      actionKey: input.actionKey,
      payload: hideSecrets(input.payload, {
        shape: inForce.shapeOf(input.actionKey),
        isWellShaped: decision.by !== 'invalid_payload',
      }),
      agent: facts.agent,
      request: facts.request,
      meters: noMeters,
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
      decidedAtMs: status === 'pending' ? null : nowMs,
      expiresAtMs,
    };
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
    const row = await store.requests.find(id);
    return row?.agentId === agentId ? requestDetail(requestRecord(row), clock()) : null;
  }

  return { authorize, find };
}

const noMeters = Object.freeze({});
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

/** How long the reply holds: a grant, a refusal, or the wait for people. */
function heldSeconds(decision: Decision): number {
  switch (decision.outcome) {
    case 'ALLOW':
      return decision.validForSeconds ?? defaultValidForSeconds;
    case 'DENY':
      return refusalHeldSeconds;
    case 'ESCALATE': {
      const deadlines = decision.requires?.approvals.map((approval) => approval.withinSeconds) ?? [];
      return deadlines.length === 0 ? defaultApprovalSeconds : Math.min(...deadlines);
    }
    case 'REAUTH_REQUIRED':
      return stepUpSeconds;
  }
}

function factsOf(input: AuthorizeInput, nowMs: number): Facts {
  return {
    action: input.actionKey,
    payload: input.payload,
    agent: agentFactsOf(input.agent),
    request: requestFacts(input),
    nowMs,
    // No reading is taken, so every meter is unknown, and what is unknown never opens the gate.
    meters: noMeters,
    satisfied: nothingSatisfied,
  };
}

function agentFacts(agent: AgentRow): AgentFacts {
  return {
    id: agent.id,
    name: agent.name,
    risk_tier: agent.riskTier,
    control_owner: agent.controlOwner,
    tags: agent.tags,
  };
}

function requestFacts({ clientAddress, isSigned, session }: AuthorizeInput): RequestFacts {
  const known = { ip: clientAddress, signed: isSigned };
  return session === null ? known : { ...known, session };
}

function microseconds(from: number, to: number): number {
  return Math.round((to - from) * 1000);
}
