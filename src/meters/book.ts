// All meters of the service and where they stand. A meter is known by its definition, not by its name: what was counted
// under one definition is never read under another. INVARIANT: everything here is synchronous, so that reading,
// deciding and reserving are one step that no other request comes between.

import type { Reading } from '../model/request.ts';
import type { Aggregate, Contribution } from './contribution.ts';
import { Window } from './window.ts';

/** What a meter is, as far as counting goes. */
export interface MeterDefinition {
  /** Digest of all that the meter says but its name. */
  readonly id: string;
  readonly aggregate: Aggregate;
  readonly overMs: number;
}

/** What one request adds to one meter. */
export interface MeterEntry {
  readonly definition: MeterDefinition;
  /** For which agent, owner, session or value it counts; null where that is not known. */
  readonly key: string | null;
  /** Null where the meter reads the request but does not count it. */
  readonly contribution: Contribution | null;
}

/** An entry of an earlier request, as records tell. */
export interface PastEntry {
  readonly requestId: string;
  readonly key: string;
  /** Null while the request is pending. */
  readonly grantedAtMs: number | null;
  readonly contribution: Contribution;
}

export interface MeterBook {
  /**
   * Where the meter stands with the request that asks; null (unknown) where its past has not been filled in, or its key
   * or some value is not known.
   */
  read(entry: MeterEntry, at: { readonly nowMs: number; readonly requestId: string | null }): Reading | null;
  /** Enters a pending request into every meter that counts it. */
  reserve(requestId: string, entries: readonly MeterEntry[]): void;
  /** Enters a granted request; one that was pending is not pending any more. */
  grant(requestId: string, entries: readonly MeterEntry[], atMs: number): void;
  /** A pending request that ends without a grant. */
  release(requestId: string, entries: readonly MeterEntry[]): void;
  /** A grant that was none: its record could not be stored, or it was reported as not carried out. */
  revoke(requestId: string, entries: readonly MeterEntry[]): void;
  /** Whether the meter's past has been filled in. */
  isFilled(definitionId: string): boolean;
  /** Adds the past of a meter, once. What was entered meanwhile stays and is not entered again. */
  fill(definition: MeterDefinition, past: Iterable<PastEntry>): void;
  /** Forgets meters that no policy speaks of any more, and windows that are empty. */
  tidy(inUse: ReadonlySet<string>, nowMs: number): void;
}

interface Meter {
  readonly windows: Map<string, Window>;
  /** Requests entered before the past was filled in; null afterwards. */
  entered: Set<string> | null;
}

export function createMeterBook(): MeterBook {
  const meters = new Map<string, Meter>();

  const meterOf = ({ id }: MeterDefinition): Meter => {
    const known = meters.get(id);
    if (known !== undefined) return known;
    const meter: Meter = { windows: new Map(), entered: new Set() };
    meters.set(id, meter);
    return meter;
  };

  const windowOf = (definition: MeterDefinition, key: string): Window => {
    const { windows } = meterOf(definition);
    const known = windows.get(key);
    if (known !== undefined) return known;
    const window = new Window(definition);
    windows.set(key, window);
    return window;
  };

  const overCounted = (
    requestId: string,
    entries: readonly MeterEntry[],
    change: (window: Window, contribution: Contribution) => void,
  ): void => {
    for (const { definition, key, contribution } of entries) {
      if (key === null || contribution === null) continue;
      meterOf(definition).entered?.add(requestId);
      change(windowOf(definition, key), contribution);
    }
  };

  return {
    read: ({ definition, key, contribution }, { nowMs, requestId }) => {
      if (key === null || meterOf(definition).entered !== null) return null;
      return windowOf(definition, key).read({ nowMs, current: contribution, requestId });
    },
    reserve: (requestId, entries) =>
      overCounted(requestId, entries, (window, contribution) => window.reserve(requestId, contribution)),
    grant: (requestId, entries, atMs) =>
      overCounted(requestId, entries, (window, contribution) =>
        window.grant({ requestId, atMs, contribution }),
      ),
    release: (requestId, entries) => overCounted(requestId, entries, (window) => window.release(requestId)),
    revoke: (requestId, entries) => overCounted(requestId, entries, (window) => window.revoke(requestId)),
    isFilled: (definitionId) => meters.get(definitionId)?.entered === null,
    fill: (definition, past) => {
      const meter = meterOf(definition);
      const { entered } = meter;
      if (entered === null) throw new Error(`the past of meter ${definition.id} has been filled in`);
      for (const { requestId, key, grantedAtMs, contribution } of past) {
        if (entered.has(requestId)) continue;
        const window = windowOf(definition, key);
        if (grantedAtMs === null) window.reserve(requestId, contribution);
        else window.grant({ requestId, atMs: grantedAtMs, contribution });
      }
      meter.entered = null;
    },
    tidy: (inUse, nowMs) => {
      for (const [id, { windows }] of meters) {
        if (!inUse.has(id)) meters.delete(id);
        for (const [key, window] of windows) if (window.isEmpty(nowMs)) windows.delete(key);
      }
    },
  };
}
