// Turns records into columns of the SQLite schema, and columns into records. JSON columns hold whatever has
// no column of its own.

import { type CanonicalValue, canonicalJson } from '../contract/canonical-json.ts';
import {
  type AgentRow,
  agentStatuses,
  type KeyRow,
  type LifecycleState,
  type RefusalRecord,
  type RequestEvent,
  type RequestRow,
  requestEventNames,
  requestStatuses,
  riskTierTexts,
  signingModes,
} from '../contract/records.ts';

/**
 * SQL for the time until which an idempotency key means its request. When events put off the end of the
 * request, this time moves by as much.
 */
export const idempotencyExpiry =
  'idempotency_until_ms + max(0, coalesce(now_expires_ms, expires_ms) - expires_ms)';

export interface AgentColumns {
  readonly id: string;
  readonly name: string;
  readonly risk_tier: string;
  readonly control_owner: string;
  readonly tags_json: string;
  readonly status: string;
  readonly signing: string;
  readonly sealed_signing_secret: string | null;
  readonly rate_per_minute: number | null;
  readonly burst: number | null;
  /** 0 or 1. */
  readonly tells_change: number;
  readonly created_ms: number;
  readonly changed_ms: number;
  readonly version: number;
}

export interface KeyColumns {
  readonly id: string;
  readonly agent_id: string;
  readonly digest: string;
  readonly created_ms: number;
  readonly not_after_ms: number | null;
  readonly last_used_ms: number | null;
}

export interface RequestColumns {
  readonly id: string;
  readonly agent_id: string;
  readonly action_key: string;
  readonly outcome: string;
  readonly status: string;
  readonly created_ms: number;
  readonly decided_ms: number | null;
  readonly expires_ms: number;
  readonly idempotency_key: string | null;
  readonly idempotency_digest: string | null;
  readonly idempotency_until_ms: number | null;
  readonly record_json: string;
}

/** A stored request; the columns of its present state are null until its first event. */
export interface StoredRequestColumns extends RequestColumns {
  readonly now_status: string | null;
  readonly now_decided_ms: number | null;
  readonly now_expires_ms: number | null;
}

/** What a record of the chain has beside its columns. */
interface RecordLink {
  readonly sequence: number;
  readonly hash: string;
  /** The seal of the record: see `recordSeal`. */
  readonly seal: string;
}

/** A row of `requests`, whole. */
export interface StoredRequestRow extends StoredRequestColumns, RecordLink {}

export interface RefusalColumns {
  readonly id: string;
  readonly agent_id: string;
  readonly key_id: string;
  readonly at_ms: number;
  readonly http_status: number;
  readonly code: string;
  readonly detail: string;
  readonly client_address: string;
  readonly body_digest: string | null;
}

export interface EventColumns {
  readonly request_id: string;
  readonly at_ms: number;
  readonly who: string;
  readonly what: string;
  readonly status: string;
  readonly decided_ms: number | null;
  readonly expires_ms: number;
  readonly detail_json: string | null;
}

/** A row of `request_events`, whole. */
export interface StoredEventRow extends EventColumns, RecordLink {}

export function agentColumns(agent: AgentRow): AgentColumns {
  return {
    id: agent.id,
    name: agent.name,
    risk_tier: agent.riskTier,
    control_owner: agent.controlOwner,
    tags_json: JSON.stringify(agent.tags),
    status: agent.status,
    signing: agent.signing,
    sealed_signing_secret: agent.sealedSigningSecret,
    rate_per_minute: agent.ratePerMinute,
    burst: agent.burst,
    tells_change: agent.tellsChange ? 1 : 0,
    created_ms: agent.createdAtMs,
    changed_ms: agent.changedAtMs,
    version: agent.version,
  };
}

export function agentRow(columns: AgentColumns): AgentRow {
  return {
    id: columns.id,
    name: columns.name,
    riskTier: oneOf(riskTierTexts, columns.risk_tier),
    controlOwner: columns.control_owner,
    // Written by `agentColumns`.
    tags: JSON.parse(columns.tags_json) as readonly string[],
    status: oneOf(agentStatuses, columns.status),
    signing: oneOf(signingModes, columns.signing),
    sealedSigningSecret: columns.sealed_signing_secret,
    ratePerMinute: columns.rate_per_minute,
    burst: columns.burst,
    tellsChange: columns.tells_change === 1,
    createdAtMs: columns.created_ms,
    changedAtMs: columns.changed_ms,
    version: columns.version,
  };
}

