// All meters of the service and their running totals. A meter is identified by its definition, not by its
// name: what was counted under one definition is never read under another. INVARIANT: everything here is
// synchronous, so that reading, deciding and reserving are one step that no other request comes between.

import type { Contribution, MeterDefinition, MeterEntry } from '../../language/model/metering.ts';
import type { MeterReading } from '../../language/model/request.ts';
import { isLastingMeter } from '../../language/value/lasting-meter.ts';
import { memo } from '../../language/value/memo.ts';
import { type ReadingOf, Window } from './window.ts';

/** An entry of an earlier request, from the records. */
export interface HistoricEntry {
  readonly requestId: string;
  readonly key: string;
  /** Null while the request is pending. */
  readonly grantedAtMs: number | null;
  readonly contribution: Contribution;
}

/** A meter, by definition and key, that a request has entered. */
export interface EnteredMeter {
  readonly definition: string;
  readonly key: string;
}

export type ReadingAt = Omit<ReadingOf, 'current'>;

export interface MeterTotals {
  /**
   * Returns the reading of the meter, including the request that asks. Null (unknown) when the meter's past
   * has not been filled in, or when its key or some value is unknown.
   */
  read(entry: MeterEntry, at: ReadingAt): MeterReading | null;
  /** Enters a pending request into every meter that counts it. */
  reserve(requestId: string, entries: readonly MeterEntry[]): void;
  /** Enters a granted request; if it was pending, its wait ends. */
  grant(requestId: string, entries: readonly MeterEntry[], atMs: number): void;
  /** Grants a pending request: what it had reserved counts as granted from now on. */
  approve(requestId: string, atMs: number): void;
  /** Ends the wait of a pending request without a grant. */
  release(requestId: string): void;
  /** Takes back a grant whose record could not be stored. */
  revoke(requestId: string, entries: readonly MeterEntry[]): void;
  /**
   * Takes back a grant that is not used. It no longer counts in the windows it has entered, and is skipped
   * when a past is filled in.
   */
  withdraw(requestId: string, grantedAtMs: number, entered: readonly EnteredMeter[]): void;
  /**
   * Makes an entry stand as it does elsewhere, whatever its state here; an entry that is gone no longer
   * counts.
   */
  move(definition: MeterDefinition, entry: HistoricEntry, isGone: boolean): void;
  /** Whether the meter's past has been filled in. */
  isFilled(definitionId: string): boolean;
  /**
   * Adds a part of the past of a meter, which stays unknown. Entries that are there already are not entered
   * again.
   */
  fillPart(definition: MeterDefinition, past: Iterable<HistoricEntry>): void;
  /** Adds the last part of the past: from now on the meter is known. */
  fill(definition: MeterDefinition, past: Iterable<HistoricEntry>): void;
  /** Forgets meters that no policy uses any more, and windows that are empty. */
  tidy(inUse: ReadonlySet<string>, nowMs: number): void;
}

interface Meter {
  readonly windows: Map<string, Window>;
  /** What happened to requests before the past was filled in; null afterwards. */
  meanwhile: ConcurrentChanges | null;
}

interface ConcurrentChanges {
  /** Ids of requests whose entries are already in the totals. */
  readonly entered: Set<string>;
  /**
   * When pending requests were granted; null for requests that ended without a grant or were released. The
   * past may still show them in their earlier state.
   */
  readonly ended: Map<string, number | null>;
}

function newMeter(): Meter {
  return { windows: new Map(), meanwhile: { entered: new Set(), ended: new Map() } };
}

