// Fills in the past of a meter: from its stored entries if every request of its window has entered it,
// otherwise computed from records. The past is read in parts with pauses, so that requests are decided
// meanwhile; the meter is unknown until the last part is in.

import { isDelegationMeter } from '../../../language/model/lasting-meters.ts';
import {
  type Contribution,
  type MeterDefinition,
  type MeterUse,
  meterRestart,
} from '../../../language/model/metering.ts';
import { nothingSatisfied } from '../../../language/model/request.ts';
import { parseDecimal } from '../../../language/value/decimal.ts';
import { memo } from '../../../language/value/memo.ts';
import { countsUntilMs, windowStartMs } from '../../../language/value/meter-window.ts';
import type { HistoricEntry, MeterTotals } from '../../meters/meter-totals.ts';
import type {
  CountedRequest,
  CountedRequests,
  MeterEntryRow,
  MeterHistory,
  MeterStore,
  StoredMeterEntry,
} from '../../store/contract/metering.ts';
import type { RequestRecord } from '../record/record.ts';
import type { ConsumedDetail } from '../record/request-state.ts';
import { recordedUses } from './delegation-uses.ts';
import type { MeteredPolicies } from './entry-rows.ts';
import { entryRows } from './entry-rows.ts';

export interface FillOptions {
  readonly totals: MeterTotals;
  readonly meters: MeterStore;
  readonly active: MeteredPolicies;
  readonly nowMs: number;
  /** Since when every request has entered the meter; null when entries of some requests may be missing. */
  readonly sinceMs: number | null;
  /** Whether the meter is still wanted. */
  readonly isStill: () => boolean;
}

/** The past has gaps; filling it in before `untilMs` is useless. */
export interface MissingHistory {
  readonly untilMs: number;
}

/** Entries read, or records computed, between two pauses. */
const entriesAtOnce = 2_000;
const recordsAtOnce = 50;

/** Allows for a clock that is set back, by which older entries count again. */
export const aheadMs = 24 * 60 * 60 * 1000;

/** Whether every request of the meter's window has entered it. */
export function isStored(
  { over }: MeterDefinition,
  { sinceMs, nowMs }: Pick<FillOptions, 'sinceMs' | 'nowMs'>,
): boolean {
  return sinceMs !== null && sinceMs <= windowStartMs(over, nowMs) - aheadMs;
}

/** Fills the meter in from its stored entries. */
export async function fillFromEntries(
  definition: MeterDefinition,
  { pending, granted }: Pick<MeterHistory, 'pending' | 'granted'>,
  { totals, nowMs, isStill }: FillOptions,
): Promise<null> {
  // Pending requests come first, so that none is missed that is approved meanwhile: from here on the totals
  // hold them.
  const waiting = await pending(definition.id);
  if (!isStill()) return null;
  totals.fillPart(definition, pastOf(definition, waiting));
  for await (const entries of granted(definition.id, windowStartMs(definition.over, nowMs) - aheadMs)) {
    if (!isStill()) return null;
    totals.fillPart(definition, pastOf(definition, entries));
    await pause();
  }
  if (isStill()) totals.fill(definition, []);
  return null;
}

/**
 * Computes the past from records. Returns null when the meter is filled or no longer wanted, and otherwise
 * until when its past has gaps.
 */
