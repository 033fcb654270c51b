// A decided request into the row that a store keeps, and back: all that a replay of the decision needs, and how the
// request stands. INVARIANT: what comes back equals what went in.

import type { Decision } from '../model/decision.ts';
import type { JsonObject } from '../model/json.ts';
import type { AgentFacts, RequestFacts, Satisfied } from '../model/request.ts';
import type { TracedRule } from '../model/trace.ts';
import type { RequestRow } from '../store/records.ts';

export interface RequestRecord extends Omit<RequestRow, 'outcome' | 'recordJson'>, DecisionRecord {}

/** What never changes about a decided request. */
interface DecisionRecord {
  /** Secret fields are replaced by keyed digests. */
  readonly payload: JsonObject;
  /** The agent as it was. */
  readonly agent: AgentFacts;
  readonly request: RequestFacts;
  readonly meters: Readonly<Record<string, RecordedReading>>;
  readonly satisfied: Satisfied;
  readonly decision: Decision;
  readonly trace: readonly TracedRule[];
  readonly policySet: { readonly digest: string; readonly commit: string | null };
  readonly isSigned: boolean;
  readonly clientAddress: string;
  readonly timing: RequestTiming;
}

/** Both ends of a meter's reading as decimal text. */
interface RecordedReading {
  readonly low: string;
  readonly high: string;
}

interface RequestTiming {
  readonly decideMicroseconds: number;
  readonly traceMicroseconds: number;
}

export function requestRow(record: RequestRecord): RequestRow {
  const { id, agentId, actionKey, createdAtMs, idempotency, status, decidedAtMs, expiresAtMs, ...rest } =
    record;
  const kept: DecisionRecord = rest;
  return {
    id,
    agentId,
    actionKey,
    outcome: record.decision.outcome,
    createdAtMs,
    idempotency,
    status,
    decidedAtMs,
    expiresAtMs,
    recordJson: JSON.stringify(kept),
  };
}

export function requestRecord({ outcome: _, recordJson, ...row }: RequestRow): RequestRecord {
  // Written by `requestRow`.
  return { ...(JSON.parse(recordJson) as DecisionRecord), ...row };
}
