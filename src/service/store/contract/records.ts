// The rows that a store keeps, as plain data: agents and their keys, requests and refusals, used nonces, plants. Times are
// milliseconds since 1970-01-01T00:00Z. INVARIANT: no row holds a secret in clear, a key or a signing secret included.

import type { CanonicalValue } from './canonical-json.ts';

export const agentStatuses = ['active', 'disabled', 'revoked'] as const;
/** `revoked` is final. */
export type AgentStatus = (typeof agentStatuses)[number];

export const signingModes = ['off', 'optional', 'required'] as const;
export type SigningMode = (typeof signingModes)[number];

/** The risk tiers of the language, which a store does not know: its schema admits these words and no others. */
export const riskTierTexts = ['low', 'medium', 'high', 'critical'] as const;

export interface AgentRow {
  readonly id: string;
  /** 1 to 100 characters; unique, upper and lower case ASCII letters taken as equal. */
  readonly name: string;
  readonly riskTier: (typeof riskTierTexts)[number];
  readonly controlOwner: string;
  readonly tags: readonly string[];
  readonly status: AgentStatus;
  readonly signing: SigningMode;
  /** The signing secret, encrypted with the master key; null where none was made. */
  readonly sealedSigningSecret: string | null;
  /** How many requests it may send in a minute, and at once; null where it is what all may. */
  readonly ratePerMinute: number | null;
  readonly burst: number | null;
  /** Whether its refusals say what would pass. */
  readonly tellsChange: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** 1 at first, one more with each change of the agent or of one of its keys. */
  readonly version: number;
}

export interface KeyRow {
  /** The eight characters after `writ_`. */
  readonly id: string;
  readonly agentId: string;
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly digest: string;
  readonly createdAtMs: number;
  /** From this moment the key is refused; null while it is the agent's current key. */
  readonly notAfterMs: number | null;
  /** To the minute; null before the first use. */
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

/** Of what has expired: a wait that nobody ended in time, and a grant whose time is over. */
const expiredKinds = ['unanswered', 'grant_over'] as const;
export const askedStatuses = [...requestStatuses, ...expiredKinds] as const;
/** What a list is asked for. */
export type AskedStatus = (typeof askedStatuses)[number];

/** Where a request is in its lifecycle. */
export interface LifecycleState {
  readonly status: RequestStatus;
  /** Null while pending. */
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
] as const;

/** Something that became of a request after it was recorded; the last one says where its lifecycle is. */
export interface RequestEvent {
  readonly requestId: string;
  readonly atMs: number;
  /** The person; `system` where nobody did it. */
  readonly who: string;
  /**
   * `approved` and `rejected` are one person's vote; `decided` is what the policies made of it; `released`: the grant is
   * not used, and counts in no meter any more; `taken`: its agent has come for the grant and proceeds; `withdrawn`: its
   * agent has given up the wait; `commented`: somebody has said something without deciding; `taken-back`: somebody has taken
   * their approval back.
   */
  readonly what: (typeof requestEventNames)[number];
  /** Where its lifecycle is afterwards. */
  readonly state: LifecycleState;
  /** What belongs to it, such as a comment or a second decision; null where nothing does. */
  readonly detail: CanonicalValue;
}

/** A decided request: where its lifecycle is now, and what never changes. */
export interface RequestRow extends LifecycleState {
  /** UUID version 7. */
  readonly id: string;
  readonly agentId: string;
  readonly actionKey: string;
  readonly outcome: string;
  /** The moment on which the decision was made. */
  readonly createdAtMs: number;
  readonly idempotency: Idempotency | null;
  /** All that a replay of the decision needs, as JSON; a store does not look into it. */
  readonly recordJson: string;
}

interface Idempotency {
  readonly key: string;
  /** Keyed digest of the raw body. */
  readonly bodyDigest: string;
  /** Until then the key means this request; later by as much as its end has been put off. */
  readonly keptUntilMs: number;
}

/** An authenticated request that was refused before any policy saw it. */
export interface RefusalRecord {
  /** UUID version 7. */
  readonly id: string;
  readonly agentId: string;
  readonly keyId: string;
  readonly atMs: number;
  /** The HTTP status of the reply. */
  readonly httpStatus: number;
  /** The code of the error in the reply. */
  readonly code: string;
  /** What the reply said; never a value from the body. */
  readonly detail: string;
  readonly clientAddress: string;
  /** Keyed digest of the raw body; null where it was not read. */
  readonly bodyDigest: string | null;
}

/** A signature's nonce, which is good once. */
export interface NonceUse {
  /** With the agent's id: agents have their own nonces. */
  readonly nonce: string;
  readonly usedAtMs: number;
  /** Until then it must not be good again. */
  readonly keptUntilMs: number;
}

export interface PlantRow {
  /** A signed 64-bit integer. */
  readonly id: bigint;
  readonly name: string;
  readonly tag: string | null;
}