export async function fillFromRecords(
  definition: MeterDefinition,
  { totals, meters, active, nowMs, isStill }: FillOptions,
): Promise<MissingHistory | null> {
  const sinceMs = windowStartMs(definition.over, nowMs) - aheadMs;
  const completeSinceMs = await meters.completeSinceMs();
  const missingUntil = completeSinceMs === null ? null : countsUntilMs(definition.over, completeSinceMs);
  if (missingUntil !== null && nowMs < missingUntil) return { untilMs: missingUntil };
  const past: HistoricEntry[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page = { definition: definition.id, sinceMs, after, countMax: recordsAtOnce };
    const { requests, next }: CountedRequests = await meters.counted(page);
    if (!isStill()) return null;
    const waiting: (MeterEntryRow & { requestId: string })[] = [];
    for (const request of requests) {
      const rows = rowsOf(definition, request, active);
      // A pending request may be granted at any time.
      const untilMs = countsUntilMs(definition.over, request.grantedAtMs ?? nowMs);
      if (rows === null && nowMs >= untilMs) continue;
      if (rows === null) return { untilMs };
      for (const row of rows) {
        past.push(pastEntry(definition, { ...row, ...request, requestId: request.id }));
        // Requests made after the meter was noted have stored their entries already.
        waiting.push({ ...row, requestId: request.id });
      }
    }
    if (waiting.length > 0) await meters.add(waiting);
    after = next;
    await pause();
  }
  past.sort((a, b) => (a.grantedAtMs ?? 0) - (b.grantedAtMs ?? 0));
  for (let at = 0; at < past.length; at += entriesAtOnce) {
    if (!isStill()) return null;
    totals.fillPart(definition, past.slice(at, at + entriesAtOnce));
    await pause();
  }
  await meters.noteComplete(definition.id, Math.max(sinceMs, completeSinceMs ?? 0));
  if (isStill()) totals.fill(definition, []);
  return null;
}

/** What a recorded request adds to the meter; null when its record does not show that. */
function rowsOf(
  definition: MeterDefinition,
  request: CountedRequest,
  active: MeteredPolicies,
): readonly MeterEntryRow[] | null {
  // `requestRow` has written this text.
  const record = JSON.parse(request.recordJson) as Pick<
    RequestRecord,
    'payload' | 'agent' | 'request' | 'satisfied' | 'chain'
  >;
  const uses = isDelegationMeter(definition)
    ? recordedUses(record.chain)
    : policyUses(request, record, active);
  return uses === null ? null : entryRows(uses.filter((use) => use.definition.id === definition.id));
}

type CountedRecord = Pick<RequestRecord, 'payload' | 'agent' | 'request' | 'satisfied'>;

/** What a recorded request adds to the meters of the policies; null when its record does not show that. */
function policyUses(
  request: CountedRequest,
  record: CountedRecord,
  active: MeteredPolicies,
): readonly MeterUse[] | null {
  // `reportOutcome` has written this text.
  const outcome = JSON.parse(request.outcomeJson ?? '{}') as Partial<ConsumedDetail>;
  const { standing } = record.satisfied;
  return active.entriesRecorded({
    action: request.actionKey,
    payload: record.payload,
    agent: record.agent,
    request: record.request,
    nowMs: request.createdAtMs,
    meters: {},
    satisfied: standing === undefined ? nothingSatisfied : { ...nothingSatisfied, standing },
    ...(outcome.result === undefined ? {} : { result: outcome.result }),
  });
}

function pastOf(definition: MeterDefinition, entries: readonly StoredMeterEntry[]): readonly HistoricEntry[] {
  // Many requests add the same, so what they add is one object.
  const cache = new Map<string, Contribution>();
  return entries.map((entry) => {
    const { requestId, key, grantedAtMs, isCertain, value } = entry;
    const contribution = memo(cache, `${isCertain} ${typeof value} ${value}`, () =>
      contributionOf(definition, entry),
    );
    return { requestId, key, grantedAtMs, contribution };
  });
}

export function pastEntry(definition: MeterDefinition, entry: StoredMeterEntry): HistoricEntry {
  const { requestId, key, grantedAtMs } = entry;
  return { requestId, key, grantedAtMs, contribution: contributionOf(definition, entry) };
}

function contributionOf(
  { aggregate }: MeterDefinition,
  { isCertain, value }: Pick<StoredMeterEntry, 'isCertain' | 'value'>,
): Contribution {
  const isText = value === null || aggregate === 'values' || value === meterRestart.value;
  return { isCertain, value: isText ? value : parseDecimal(value) };
}

/** Lets requests that have arrived meanwhile be served first. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
