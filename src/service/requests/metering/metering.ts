// The meters at work: what requests read of them and add to them, and how the past of each is filled in.
// INVARIANT: reading, deciding and entering are one synchronous step; a meter whose past is unknown or has
// gaps stays unknown; no request is decided by a set whose meters the store has not noted.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { MeterDefinition, MeterUse } from '../../../language/model/metering.ts';
import type { MeterReading } from '../../../language/model/request.ts';
import { formatDecimal } from '../../../language/value/decimal.ts';
import { isoTime } from '../../../language/value/iso-time.ts';
import { windowStartMs } from '../../../language/value/meter-window.ts';
import type { EnteredMeter, MeterTotals, ReadingAt } from '../../meters/meter-totals.ts';
import { createMeterTotals } from '../../meters/meter-totals.ts';
import type { MeterStore, MovedMeterEntry } from '../../store/contract/metering.ts';
import { pastMissingUntil, pastNotKnown, type RecordedReading } from '../record/record.ts';
import type { MeteredPolicies } from './entry-rows.ts';
import {
  aheadMs,
  type FillOptions,
  fillFromEntries,
  fillFromRecords,
  isStored,
  type MissingHistory,
  pastEntry,
} from './fill-meter.ts';

export interface Metering {
  /**
   * Notes the meters of a set in the store. Returns null when the store knows them already; the promise
   * rejects with a StoreError.
   */
  note(active: MeteredPolicies): Promise<void> | null;
  /** Returns the readings of the meters that the request reads. */
  read(uses: readonly MeterUse[], at: ReadingAt): MeterReadings;
  /** Counts a request that was just decided: as granted at `grantedAtMs`, or as pending when that is null. */
  enter(requestId: string, uses: readonly MeterUse[], grantedAtMs: number | null): void;
  /** Takes the entries of a request back whose record was not stored after all. */
  revertMeters(requestId: string, uses: readonly MeterUse[]): void;
  /** Ends the wait of a pending request: granted at `grantedAtMs`, or without a grant when that is null. */
  settle(requestId: string, grantedAtMs: number | null): void;
  /** Takes out a grant that is not used; `entered` names the meters that it may have entered. */
  withdraw(requestId: string, grantedAtMs: number, entered: readonly EnteredMeter[]): void;
  /** Takes over how entries of a request stand now that the result of its call is known. */
  report(entries: readonly MovedMeterEntry[]): void;
  /**
   * Takes in the entries that other processes have made so far. Returns the position reached; null when there
   * are no other processes.
   */
  catchUp(): Promise<string | null>;
  /** Resolves when no past is being filled in. */
  settled(): Promise<void>;
  /** The meters of the set whose past is not known, sorted by definition. */
  missing(active: Pick<MeteredPolicies, 'meters'>): readonly MissingMeter[];
  /** Whether the pasts of all meters have been read once since the start, or could not be. */
  hasBegun(): boolean;
  /**
   * Fills in pasts that are missing and can be filled by now, and forgets entries that no reading counts any
   * more.
   */
  tidy(active: MeteredPolicies): Promise<void>;
  close(): Promise<void>;
}

/** A meter that is unknown because its past is. */
export interface MissingMeter {
  readonly definition: string;
  /** Since when it has been unknown. */
  readonly sinceMs: number;
  /**
   * `reading`: its past is being read, or will be next. `unreadable`: the last attempt failed, and another
   * follows. `incomplete`: records that count are gone; `untilMs` is when they no longer count.
   */
  readonly why: 'reading' | 'unreadable' | 'incomplete';
  readonly untilMs: number | null;
}

export interface MeterReadings {
  /** Readings by meter name; unknown meters are absent. */
  readonly known: Readonly<Record<string, MeterReading>>;
  /** Readings for the record, with the reason for each unknown meter. */
  readonly recorded: Readonly<Record<string, RecordedReading>>;
}

