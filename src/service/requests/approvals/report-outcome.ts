// The report by an agent or a person of what became of a grant: it was used, or it will not be. A grant that
// will not be used leaves the meters if the reporter is trusted.

import { isSameMeaning } from '../../../language/model/canonical.ts';
import type { PayloadIssue } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { EnteredMeter } from '../../meters/meter-totals.ts';
import type { SettledEntryRow } from '../../store/contract/metering.ts';
import { settledRows } from '../metering/entry-rows.ts';
import {
  type AgentCaller,
  type ConsumedDetail,
  eventOf,
  isOwnRequest,
  type RequestState,
} from '../record/request-state.ts';
import {
  type ChangeResult,
  changeRequest,
  type Events,
  type RefusedChange,
  type RequestChangeDeps,
  type RequestSnapshot,
  type ResultFault,
} from './change-request.ts';
import { recordedFacts } from './decide-again.ts';
import { closedReason } from './grant-context.ts';
import { type Caller, isWithin } from './rights.ts';

export interface OutcomeReport {
  readonly executed: boolean;
  /** What the call returned; absent when the report does not include a result. */
  readonly result?: JsonObject;
  /** Why there is no result; `missing` by default. */
  readonly fault?: ResultFault;
  /** Identifies the report, so that it is known when it comes again; absent when its sender gave no id. */
  readonly reportId?: string;
  /** Whether an outcome that was reported before is a conflict, even when it is the same. */
  readonly isFirst?: boolean;
  readonly by: { readonly person: Caller } | AgentCaller;
  /** Whether a report by this caller that the grant is not used takes it out of the meters. */
  readonly mayRelease: boolean;
}

export function reportOutcome(
  deps: RequestChangeDeps,
  id: string,
  report: OutcomeReport,
): Promise<ChangeResult> {
  let entered: readonly EnteredMeter[] = [];
  const { result = null } = report;
  const entriesOf = (state: RequestState) => (result === null ? [] : settledEntries(deps, state, result));
  return changeRequest(deps, {
    id,
    asker: null,
    handler: async (snapshot) => {
      const { state, nowMs } = snapshot;
      if (!isReporter(snapshot, report)) return { kind: 'unknown' };
      const issues = resultIssues(deps, state, report);
      if (issues.length > 0) {
        deps.onUnknownResult?.(state.record.actionKey, 'mistyped');
        return { kind: 'invalid-result', issues };
      }
      const releases = isRelease(snapshot, report);
      const consumed = consumedEvents(snapshot, report, releases);
      if (!Array.isArray(consumed) || !releases) return consumed;
      entered = await deps.store.meters.enteredBy(id);
      const { decidedAtMs, expiresAtMs } = state;
      const after = { status: 'consumed', decidedAtMs, expiresAtMs } as const;
      return [...consumed, eventOf('released', { who: whoOf(report), atMs: nowMs, state: after }, {})];
    },
    entries: entriesOf,
    afterCommit: (events, state) => {
      const { id: requestId } = state.record;
      const grantedAtMs = grantedAt(state);
      const { fault = 'missing' } = report;
      // A result with another shape was noted when it was refused.
      if (report.executed && result === null && fault !== 'mistyped' && declaresResult(deps, state))
        deps.onUnknownResult?.(state.record.actionKey, fault);
      deps.metering.report(entriesOf(state).map((entry) => ({ ...entry, requestId, grantedAtMs })));
      if (events.some(({ what }) => what === 'released')) withdraw(deps, state, entered);
    },
  });
}

/** A person may report only with a role that covers this agent; an agent, only about its own requests. */
function isReporter({ state, agent }: RequestSnapshot, { by }: OutcomeReport): boolean {
  if ('agent' in by) return isOwnRequest(by, state.record);
  return isWithin(by.person.report, { person: by.person, state, agent });
}

function isRelease({ state, nowMs }: RequestSnapshot, { executed, mayRelease }: OutcomeReport): boolean {
  return !executed && mayRelease && !state.isReleased && nowMs < state.expiresAtMs;
}

function consumedEvents(
  { state, nowMs }: RequestSnapshot,
  report: OutcomeReport,
  releases: boolean,
): Events | RefusedChange | 'nothing' {
  const { executed, result = null, reportId, isFirst = false } = report;
  if (isFirst && state.wasExecuted !== null)
    return { kind: 'conflict', detail: 'its outcome has been reported' };
  const isRepeated = state.wasExecuted === executed;
  if (isRepeated && result !== null && !isSameMeaning(result, state.result))
    return { kind: 'conflict', detail: 'its outcome has been reported without this result' };
  if (isRepeated) return releases ? [] : 'nothing';
  // A late report that a grant was used is still true. A report that a grant will not be used means nothing
  // once the grant is over.
  const isOpen =
    state.taken !== null && state.wasExecuted === null && (executed || nowMs < state.expiresAtMs);
  const over = closedReason(state, 'outcome', executed ? Number.NEGATIVE_INFINITY : nowMs);
  // A grant that was taken is used up, and its outcome may still be reported.
  if (over !== null && !isOpen) return over;
  const { decidedAtMs, expiresAtMs } = state;
  const after = { status: 'consumed', decidedAtMs, expiresAtMs } as const;
  const detail: ConsumedDetail = {
    executed,
    ...(result === null ? {} : { result }),
    ...(reportId === undefined ? {} : { reportId }),
  };
  return [eventOf('consumed', { who: whoOf(report), atMs: nowMs, state: after }, detail)];
}

function declaresResult({ policies }: RequestChangeDeps, { record }: RequestState): boolean {
  return policies().resultShapeOf(record.actionKey) !== null;
}

/** What is wrong with the reported result; empty when nothing is. */
function resultIssues(
  { policies }: RequestChangeDeps,
  { record }: RequestState,
  { executed, result }: OutcomeReport,
): readonly PayloadIssue[] {
  if (result === undefined) return [];
  if (!executed) return [{ pointer: '', message: 'an action that was not carried out has no result' }];
  const issues = policies().checkResult(record.actionKey, result);
  return issues ?? [{ pointer: '', message: 'the action declares no result' }];
}

/**
 * The entries that depend on the result. A record that no longer fits the action's shape leaves its entries
 * unchanged.
 */
function settledEntries(
  { policies }: RequestChangeDeps,
  { record }: RequestState,
  result: JsonObject,
): readonly SettledEntryRow[] {
  return settledRows(policies().entriesRecorded({ ...recordedFacts(record), result }) ?? []);
}

function grantedAt({ record, decidedAtMs }: RequestState): number {
  return decidedAtMs ?? record.createdAtMs;
}

/** The reporter, as named in the record. */
function whoOf({ by }: OutcomeReport): string {
  return 'agent' in by ? `agent ${by.agent.id}` : by.person.who;
}

/**
 * Takes a grant that is not used out of the meters, both where the store has entries of it and where its
 * record says that it entered.
 */
function withdraw(
  { policies, metering }: RequestChangeDeps,
  state: RequestState,
  stored: readonly EnteredMeter[],
): void {
  const { record } = state;
  const uses = policies().entriesRecorded(recordedFacts(record)) ?? [];
  const computed = uses.flatMap(({ definition, key }) =>
    key === null ? [] : [{ definition: definition.id, key }],
  );
  metering.withdraw(record.id, grantedAt(state), [...stored, ...computed]);
}
