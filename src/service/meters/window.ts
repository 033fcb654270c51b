// One meter for one agent, owner, session or whatever it is kept for: what was granted in the last hours, and what is
// still pending. INVARIANT: at any `nowMs`, an earlier one too, the reading is what the definition says: entries count
// while their window says so and from the last restart on, pending ones whatever their age, entries later than
// `nowMs` too; one of the very moment of the restart may count or not, and so may all while a restart is pending.

import { type Aggregate, type Contribution, isAnew, startsAnew } from '../../language/model/metering.ts';
import type { Reading } from '../../language/model/request.ts';
import {
  countsFrom,
  grantCountsAt,
  type MeterWindow,
  windowStartMs,
} from '../../language/value/meter-window.ts';
import { Restarts } from './restarts.ts';
import { createRunningTotals, type RunningTotals } from './running-totals.ts';

export interface WindowOptions {
  readonly aggregate: Aggregate;
  readonly over: MeterWindow;
  /** Whether entries depend on what calls return: then what asks adds nothing to its own reading. */
  readonly readsResult?: boolean;
}

/** What else a reading counts. */
export interface ReadingOf {
  readonly nowMs: number;
  /** What the request that asks would add, as if it were granted; null where the meter does not count it. */
  readonly current: Contribution | null;
  /** The request that asks may be pending itself, and must not count twice. */
  readonly requestId: string | null;
}

interface Granted {
  readonly requestId: string;
  readonly atMs: number;
  readonly contribution: Contribution;
}

/** How much longer than the window entries are kept, for a clock that is set back. */
const keptBeyondMs = 24 * 60 * 60 * 1000;

/** Dropping entries moves the others: it waits until this many can go at once. */
const droppedAtOnceMin = 256;

/** A class because it is changed by each request. */
export class Window {
  readonly #options: WindowOptions;
  readonly #totals: RunningTotals;
  /** By time. Those from `#start` on are in the totals. */
  #granted: Granted[] = [];
  #start = 0;
  readonly #pending = new Map<string, Contribution>();
  readonly #restarts = new Restarts();
  /** From which on entries count. */
  #restartMs = Number.NEGATIVE_INFINITY;
  /** The same entries as in the totals, none of them certain; null where no reading has asked for them. */
  #unsure: RunningTotals | null = null;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#totals = createRunningTotals(options.aggregate);
  }

  /** Null where it is unknown. */
  read({ nowMs, current, requestId }: ReadingOf): Reading | null {
    this.#moveTo(nowMs);
    const own = requestId === null ? undefined : this.#pending.get(requestId);
    const { readsResult = false } = this.#options;
    const added = current === null || isAnew(current) || readsResult ? null : current;
    const isUnsure = this.#restarts.hasPendingBeside(requestId);
    const totals = isUnsure ? this.#unsureTotals() : this.#totals;
    if (!isUnsure) this.#unsure = null;
    const tied = isUnsure || this.#restartMs === Number.NEGATIVE_INFINITY ? none : this.#tied();
    for (const one of tied) exchange(totals, one, uncertain(one));
    if (own !== undefined) totals.remove(uncertain(own));
    if (added !== null) totals.add(added);
    const ends = totals.ends();
    if (added !== null) totals.remove(added);
    if (own !== undefined) totals.add(uncertain(own));
    for (const one of tied) exchange(totals, uncertain(one), one);
    return ends;
  }

  /** Reserves what a pending request would add. */
  reserve(requestId: string, contribution: Contribution): void {
    this.release(requestId);
    if (isAnew(contribution)) return void this.#restarts.reserve(requestId);
    this.#pending.set(requestId, contribution);
    this.#put(uncertain(contribution));
  }

  /** A pending request that ends without a grant; nothing where it is not pending. */
  release(requestId: string): void {
    this.#restarts.release(requestId);
    const contribution = this.#pending.get(requestId);
    if (contribution === undefined) return;
    this.#pending.delete(requestId);
    this.#take(uncertain(contribution));
  }

  /** A pending request is granted; nothing where it is not pending. */
  approve(requestId: string, atMs: number): void {
    const contribution = this.#restarts.isPending(requestId) ? startsAnew : this.#pending.get(requestId);
    if (contribution !== undefined) this.grant({ requestId, atMs, contribution });
  }

  /** A grant, also of a request that was pending. */
  grant(granted: Granted): void {
    this.release(granted.requestId);
    if (isAnew(granted.contribution)) return void this.#restarts.grant(granted);
    const at = placeAfter(this.#granted, granted.atMs);
    this.#granted.splice(at, 0, granted);
    if (at < this.#start) this.#start += 1;
    else this.#put(granted.contribution);
  }

  /** Takes back a grant whose record could not be stored, or that is released; at once where its time is known. */
  revoke(requestId: string, atMs: number | null = null): void {
    if (this.#restarts.revoke(requestId)) return;
    const end = atMs === null ? this.#granted.length : placeAfter(this.#granted, atMs);
    let at = end - 1;
    for (; at >= 0; at -= 1) {
      const granted = this.#granted[at]!;
      if (granted.requestId === requestId) break;
      if (atMs !== null && granted.atMs < atMs) return;
    }
    const found = this.#granted[at];
    if (found === undefined) return;
    this.#granted.splice(at, 1);
    if (at < this.#start) this.#start -= 1;
    else this.#take(found.contribution);
  }

  /** Takes an entry out, whether it is pending here or granted at that time, or is not there. */
  remove(requestId: string, atMs: number | null): void {
    this.release(requestId);
    if (atMs !== null) this.revoke(requestId, atMs);
  }

  /** How many entries are kept, those that no reading counts any more included. */
  get size(): number {
    return this.#granted.length + this.#pending.size + this.#restarts.size;
  }

  /** Whether nothing is left that any reading could count. */
  isEmpty(nowMs: number): boolean {
    this.#moveTo(nowMs);
    const hasEntries = this.#pending.size > 0 || this.#granted.length > this.#start;
    return !hasEntries && this.#restarts.isEmpty(grantCountsAt(this.#options.over, nowMs));
  }

  /** Puts the start where the first entry stands that still counts. */
  #moveTo(nowMs: number): void {
    const { over } = this.#options;
    const startMs = windowStartMs(over, nowMs);
    const { lastMs } = this.#restarts;
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

  #countsFrom(startMs: number, { atMs }: Granted): boolean {
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

  /** What was granted in the very moment of the last restart. */
  #tied(): readonly Contribution[] {
    const tied: Contribution[] = [];
    for (let at = this.#start; this.#granted[at]?.atMs === this.#restartMs; at += 1)
      tied.push(this.#granted[at]!.contribution);
    return tied;
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

/** Behind the last entry of this time or an earlier one. */
function placeAfter(granted: readonly Granted[], atMs: number): number {
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