export interface MeteringOptions {
  readonly meters: MeterStore;
  readonly clock: () => number;
  /** The most entries in a snapshot: the store makes one between two commits, about 10 ms by default. */
  readonly snapshotEntries?: number;
  /** Called when a meter's past could not be filled in; the meter stays unknown and is tried again. */
  readonly onFailure?: (error: unknown) => void;
}

export const noReadings: MeterReadings = Object.freeze({
  known: Object.freeze({}),
  recorded: Object.freeze({}),
});

export function createMetering(options: MeteringOptions): Metering {
  return new LiveMetering(options);
}

/** A class because it holds the state of the meters. */
class LiveMetering implements Metering {
  #totals: MeterTotals = createMeterTotals();
  readonly #options: MeteringOptions;
  /** The meters that the store has noted; null before the first are. */
  #noted: readonly MeterDefinition[] | null = null;
  #noting: Promise<void> | null = null;
  /** What the store keeps of each meter while it is active, by definition. */
  readonly statuses = new Map<string, MeterStatus>();
  /** By definition, the time before which filling the meter in again is useless. */
  readonly #notBefore = new Map<string, number>();
  #filling: Promise<void> = Promise.resolve();
  #hasBegun = false;
  #isClosed = false;
  /** Since when no meter has been known, but those that are filled in. */
  #missingSinceMs: number;
  /** The meters whose past could not be read at the last attempt. */
  readonly #unreadable = new Set<string>();