export function keyColumns(key: KeyRow): KeyColumns {
  return {
    id: key.id,
    agent_id: key.agentId,
    digest: key.digest,
    created_ms: key.createdAtMs,
    not_after_ms: key.notAfterMs,
    last_used_ms: key.lastUsedAtMs,
  };
}

export function keyRow(columns: KeyColumns): KeyRow {
  return {
    id: columns.id,
    agentId: columns.agent_id,
    digest: columns.digest,
    createdAtMs: columns.created_ms,
    notAfterMs: columns.not_after_ms,
    lastUsedAtMs: columns.last_used_ms,
  };
}

export function requestColumns(row: RequestRow): RequestColumns {
  return {
    id: row.id,
    agent_id: row.agentId,
    action_key: row.actionKey,
    outcome: row.outcome,
    status: row.status,
    created_ms: row.createdAtMs,
    decided_ms: row.decidedAtMs,
    expires_ms: row.expiresAtMs,
    idempotency_key: row.idempotency?.key ?? null,
    idempotency_digest: row.idempotency?.bodyDigest ?? null,
    idempotency_until_ms: row.idempotency?.keptUntilMs ?? null,
    record_json: row.recordJson,
  };
}

export function requestRowOf(columns: StoredRequestColumns): RequestRow {
  const later = laterState(columns);
  const { idempotency_key: key, idempotency_digest: bodyDigest, idempotency_until_ms: keptUntilMs } = columns;
  return {
    id: columns.id,
    agentId: columns.agent_id,
    actionKey: columns.action_key,
    outcome: columns.outcome,
    createdAtMs: columns.created_ms,
    idempotency:
      key === null || bodyDigest === null || keptUntilMs === null ? null : { key, bodyDigest, keptUntilMs },
    status: later?.status ?? oneOf(requestStatuses, columns.status),
    decidedAtMs: later === null ? columns.decided_ms : later.decidedAtMs,
    expiresAtMs: later?.expiresAtMs ?? columns.expires_ms,
    recordJson: columns.record_json,
  };
}

/** Returns how a request stands after its last event; null when it has no event. */
function laterState(columns: StoredRequestColumns): LifecycleState | null {
  const { now_status: status, now_decided_ms: decidedAtMs, now_expires_ms: expiresAtMs } = columns;
  if (status === null || expiresAtMs === null) return null;
  return { status: oneOf(requestStatuses, status), decidedAtMs, expiresAtMs };
}

export function eventColumns({ requestId, atMs, who, what, state, detail }: RequestEvent): EventColumns {
  return {
    request_id: requestId,
    at_ms: atMs,
    who,
    what,
    status: state.status,
    decided_ms: state.decidedAtMs,
    expires_ms: state.expiresAtMs,
    detail_json: detail === null ? null : canonicalJson(detail),
  };
}

export function requestEvent(columns: EventColumns): RequestEvent {
  return {
    requestId: columns.request_id,
    atMs: columns.at_ms,
    who: columns.who,
    what: oneOf(requestEventNames, columns.what),
    state: {
      status: oneOf(requestStatuses, columns.status),
      decidedAtMs: columns.decided_ms,
      expiresAtMs: columns.expires_ms,
    },
    // Written by `eventColumns`.
    detail: columns.detail_json === null ? null : (JSON.parse(columns.detail_json) as CanonicalValue),
  };
}

export function refusalColumns(refusal: RefusalRecord): RefusalColumns {
  return {
    id: refusal.id,
    agent_id: refusal.agentId,
    key_id: refusal.keyId,
    at_ms: refusal.atMs,
    http_status: refusal.httpStatus,
    code: refusal.code,
    detail: refusal.detail,
    client_address: refusal.clientAddress,
    body_digest: refusal.bodyDigest,
  };
}

export function refusalRecord(columns: RefusalColumns): RefusalRecord {
  return {
    id: columns.id,
    agentId: columns.agent_id,
    keyId: columns.key_id,
    atMs: columns.at_ms,
    httpStatus: columns.http_status,
    code: columns.code,
    detail: columns.detail,
    clientAddress: columns.client_address,
    bodyDigest: columns.body_digest,
  };
}

/**
 * Returns the text as a member of its type. Throws when the column holds another text, which the schema
 * prevents.
 */
function oneOf<T extends string>(values: readonly T[], text: string): T {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new Error(`a column has \`${text}\` instead of one of ${values.join(', ')}`);
  return value;
}
