// The rows that a store keeps, as plain data: agents and their keys, requests and refusals, used nonces,
// plants. Times are milliseconds since 1970-01-01T00:00Z. INVARIANT: no row holds a secret in clear text;
// keys and signing secrets count as secrets.

import type { CanonicalValue } from './canonical-json.ts';

export const agentStatuses = ['active', 'disabled', 'revoked'] as const;
/** `revoked` is final. */
export type AgentStatus = (typeof agentStatuses)[number];

export const signingModes = ['off', 'optional', 'required'] as const;
export type SigningMode = (typeof signingModes)[number];

/**
 * The risk tiers of the language, repeated because a store does not know the language: its schema admits
 * these words and no others.
 */
export const riskTierTexts = ['low', 'medium', 'high', 'critical'] as const;

export interface AgentRow {
  readonly id: string;
  /** 1 to 100 characters; unique without regard to ASCII case. */
  readonly name: string;
  readonly riskTier: (typeof riskTierTexts)[number];
  readonly controlOwner: string;
  readonly tags: readonly string[];
  readonly status: AgentStatus;
  readonly signing: SigningMode;
  /** The signing secret, encrypted with the master key; null when there is none. */
  readonly sealedSigningSecret: string | null;
  /**
   * How many requests the agent may send in a minute, and at once (`burst`); null when the limits of all
   * agents apply.
   */
  readonly ratePerMinute: number | null;
  readonly burst: number | null;
  /** Whether a denial tells the agent which change would be allowed. */
  readonly tellsChange: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** 1 at first; grows by 1 with each change of the agent or of one of its keys. */
  readonly version: number;
}

export interface KeyRow {
  /** The eight characters that follow `writ_` in the key. */
  readonly id: string;
  readonly agentId: string;
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly digest: string;
  readonly createdAtMs: number;
  /** The key is refused from this moment on; null while it is the agent's current key. */
  readonly notAfterMs: number | null;
  /** When the key was last used, rounded down to the minute; null before the first use. */
  readonly lastUsedAtMs: number | null;
}

export interface AgentWithKey {
  readonly agent: AgentRow;
  readonly key: KeyRow;
}

export const requestStatuses = [
  'auto_approved',
  'rejected',
  'pending',
  'approved',
  'expired',
  'consumed',
  'withdrawn',
] as const;
export type RequestStatus = (typeof requestStatuses)[number];

/** The two kinds of `expired`: a wait that nobody ended in time, and a grant whose time is over. */
const expiredKinds = ['unanswered', 'grant_over'] as const;
export const filterStatuses = [...requestStatuses, ...expiredKinds] as const;
/** A status by which lists are filtered. */
export type FilterStatus = (typeof filterStatuses)[number];

/** Where a request is in its lifecycle. */
export interface LifecycleState {
  readonly status: RequestStatus;
  /** When the request was decided; null while it is pending. */
  readonly decidedAtMs: number | null;
  readonly expiresAtMs: number;
}

export const requestEventNames = [
  'expired',
  'approved',
  'rejected',
  'stepped-up',
  'decided',
  'consumed',
  'released',
  'taken',
  'withdrawn',
  'commented',
  'taken-back',
  'fallback-asked',
  'reminded',
] as const;

/**
 * Something that happened to a request after it was recorded. The last event holds the present lifecycle
 * state.
 */
export interface RequestEvent {
  readonly requestId: string;
  readonly atMs: number;
  /** The person who did it; `system` when nobody did. */
  readonly who: string;
  /**
   * `approved` and `rejected` are one person's vote; `decided` is what the policies made of the votes;
   * `released`: the grant is not used, and no meter counts it any more; `taken`: the agent has come for the
   * grant and proceeds; `withdrawn`: the agent has given up waiting; `commented`: somebody has commented
   * without deciding; `taken-back`: somebody has taken back their approval; `fallback-asked`: from now on, others
   * may approve as well; `reminded`: people were reminded that the request is pending.
   */
  readonly what: (typeof requestEventNames)[number];
  /** The lifecycle state after the event. */
  readonly state: LifecycleState;
  /** What belongs to the event, such as a comment or a second decision; null for nothing. */
  readonly detail: CanonicalValue;
}

/** A decided request: its present lifecycle state, and what never changes. */
export interface RequestRow extends LifecycleState {
  /** The id of the request, a UUID version 7. */
  readonly id: string;
  readonly agentId: string;
  readonly actionKey: string;
  readonly outcome: string;
  /** The moment of the decision. */
  readonly createdAtMs: number;
  readonly idempotency: Idempotency | null;
  /** All that a replay of the decision needs, as JSON; a store does not read it. */
  readonly recordJson: string;
}

interface Idempotency {
  readonly key: string;
  /** Keyed digest of the raw request body. */
  readonly bodyDigest: string;
  /**
   * Until then the key means this request. When events put off the end of the request, this time moves by as
   * much.
   */
  readonly keptUntilMs: number;
}

/** An authenticated request that was refused before policies decided on it. */
export interface RefusalRecord {
  /** The id of the refusal, a UUID version 7. */
  readonly id: string;
  readonly agentId: string;
  readonly keyId: string;
  readonly atMs: number;
  /** The HTTP status of the reply. */
  readonly httpStatus: number;
  /** The code of the error in the reply. */
  readonly code: string;
  /** The detail of the reply; never holds a value from the body. */
  readonly detail: string;
  readonly clientAddress: string;
  /** Keyed digest of the raw request body; null when the body was not read. */
  readonly bodyDigest: string | null;
}

/** A signature's nonce, which is accepted once. */
export interface NonceUse {
  /** Begins with the agent's id, so that each agent has nonces of its own. */
  readonly nonce: string;
  readonly usedAtMs: number;
  /** The nonce must not be accepted again before this time. */
  readonly keptUntilMs: number;
}

export interface PlantRow {
  /** A signed 64-bit integer. */
  readonly id: bigint;
  readonly name: string;
  readonly tag: string | null;
}
