// Turns an authenticated request into the record of its decision: reads the meters, decides by the active
// policies, and enters the result in the meters. INVARIANT: all of this is one synchronous step, so no other
// request comes between.

import { performance } from 'node:perf_hooks';
import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { Outcome } from '../../language/model/decision.ts';
import type { MeterUse } from '../../language/model/metering.ts';
import type { Facts } from '../../language/model/request.ts';
import { titleText } from '../../language/model/title.ts';
import { memo } from '../../language/value/memo.ts';
import type { ActingChain } from '../agents/delegations/delegation.ts';
import type { RequestStatus } from '../store/contract/records.ts';
import type { AuthorizeInput } from './authorize.ts';
import { idempotencyOf } from './idempotency.ts';
import { type Metering, noReadings } from './metering/metering.ts';
import { engineVersions } from './record/engine-versions.ts';
import { requestableMs } from './record/evaluation.ts';
import { validSeconds } from './record/lifecycle.ts';
import type { ReceiptBases } from './record/receipt-basis.ts';
import type { RecordedLink, RequestRecord } from './record/record.ts';
import type { createSecretHider } from './record/secrets.ts';

export interface DecideDeps {
  readonly metering: Pick<Metering, 'read' | 'enter'>;
  readonly hideSecrets: ReturnType<typeof createSecretHider>;
  readonly keyedDigest: (sha256: string) => string;
  readonly receiptBases: ReceiptBases;
}

export interface DecideOptions {
  readonly active: ActivePolicies;
  /** The facts without meters. */
  readonly facts: Facts;
  readonly uses: readonly MeterUse[];
}

/** Reads the meters, decides, and enters the result in the meters, all in one synchronous step. */
export function decideRequest(
  deps: DecideDeps,
  input: AuthorizeInput,
  { active, facts: requestFacts, uses }: DecideOptions,
): DecidedRequest {
  const { metering } = deps;
  const { nowMs } = requestFacts;
  const readings =
    uses.length === 0 ? noReadings : metering.read(uses, { nowMs, requestId: input.requestId });
  const facts = readings === noReadings ? requestFacts : { ...requestFacts, meters: readings.known };
  const startedAt = performance.now();
  const { decision, trace, resolved, payload } = active.decideTraced(facts);
  const decidedAt = performance.now();
  const first = firstStatus[decision.outcome];
  const isRequestable = first === 'pending' && input.evaluation?.deniedId === null;
  // An evaluation never waits for people: it is denied, and people may be asked by an access request that
  // follows.
  const status = isRequestable ? 'rejected' : first;
  const expiresAtMs = nowMs + (isRequestable ? requestableMs : validSeconds(decision) * 1000);
  const decidedAtMs = status === 'pending' ? null : nowMs;
  if (status !== 'rejected') metering.enter(input.requestId, uses, decidedAtMs);
  const record: RequestRecord & { title?: string } = {
    id: input.requestId,
    agentId: input.agent.id,
    actionKey: input.actionKey,
    payload: deps.hideSecrets(input.payload, {
      shape: active.shapeOf(input.actionKey),
      isWellShaped: decision.by !== 'invalid_payload',
    }),
    agent: facts.agent,
    request: facts.request,
    meters: readings.recorded,
    satisfied: facts.satisfied,
    createdAtMs: nowMs,
    decision,
    trace,
    policySet: policySetOf(active),
    engine: engineVersions,
    key: { id: input.key.id, isReplaced: input.key.notAfterMs !== null && input.workload === undefined },
    isSigned: input.isSigned,
    clientAddress: input.clientAddress,
    timing: { decideMicroseconds: microseconds(startedAt, decidedAt) },
    idempotency: idempotencyOf(deps, input, expiresAtMs),
    status,
    decidedAtMs,
    expiresAtMs,
  };
  const title = active.titleOf(input.actionKey);
  const isTitled = title !== null && decision.by !== 'invalid_payload';
  if (isTitled) record.title = titleText(title, input.payload, payload);
  const more = rareParts(deps, input, { resolved, status, rows: facts.rows });
  return {
    record: more === null ? record : { ...record, ...more },
    uses: status === 'rejected' ? [] : uses,
  };
}

type RareParts = Pick<
  RequestRecord,
  'resolved' | 'rows' | 'receipt' | 'point' | 'chain' | 'workload' | 'userUnknown' | 'evaluation' | 'plan'
>;

/**
 * The parts that few records have; null for most requests, since a record made in one piece costs less than a
 * copy.
 */
function rareParts(
  { receiptBases }: DecideDeps,
  input: AuthorizeInput,
  {
    resolved,
    rows,
    status,
  }: {
    readonly resolved: RareParts['resolved'] | undefined;
    readonly rows: Facts['rows'];
    readonly status: RequestStatus;
  },
): RareParts | null {
  const isProved = typeof input.receiptFor === 'string' && status !== 'rejected';
  const { point, chain, workload, evaluation, plan, onBehalf } = input;
  const isByKey = point === undefined && chain === undefined && workload === undefined;
  const isOwn = isByKey && onBehalf === undefined;
  const isPlain = resolved === undefined && rows === undefined && isOwn;
  if (isPlain && !isProved && evaluation === undefined && plan === undefined) return null;
  return {
    ...(resolved && { resolved }),
    ...(rows && { rows: rows.given }),
    ...(isProved && receiptBases.requestedBy(input)),
    ...(point && { point: { id: point.id, name: point.name } }),
    ...(chain && { chain: memo(recordedChains, chain, recordedLinks) }),
    ...(workload && { workload: { issuer: workload.issuer, subject: workload.subject } }),
    ...(onBehalf && 'unknown' in onBehalf && { userUnknown: onBehalf.unknown }),
    ...(evaluation && { evaluation }),
    ...(plan && { plan }),
  };
}

/** Requests by one chain share its part of the record. */
const recordedChains = new WeakMap<ActingChain, readonly RecordedLink[]>();

function recordedLinks({ links }: ActingChain): readonly RecordedLink[] {
  return links.map(({ id, name, actions, when, uses }) => ({
    id,
    name,
    actions,
    when,
    ...(uses !== null && { uses }),
  }));
}

export interface DecidedRequest {
  readonly record: RequestRecord;
  /** What the request adds to meters; empty when it is refused. */
  readonly uses: readonly MeterUse[];
}

/** Requests with the same policy set share one object, so that records write that part only once. */
const policySets = new WeakMap<ActivePolicies, RequestRecord['policySet']>();
const policySetOf = (active: ActivePolicies) =>
  memo(policySets, active, ({ digest, commit }) => ({ digest, commit }));

const firstStatus = {
  ALLOW: 'auto_approved',
  DENY: 'rejected',
  ESCALATE: 'pending',
  REAUTH_REQUIRED: 'pending',
} as const satisfies Record<Outcome, RequestStatus>;

function microseconds(from: number, to: number): number {
  return Math.round((to - from) * 1000);
}
