// All meters of the service and where they stand. A meter is known by its definition, not by its name: what was counted
// under one definition is never read under another. INVARIANT: everything here is synchronous, so that reading,
// deciding and reserving are one step that no other request comes between.

import type { Contribution, MeterDefinition, MeterEntry } from '../../language/model/metering.ts';
import type { Reading } from '../../language/model/request.ts';
import { memo } from '../../language/value/memo.ts';
import { Window } from './window.ts';

/** An entry of an earlier request, as records tell. */
export interface PastEntry {
  readonly requestId: string;
  readonly key: string;
  /** Null while the request is pending. */
  readonly grantedAtMs: number | null;
  readonly contribution: Contribution;
}

/** Where a request has entered a meter. */
export interface Entered {
  readonly definition: string;
  readonly key: string;
}

export interface MeterTotals {
  /**
   * Where the meter stands with the request that asks; null (unknown) where its past has not been filled in, or its key
   * or some value is not known.
   */
  read(entry: MeterEntry, at: { readonly nowMs: number; readonly requestId: string | null }): Reading | null;
  /** Enters a pending request into every meter that counts it. */
  reserve(requestId: string, entries: readonly MeterEntry[]): void;
  /** Enters a granted request; one that was pending is not pending any more. */
  grant(requestId: string, entries: readonly MeterEntry[], atMs: number): void;
  /** A pending request is granted after all: what it had reserved counts from now on. */
  approve(requestId: string, atMs: number): void;
  /** A pending request that ends without a grant. */
  release(requestId: string): void;
  /** A grant that was none: its record could not be stored. */
  revoke(requestId: string, entries: readonly MeterEntry[]): void;
  /** A grant that is not used: it counts no more in the windows it has entered, and a past that is filled in skips it. */
  withdraw(requestId: string, grantedAtMs: number, entered: readonly Entered[]): void;
  /** Lets an entry stand as it does elsewhere, however it stands here; one that is gone counts no more. */
  move(definition: MeterDefinition, entry: PastEntry, isGone: boolean): void;
  /** Whether the meter's past has been filled in. */
  isFilled(definitionId: string): boolean;
  /** Adds a part of the past of a meter, which stays unknown. What is there already, in whatever way, is not entered again. */
  fillPart(definition: MeterDefinition, past: Iterable<PastEntry>): void;
  /** Adds the last part: from now on the meter is known. */
  fill(definition: MeterDefinition, past: Iterable<PastEntry>): void;
  /** Forgets meters that no policy speaks of any more, and windows that are empty. */
  tidy(inUse: ReadonlySet<string>, nowMs: number): void;
}

interface Meter {
  readonly windows: Map<string, Window>;
  /** What became of requests before the past was filled in; null afterwards. */
  meanwhile: Meanwhile | null;
}

interface Meanwhile {
  /** That have their entries already. */
  readonly entered: Set<string>;
  /**
   * When those were granted that were pending; null where they were not, or are released. The past may still show them
   * as they stood before.
   */
  readonly ended: Map<string, number | null>;
}

function newMeter(): Meter {
  return { windows: new Map(), meanwhile: { entered: new Set(), ended: new Map() } };
}

export function createMeterTotals(): MeterTotals {
  const meters = new Map<string, Meter>();
  /** The windows in which a pending request has reserved something. */
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

  const fillPart = (definition: MeterDefinition, past: Iterable<PastEntry>): Meter => {
    const meter = meterOf(definition);
    const { meanwhile } = meter;
    if (meanwhile === null) throw new Error(`the past of meter ${definition.id} has been filled in`);
    for (const { requestId, key, grantedAtMs, contribution } of past) {
      const end = meanwhile.ended.get(requestId);
      if (meanwhile.entered.has(requestId) || end === null) continue;
      const window = windowOf(definition, key);
      const atMs = end ?? grantedAtMs;
      // A wait may end before the rest of the past shows how; and where reading fails, what has been read is read again.
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
    read: ({ definition, key, contribution }, { nowMs, requestId }) => {
      if (key === null || meterOf(definition).meanwhile !== null) return null;
      return windowOf(definition, key).read({ nowMs, current: contribution, requestId });
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
    withdraw: (requestId, grantedAtMs, entered) => {
      for (const { definition, key } of entered)
        meters.get(definition)?.windows.get(key)?.revoke(requestId, grantedAtMs);
      for (const { meanwhile } of meters.values()) meanwhile?.ended.set(requestId, null);
    },
    move,
    isFilled: (definitionId) => meters.get(definitionId)?.meanwhile === null,
    fillPart: (definition, past) => void fillPart(definition, past),
    fill: (definition, past) => {
      fillPart(definition, past).meanwhile = null;
    },
    tidy: (inUse, nowMs) => tidyAll(meters, inUse, nowMs),
  };
}

function tidyAll(meters: Map<string, Meter>, inUse: ReadonlySet<string>, nowMs: number): void {
  for (const [id, { windows }] of meters) {
    if (!inUse.has(id)) meters.delete(id);
    for (const [key, window] of windows) if (window.isEmpty(nowMs)) windows.delete(key);
  }
}
