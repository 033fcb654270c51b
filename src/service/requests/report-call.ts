// Reports the outcome of a call that its reporter knows by what was called, since the id of its request is lost. INVARIANT:
// a report reaches only a grant of the same caller, and no two reports reach the same grant, unless they are the same report.

import { isSameMeaning } from '../../language/model/canonical.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { anyRequest } from '../store/contract/store.ts';
import type { ChangeResult, RequestChangeDeps } from './approvals/change-request.ts';
import { type OutcomeReport, reportOutcome } from './approvals/report-outcome.ts';
import { createKeyedQueue } from './keyed-queue.ts';
import { type AgentCaller, isOwnRequest, type RequestState, requestStateOf } from './record/request-state.ts';
import { createSecretHider, type HideSecrets } from './record/secrets.ts';
import { consumerOf } from './resume.ts';

/** A call as its agent made it. Session and idempotency key are in the scope of the caller. */
export interface NamedCall {
  readonly actionKey: string;
  readonly payload: JsonObject;
  readonly session: string | null;
  /** The key that the call was sent with, which alone then names its grant; null when it had none. */
  readonly idempotencyKey: string | null;
}

export interface CallReport extends OutcomeReport {
  readonly by: AgentCaller;
}

export type ReportCall = (call: NamedCall, report: CallReport) => Promise<ChangeResult>;

/** Reports of equal calls run one after the other, so that the second finds what the first has reported. */
export function createCallReporter(deps: RequestChangeDeps): ReportCall {
  const inTurn = createKeyedQueue();
  const hideSecrets = createSecretHider(deps.store.masterKey);
  return (call, report) =>
    inTurn(JSON.stringify([report.by.agent.id, call.actionKey, call.session]), () =>
      call.idempotencyKey === null
        ? reportByContent(deps, { call, report, hideSecrets })
        : reportByKey(deps, { call, report, key: call.idempotencyKey }),
    );
}

interface ReportedCall {
  readonly call: NamedCall;
  readonly report: CallReport;
}

/** The grant that was asked for under the key, or the approval that a call under the key has taken. */
async function reportByKey(
  deps: RequestChangeDeps,
  { call, report, key }: ReportedCall & { readonly key: string },
): Promise<ChangeResult> {
  const { agent } = report.by;
  const nowMs = Math.trunc(deps.clock());
  const row = await deps.store.requests.findByIdempotencyKey({ agentId: agent.id, key, nowMs });
  if (row !== null && row.actionKey === call.actionKey && !isOver(row.status))
    return await reportOutcome(deps, row.id, report);
  const taker = consumerOf({ agent, idempotencyKey: key });
  const takenByKey = (await grantsOf(deps, { call, report })).find(({ taken }) => taken?.taker === taker);
  return takenByKey === undefined
    ? { kind: 'unknown' }
    : await reportOutcome(deps, takenByKey.record.id, report);
}

/** A request that was never granted; a call under its key may have taken another request. */
function isOver(status: RequestState['status']): boolean {
  return status === 'rejected' || status === 'expired' || status === 'withdrawn' || status === 'pending';
}

/** The newest grant for exactly this call whose outcome is not reported; a repeated report finds its own grant again. */
async function reportByContent(
  deps: RequestChangeDeps,
  { call, report, hideSecrets }: ReportedCall & { readonly hideSecrets: HideSecrets },
): Promise<ChangeResult> {
  const shape = deps.policies().shapeOf(call.actionKey);
  const payload = hideSecrets(call.payload, { shape, isWellShaped: true });
  const grants = (await grantsOf(deps, { call, report })).filter(
    ({ record }) =>
      (record.request.session ?? null) === call.session && isSameMeaning(record.payload, payload),
  );
  const repeated = grants.find(({ reportId }) => reportId !== null && reportId === report.reportId);
  if (repeated !== undefined) return await reportOutcome(deps, repeated.record.id, report);
  for (const { record, wasExecuted } of grants) {
    if (wasExecuted !== null) continue;
    const changed = await reportOutcome(deps, record.id, { ...report, isFirst: true });
    // Another process was faster with this grant.
    if (changed.kind !== 'conflict') return changed;
  }
  return { kind: 'unknown' };
}

/** How many grants of an action are looked at, the latest first. */
const grantsMax = 100;

/** The caller's latest grants for the action. */
async function grantsOf(
  { store, clock }: RequestChangeDeps,
  { call, report }: ReportedCall,
): Promise<readonly RequestState[]> {
  const { actionKey } = call;
  const ofAction = { ...anyRequest, agentId: report.by.agent.id, actionKey, nowMs: Math.trunc(clock()) };
  const { items } = await store.requests.list({ ...ofAction, after: null, countMax: grantsMax });
  return items.map(requestStateOf).filter(isGrantOf(report.by));
}

function isGrantOf(by: AgentCaller): (state: RequestState) => boolean {
  return ({ record, status, taken }) =>
    isOwnRequest(by, record) && (status === 'auto_approved' || status === 'consumed' || taken !== null);
}
