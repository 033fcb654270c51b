// One meter for one key, such as an agent, an owner or a session: what was granted within the meter's window,
// and what is still pending. INVARIANT: at any `nowMs`, also an earlier one, the reading follows the
// definition. Granted entries count while they are inside the window and not before the last restart. Pending
// entries count whatever their age, and so do entries later than `nowMs`. An entry at the exact moment of the
// restart may count or not, and so may all entries while a restart is pending.

import {
  type Aggregate,
  type Contribution,
  isMeterRestart,
  meterRestart,
} from '../../language/model/metering.ts';
import type { MeterReading } from '../../language/model/request.ts';
import {
  countsFrom,
  grantCountsAt,
  type MeterWindow,
  windowStartMs,
} from '../../language/value/meter-window.ts';
import { createRunningTotals, type RunningTotals } from './running-totals.ts';

// When one window of a meter restarts: at each grant of an action that the meter names behind `since`, and
// perhaps at pending requests for such an action.

interface Restart {
  readonly requestId: string;
  readonly atMs: number;
}

/** A class because each request changes it. */
class Restarts {
  /** Granted restarts, sorted by time. */
  readonly #granted: Restart[] = [];
  readonly #pending = new Set<string>();

  reserve(requestId: string): void {
    this.#pending.add(requestId);
  }

  release(requestId: string): void {
    this.#pending.delete(requestId);
  }

  isPending(requestId: string): boolean {
    return this.#pending.has(requestId);
  }

  /** Whether a request other than this one is pending. */
  hasPendingBeside(requestId: string | null): boolean {
    return this.#pending.size > (requestId !== null && this.#pending.has(requestId) ? 1 : 0);
  }

  grant({ requestId, atMs }: Restart): void {
    const later = this.#granted.findLastIndex((one) => one.atMs <= atMs);
    this.#granted.splice(later + 1, 0, { requestId, atMs });
  }

  /** Removes a granted restart; returns whether there was one. */
  revoke(requestId: string): boolean {
    const at = this.#granted.findLastIndex((one) => one.requestId === requestId);
    if (at >= 0) this.#granted.splice(at, 1);
    return at >= 0;
  }