  constructor(options: MeteringOptions) {
    this.#options = options;
    this.#missingSinceMs = options.clock();
    options.meters.onUncertain(() => this.#forget());
    options.meters.onMoved((entries) => this.#move(entries));
  }

  note(active: MeteredPolicies): Promise<void> | null {
    if (this.#noted === active.meters) return null;
    if (this.#noted !== null && areSame(this.#noted, active.meters)) {
      this.#noted = active.meters;
      return null;
    }
    this.#noting ??= this.#note(active).finally(() => {
      this.#noting = null;
    });
    return this.#noting;
  }

  read(uses: readonly MeterUse[], at: ReadingAt): MeterReadings {
    const readings: Record<string, MeterReading> = {};
    const recorded: Record<string, RecordedReading> = {};
    let isRead = false;
    for (const use of uses) {
      if (use.names.length === 0) continue;
      isRead = true;
      const reading = this.#totals.read(use, at);
      for (const name of use.names) {
        recorded[name] = reading === null ? { unknown: this.#whyUnknown(use) } : recordedReading(reading);
        if (reading !== null) readings[name] = reading;
      }
    }
    return isRead ? { known: readings, recorded } : noReadings;
  }

  enter(requestId: string, uses: readonly MeterUse[], grantedAtMs: number | null): void {
    if (grantedAtMs === null) this.#totals.reserve(requestId, uses);
    else this.#totals.grant(requestId, uses, grantedAtMs);
  }

  revertMeters(requestId: string, uses: readonly MeterUse[]): void {
    this.#totals.release(requestId);
    this.#totals.revoke(requestId, uses);
  }

  settle(requestId: string, grantedAtMs: number | null): void {
    if (grantedAtMs === null) this.#totals.release(requestId);
    else this.#totals.approve(requestId, grantedAtMs);
  }

  withdraw(requestId: string, grantedAtMs: number, entered: readonly EnteredMeter[]): void {
    this.#totals.withdraw(requestId, grantedAtMs, entered);
  }

  report(entries: readonly MovedMeterEntry[]): void {
    this.#move(entries);
  }

  async catchUp(): Promise<string | null> {
    await this.#options.meters.catchUp();
    return this.#options.meters.position();
  }

  settled(): Promise<void> {
    return this.#filling;
  }

  missing({ meters }: Pick<MeteredPolicies, 'meters'>): readonly MissingMeter[] {
    return meters
      .filter(({ id }) => !this.#totals.isFilled(id))
      .map(({ id: definition }) => {
        const sinceMs = this.statuses.get(definition)?.missingSinceMs ?? this.#missingSinceMs;
        const untilMs = this.#notBefore.get(definition) ?? null;
        if (untilMs !== null) return { definition, sinceMs, why: 'incomplete', untilMs };
        const why = this.#unreadable.has(definition) ? 'unreadable' : 'reading';
        return { definition, sinceMs, why, untilMs: null };
      });
  }

  hasBegun(): boolean {
    return this.#hasBegun;
  }

  async tidy(active: MeteredPolicies): Promise<void> {
    const { meters, clock } = this.#options;
    if (this.#noted === null || !areSame(this.#noted, active.meters)) return;
    this.#fillAll(active);
    await this.#filling;
    const nowMs = clock();
    this.#totals.tidy(new Set(this.#noted.map(({ id }) => id)), nowMs);
    for (const { id, over } of this.#noted) {
      const beforeMs = windowStartMs(over, Math.trunc(nowMs)) - keptBeyondMs;
      while (!this.#isClosed && (await meters.forget(id, beforeMs, forgottenAtOnce)) === forgottenAtOnce);
    }
    await this.#keepSnapshots();
  }

  /** Keeps snapshots of what was granted a while ago, for the next start. */
  async #keepSnapshots(): Promise<void> {
    const { meters, clock, snapshotEntries: countMax = snapshotEntriesDefault } = this.#options;
    for (const { id, over } of this.#noted ?? []) {
      const nowMs = Math.trunc(clock());
      const untilMs = nowMs - unsettledMs;
      let fromMs: number | null = Math.max(0, windowStartMs(over, nowMs) - aheadMs);
      while (fromMs !== null && !this.#isClosed)
        fromMs = await meters.keepSnapshot(id, { fromMs: Math.trunc(fromMs), untilMs, countMax });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#filling;
  }

  /**
   * Applies moved entries to noted meters. Meters that are not noted are read from the store once they are
   * noted.
   */
  #move(entries: readonly MovedMeterEntry[]): void {
    for (const entry of entries) {
      const definition = this.#noted?.find(({ id }) => id === entry.definition);
      if (definition !== undefined) this.#totals.move(definition, pastEntry(definition, entry), entry.isGone);
    }
  }

  /** Makes all meters unknown until they are noted again and filled in from what is stored. */
  #forget(): void {
    this.#totals = createMeterTotals();
    this.#noted = null;
    this.statuses.clear();
    this.#missingSinceMs = this.#options.clock();
  }

  /**
   * Notes the meters of a set. No request is decided by the set before this is stored, whichever set is
   * active by then.
   */
  async #note(active: MeteredPolicies): Promise<void> {
    const { meters, clock } = this.#options;
    const definitions = active.meters;
    const ids = definitions.map(({ id }) => id);
    const since = await meters.note(ids, Math.trunc(clock()), active.digest);
    // The totals of meters that are not in this set end here.
    this.#totals.tidy(new Set(ids), clock());
    this.#noted = definitions;
    for (const cache of [this.statuses, this.#notBefore, this.#unreadable])
      for (const id of cache.keys()) if (!ids.includes(id)) cache.delete(id);
    for (const [at, id] of ids.entries()) {
      if (!this.statuses.has(id))
        this.statuses.set(id, { sinceMs: since[at] ?? null, missingSinceMs: this.#missingSinceMs });
    }
    // Meters that come later are missing from when they come.
    if (this.#hasBegun) this.#missingSinceMs = clock();
    this.#fillAll(active);
  }

  #fillAll(active: MeteredPolicies): void {
    this.#filling = this.#filling.then(async () => {
      const isActive = () => !this.#isClosed && this.#noted !== null && areSame(this.#noted, active.meters);
      if (!isActive()) return;
      const waiting = (this.#noted ?? []).flatMap((definition) => this.#fillOf(definition, active));
      await this.#fillStored(waiting.filter(({ definition, options }) => isStored(definition, options)));
      for (const { definition, options } of waiting) {
        if (!isActive()) return;
        if (!isStored(definition, options))
          await this.#fill(definition, active, () => fillFromRecords(definition, options));
      }
      this.#hasBegun = true;
    });
  }

  /** Returns how to fill in the meter; an empty list when it is filled in, or cannot be yet. */
  #fillOf(definition: MeterDefinition, active: MeteredPolicies): readonly Fill[] {
    const { meters, clock } = this.#options;
    const nowMs = Math.trunc(clock());
    const status = this.statuses.get(definition.id);
    if (status === undefined || this.#totals.isFilled(definition.id)) return [];
    if (nowMs < (this.#notBefore.get(definition.id) ?? Number.NEGATIVE_INFINITY)) return [];
    // A meter that was removed and added again starts over.
    const isStill = (): boolean => !this.#isClosed && this.statuses.get(definition.id) === status;
    const { sinceMs } = status;
    return [{ definition, options: { totals: this.#totals, meters, active, nowMs, sinceMs, isStill } }];
  }

  /** Fills in meters from what is stored of them, which is opened once for all of them. */
  async #fillStored(fills: readonly Fill[]): Promise<void> {
    if (fills.length === 0) return;
    // What happens to requests from here on is noted, so what is opened may be older than what follows.
    for (const { definition, options } of fills) options.totals.fillPart(definition, []);
    const opening = this.#options.meters.openPast();
    for (const { definition, options } of fills) {
      if (options.isStill())
        await this.#fill(definition, options.active, async () =>
          fillFromEntries(definition, await opening, options),
        );
    }
    await opening.then((past) => past.close()).catch(() => undefined);
  }

  async #fill(
    { id }: MeterDefinition,
    active: MeteredPolicies,
    fill: () => Promise<MissingHistory | null>,
  ): Promise<void> {
    try {
      const missing = await fill();
      this.#unreadable.delete(id);
      if (missing === null) this.#notBefore.delete(id);
      else this.#notBefore.set(id, missing.untilMs);
    } catch (error) {
      this.#unreadable.add(id);
      this.#options.onFailure?.(error);
      setTimeout(() => this.#fillAll(active), fillAgainMs).unref();
    }
  }

  #whyUnknown({ definition, key }: MeterUse): string {
    if (key === null) return 'its key is unknown';
    if (this.#totals.isFilled(definition.id)) return 'it has an unknown value';
    const untilMs = this.#notBefore.get(definition.id);
    return untilMs === undefined ? pastNotKnown : `${pastMissingUntil}${isoTime(untilMs)}`;
  }
}

/** A meter to fill in. */
interface Fill {
  readonly definition: MeterDefinition;
  readonly options: FillOptions;
}

interface MeterStatus {
  /** Since when every request has entered the meter; null when entries of some requests may be missing. */
  readonly sinceMs: number | null;
  /** Since when the meter has been unknown, unless it is filled in by now. */
  readonly missingSinceMs: number;
}

/**
 * Returns the active policies once the store has noted their meters. When it has already, nothing is awaited.
 */
export async function metered(
  metering: Pick<Metering, 'note'>,
  policies: () => ActivePolicies,
): Promise<ActivePolicies> {
  for (;;) {
    const active = policies();
    const noting = metering.note(active);
    if (noting === null) return active;
    await noting;
  }
}

/** How much longer entries are kept than any reading counts them, in case the clock is set back. */
const keptBeyondMs = 48 * 60 * 60 * 1000;
const forgottenAtOnce = 500;
const snapshotEntriesDefault = 2_000;
/**
 * How old a grant is when a snapshot may hold it: most grants that are given back, and results that are
 * reported, have come by then.
 */
const unsettledMs = 10_000;
/** Milliseconds before a failed fill is tried again. */
const fillAgainMs = 1_000;

/** Whether two sorted lists have the same definitions. */
function areSame(a: readonly MeterDefinition[], b: readonly MeterDefinition[]): boolean {
  return a === b || (a.length === b.length && a.every(({ id }, at) => id === b[at]!.id));
}

function recordedReading({ low, high }: MeterReading): RecordedReading {
  return { low: formatDecimal(low), high: formatDecimal(high) };
}