export function createMeterTotals(): MeterTotals {
  const meters = new Map<string, Meter>();
  /** The windows in which each pending request has reserved something. */
  const reserved = new Map<string, Window[]>();

  const meterOf = ({ id }: MeterDefinition): Meter => memo(meters, id, newMeter);
  const windowOf = (definition: MeterDefinition, key: string): Window =>
    memo(meterOf(definition).windows, key, () => new Window(definition));

  const overCounted = (
    requestId: string,
    entries: readonly MeterEntry[],
    change: (window: Window, contribution: Contribution) => void,
  ): void => {
    for (const { definition, key, contribution } of entries) {
      if (key === null || contribution === null) continue;
      meterOf(definition).meanwhile?.entered.add(requestId);
      change(windowOf(definition, key), contribution);
    }
  };

  const reserveIn = (window: Window, requestId: string, contribution: Contribution): void => {
    const windows = memo(reserved, requestId, () => []);
    if (!windows.includes(window)) windows.push(window);
    window.reserve(requestId, contribution);
  };

  const endWait = (requestId: string, grantedAtMs: number | null): void => {
    for (const window of reserved.get(requestId) ?? []) {
      if (grantedAtMs === null) window.release(requestId);
      else window.approve(requestId, grantedAtMs);
    }
    reserved.delete(requestId);
    for (const { meanwhile } of meters.values()) meanwhile?.ended.set(requestId, grantedAtMs);
  };

  const fillPart = (definition: MeterDefinition, past: Iterable<HistoricEntry>): Meter => {
    const meter = meterOf(definition);
    const { meanwhile } = meter;
    if (meanwhile === null) throw new Error(`the past of meter ${definition.id} has been filled in`);
    for (const { requestId, key, grantedAtMs, contribution } of past) {
      const end = meanwhile.ended.get(requestId);
      if (meanwhile.entered.has(requestId) || end === null) continue;
      const window = windowOf(definition, key);
      const atMs = end ?? grantedAtMs;
      // Marked as entered: the wait may end before the past shows it, and a failed read shows it again.
      meanwhile.entered.add(requestId);
      if (atMs === null) reserveIn(window, requestId, contribution);
      else window.grant({ requestId, atMs, contribution });
    }
    return meter;
  };

  const move: MeterTotals['move'] = (definition, entry, isGone) => {
    const { requestId, grantedAtMs: atMs, contribution } = entry;
    const { meanwhile } = meterOf(definition);
    const window = windowOf(definition, entry.key);
    window.remove(requestId, atMs);
    if (isGone) return void meanwhile?.ended.set(requestId, null);
    meanwhile?.entered.add(requestId);
    if (atMs === null) reserveIn(window, requestId, contribution);
    else window.grant({ requestId, atMs, contribution });
  };

  return {
    read: ({ definition, key, contribution: current }, { nowMs, requestId, grantedAtMs }) => {
      if (key === null || meterOf(definition).meanwhile !== null) return null;
      return windowOf(definition, key).read({ nowMs, current, requestId, grantedAtMs });
    },
    reserve: (requestId, entries) =>
      overCounted(requestId, entries, (window, contribution) => reserveIn(window, requestId, contribution)),
    grant: (requestId, entries, atMs) => {
      for (const window of reserved.get(requestId) ?? []) window.release(requestId);
      reserved.delete(requestId);
      overCounted(requestId, entries, (window, contribution) =>
        window.grant({ requestId, atMs, contribution }),
      );
    },
    approve: endWait,
    release: (requestId) => endWait(requestId, null),
    revoke: (requestId, entries) => overCounted(requestId, entries, (window) => window.revoke(requestId)),
    withdraw: (...withdrawn) => withdraw(meters, ...withdrawn),
    move,
    isFilled: (definitionId) => meters.get(definitionId)?.meanwhile === null,
    fillPart: (definition, past) => void fillPart(definition, past),
    fill: (definition, past) => {
      fillPart(definition, past).meanwhile = null;
    },
    tidy: (inUse, nowMs) => forgetReserved(reserved, tidyAll(meters, inUse, nowMs)),
  };
}

/** Takes a grant out of all meters but those whose entries last. */
function withdraw(
  meters: ReadonlyMap<string, Meter>,
  ...[requestId, grantedAtMs, entered]: Parameters<MeterTotals['withdraw']>
): void {
  for (const { definition, key } of entered)
    if (!isLastingMeter(definition)) meters.get(definition)?.windows.get(key)?.revoke(requestId, grantedAtMs);
  for (const [id, { meanwhile }] of meters) if (!isLastingMeter(id)) meanwhile?.ended.set(requestId, null);
}

/** Returns the windows of the meters that are forgotten. */
function tidyAll(meters: Map<string, Meter>, inUse: ReadonlySet<string>, nowMs: number): ReadonlySet<Window> {
  const gone = new Set<Window>();
  for (const [id, { windows }] of meters) {
    if (!inUse.has(id)) {
      meters.delete(id);
      for (const window of windows.values()) gone.add(window);
    }
    for (const [key, window] of windows) if (window.isEmpty(nowMs)) windows.delete(key);
  }
  return gone;
}

/** Requests may wait for days, so they must not keep what nobody reads any more. */
function forgetReserved(reserved: Map<string, Window[]>, gone: ReadonlySet<Window>): void {
  if (gone.size === 0) return;
  for (const [requestId, windows] of reserved) {
    const left = windows.filter((window) => !gone.has(window));
    if (left.length === 0) reserved.delete(requestId);
    else if (left.length < windows.length) reserved.set(requestId, left);
  }
}