  /** The time of the last restart; negative infinity when there is none. */
  get lastMs(): number {
    return this.#granted.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  /** The time of the last restart by another request than this one; negative infinity when there is none. */
  lastMsBeside(requestId: string | null): number {
    return this.#granted.findLast((one) => one.requestId !== requestId)?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether no reading can depend on these restarts. */
  isEmpty(isCounted: (atMs: number) => boolean): boolean {
    return this.#pending.size === 0 && (this.#granted.length === 0 || !isCounted(this.lastMs));
  }

  /** Forgets restarts before a moment. */
  drop(beforeMs: number): void {
    while (this.#granted.length > 0 && this.#granted[0]!.atMs < beforeMs) this.#granted.shift();
  }

  get size(): number {
    return this.#granted.length + this.#pending.size;
  }
}

export interface WindowOptions {
  readonly aggregate: Aggregate;
  readonly over: MeterWindow;
  /**
   * Whether entries depend on what calls return; the request that asks then adds nothing to its own reading.
   */
  readonly readsResult?: boolean;
}

/** What a reading counts besides the stored entries, and when. */
export interface ReadingOf {
  readonly nowMs: number;
  /** What the request that asks would add if it were granted; null when the meter does not count it. */
  readonly current: Contribution | null;
  /** The request that asks; it may have an entry itself and must not count twice. */
  readonly requestId: string | null;
  /** When that request was granted; absent while it is not. */
  readonly grantedAtMs?: number | undefined;
}

interface GrantEntry {
  readonly requestId: string;
  readonly atMs: number;
  readonly contribution: Contribution;
}

/** How much longer than the window entries are kept, in case the clock is set back. */
const keptBeyondMs = 24 * 60 * 60 * 1000;

/** Dropping entries moves the others, so entries are dropped only when at least this many can go at once. */
const droppedAtOnceMin = 256;

/** A class because each request changes it. */
export class Window {
  readonly #options: WindowOptions;
  readonly #totals: RunningTotals;
  /** Granted entries, sorted by time; those from `#start` on are in the totals. */
  #granted: GrantEntry[] = [];
  #start = 0;
  readonly #pending = new Map<string, Contribution>();
  readonly #restarts = new Restarts();
  /** The time from which entries count. */
  #restartMs = Number.NEGATIVE_INFINITY;
  /** The same entries as in the totals, all of them uncertain; null until a reading needs them. */
  #unsure: RunningTotals | null = null;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#totals = createRunningTotals(options.aggregate);
  }

  /** Returns the reading; null when it is unknown. */
  read({ nowMs, current, requestId, grantedAtMs }: ReadingOf): MeterReading | null {
    // A granted request restarts the meter for others, not for itself.
    this.#moveTo(nowMs, grantedAtMs === undefined ? null : requestId);
    const pending = requestId === null ? undefined : this.#pending.get(requestId);
    const granted = grantedAtMs === undefined ? undefined : this.#countedGrant(requestId, grantedAtMs);
    const { readsResult = false } = this.#options;
    const added = current === null || isMeterRestart(current) || readsResult ? null : current;
    const isUnsure = this.#restarts.hasPendingBeside(requestId);
    const totals = isUnsure ? this.#unsureTotals() : this.#totals;
    if (!isUnsure) this.#unsure = null;
    const counted =
      isUnsure && granted !== undefined ? uncertain(granted.contribution) : granted?.contribution;
    const contribution = pending === undefined ? counted : uncertain(pending);
    const tied = isUnsure || this.#restartMs === Number.NEGATIVE_INFINITY ? none : this.#tied(granted);
    for (const one of tied) exchange(totals, one, uncertain(one));
    if (contribution !== undefined) totals.remove(contribution);
    if (added !== null) totals.add(added);
    const ends = totals.ends();
    if (added !== null) totals.remove(added);
    if (contribution !== undefined) totals.add(contribution);
    for (const one of tied) exchange(totals, uncertain(one), one);
    return ends;
  }

  /** Reserves what a pending request would add. */
  reserve(requestId: string, contribution: Contribution): void {
    this.release(requestId);
    if (isMeterRestart(contribution)) return void this.#restarts.reserve(requestId);
    this.#pending.set(requestId, contribution);
    this.#put(uncertain(contribution));
  }

  /** Ends the wait of a request without a grant; does nothing when the request is not pending. */
  release(requestId: string): void {
    this.#restarts.release(requestId);
    const contribution = this.#pending.get(requestId);
    if (contribution === undefined) return;
    this.#pending.delete(requestId);
    this.#take(uncertain(contribution));
  }

  /** Grants a pending request; does nothing when the request is not pending. */
  approve(requestId: string, atMs: number): void {
    const contribution = this.#restarts.isPending(requestId) ? meterRestart : this.#pending.get(requestId);
    if (contribution !== undefined) this.grant({ requestId, atMs, contribution });
  }

  /** Enters a grant, also of a request that was pending. */
  grant(granted: GrantEntry): void {
    this.release(granted.requestId);
    if (isMeterRestart(granted.contribution)) return void this.#restarts.grant(granted);
    const at = placeAfter(this.#granted, granted.atMs);
    this.#granted.splice(at, 0, granted);
    if (at < this.#start) this.#start += 1;
    else this.#put(granted.contribution);
  }

  /**
   * Takes back a grant whose record could not be stored, or that is released; quick when its time is given.
   */
  revoke(requestId: string, atMs: number | null = null): void {
    if (this.#restarts.revoke(requestId)) return;
    const end = atMs === null ? this.#granted.length : placeAfter(this.#granted, atMs);
    let at = end - 1;
    for (; at >= 0; at -= 1) {
      const granted = this.#granted[at]!;
      if (granted.requestId === requestId) break;
      if (atMs !== null && granted.atMs < atMs) return;
    }
    const grant = this.#granted[at];
    if (grant === undefined) return;
    this.#granted.splice(at, 1);
    if (at < this.#start) this.#start -= 1;
    else this.#take(grant.contribution);
  }

  /** Removes an entry, whether it is pending, was granted at that time, or does not exist. */
  remove(requestId: string, atMs: number | null): void {
    this.release(requestId);
    if (atMs !== null) this.revoke(requestId, atMs);
  }

  /** How many entries are kept, including those that no reading counts any more. */
  get size(): number {
    return this.#granted.length + this.#pending.size + this.#restarts.size;
  }

  /** Whether nothing is left that any reading could count. */
  isEmpty(nowMs: number): boolean {
    this.#moveTo(nowMs);
    const hasEntries = this.#pending.size > 0 || this.#granted.length > this.#start;
    return !hasEntries && this.#restarts.isEmpty(grantCountsAt(this.#options.over, nowMs));
  }

  /** Moves the start to the first entry that still counts. A restart by the request `except` does not count. */
  #moveTo(nowMs: number, except: string | null = null): void {
    const { over } = this.#options;
    const startMs = windowStartMs(over, nowMs);
    const lastMs = except === null ? this.#restarts.lastMs : this.#restarts.lastMsBeside(except);
    this.#restartMs = countsFrom(over, startMs, lastMs) ? lastMs : Number.NEGATIVE_INFINITY;
    for (;;) {
      const next = this.#granted[this.#start];
      if (next === undefined || this.#countsFrom(startMs, next)) break;
      this.#take(next.contribution);
      this.#start += 1;
    }
    for (;;) {
      const before = this.#granted[this.#start - 1];
      if (before === undefined || !this.#countsFrom(startMs, before)) break;
      this.#put(before.contribution);
      this.#start -= 1;
    }
    this.#drop(startMs - keptBeyondMs);
  }

  #countsFrom(startMs: number, { atMs }: GrantEntry): boolean {
    return atMs >= this.#restartMs && countsFrom(this.#options.over, startMs, atMs);
  }

  #put(contribution: Contribution): void {
    this.#totals.add(contribution);
    this.#unsure?.add(uncertain(contribution));
  }

  #take(contribution: Contribution): void {
    this.#totals.remove(contribution);
    this.#unsure?.remove(uncertain(contribution));
  }

  /** Entries granted at the exact moment of the last restart, except one. */
  #tied(except: GrantEntry | undefined): readonly Contribution[] {
    const tied: Contribution[] = [];
    for (let at = this.#start; this.#granted[at]?.atMs === this.#restartMs; at += 1)
      if (this.#granted[at] !== except) tied.push(this.#granted[at]!.contribution);
    return tied;
  }

  /** The entry of a request that was granted at that time, if the totals hold it. */
  #countedGrant(requestId: string | null, atMs: number): GrantEntry | undefined {
    for (let at = placeAfter(this.#granted, atMs) - 1; at >= this.#start; at -= 1) {
      const granted = this.#granted[at]!;
      if (granted.atMs < atMs) return undefined;
      if (granted.requestId === requestId) return granted;
    }
    return undefined;
  }

  #unsureTotals(): RunningTotals {
    if (this.#unsure !== null) return this.#unsure;
    const totals = createRunningTotals(this.#options.aggregate);
    for (const { contribution } of this.#granted.slice(this.#start)) totals.add(uncertain(contribution));
    for (const contribution of this.#pending.values()) totals.add(uncertain(contribution));
    this.#unsure = totals;
    return totals;
  }

  #drop(beforeMs: number): void {
    this.#restarts.drop(beforeMs);
    const far = this.#granted[droppedAtOnceMin - 1];
    if (far === undefined || far.atMs >= beforeMs) return;
    const count = Math.min(this.#start, placeAfter(this.#granted, beforeMs));
    this.#granted = this.#granted.slice(count);
    this.#start -= count;
  }
}

const none: readonly Contribution[] = [];

function exchange(totals: RunningTotals, before: Contribution, after: Contribution): void {
  totals.remove(before);
  totals.add(after);
}

function uncertain({ value }: Contribution): Contribution {
  return { isCertain: false, value };
}

/** The place behind the last entry of this time or an earlier one. */
function placeAfter(granted: readonly GrantEntry[], atMs: number): number {
  const last = granted.at(-1);
  if (last === undefined || last.atMs <= atMs) return granted.length;
  let [low, high] = [0, granted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (granted[middle]!.atMs <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
