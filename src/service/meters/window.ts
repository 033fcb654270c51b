// One meter for one agent, owner, session or whatever it is kept for: what was granted in the last hours, and what is
// still pending. INVARIANT: at any `nowMs`, an earlier one too, the reading is what the definition says: entries count
// while `nowMs - grantedAtMs < overMs`, pending ones whatever their age, entries later than `nowMs` too.

import type { Aggregate, Contribution } from '../../language/model/metering.ts';
import type { Reading } from '../../language/model/request.ts';
import { createRunningTotals, type RunningTotals } from './running-totals.ts';

export interface WindowOptions {
  readonly aggregate: Aggregate;
  readonly overMs: number;
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

/** So much longer than the window entries are kept, for a clock that is set back. */
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

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#totals = createRunningTotals(options.aggregate);
  }

  /** Null where it is unknown. */
  read({ nowMs, current, requestId }: ReadingOf): Reading | null {
    this.#moveTo(nowMs);
    const own = requestId === null ? undefined : this.#pending.get(requestId);
    if (own !== undefined) this.#totals.remove(uncertain(own));
    if (current !== null) this.#totals.add(current);
    const ends = this.#totals.ends();
    if (current !== null) this.#totals.remove(current);
    if (own !== undefined) this.#totals.add(uncertain(own));
    return ends;
  }

  /** Reserves what a pending request would add. */
  reserve(requestId: string, contribution: Contribution): void {
    this.release(requestId);
    this.#pending.set(requestId, contribution);
    this.#totals.add(uncertain(contribution));
  }

  /** A pending request that ends without a grant; nothing where it is not pending. */
  release(requestId: string): void {
    const contribution = this.#pending.get(requestId);
    if (contribution === undefined) return;
    this.#pending.delete(requestId);
    this.#totals.remove(uncertain(contribution));
  }

  /** A pending request is granted; nothing where it is not pending. */
  approve(requestId: string, atMs: number): void {
    const contribution = this.#pending.get(requestId);
    if (contribution !== undefined) this.grant({ requestId, atMs, contribution });
  }

  /** A grant, also of a request that was pending. */
  grant(granted: Granted): void {
    this.release(granted.requestId);
    const at = placeAfter(this.#granted, granted.atMs);
    this.#granted.splice(at, 0, granted);
    if (at < this.#start) this.#start += 1;
    else this.#totals.add(granted.contribution);
  }

  /** Takes back a grant whose record could not be stored, or that is released; at once where its time is known. */
  revoke(requestId: string, atMs: number | null = null): void {
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
    else this.#totals.remove(found.contribution);
  }

  /** Takes an entry out, whether it is pending here or granted at that time, or is not there. */
  remove(requestId: string, atMs: number | null): void {
    this.release(requestId);
    if (atMs !== null) this.revoke(requestId, atMs);
  }

  /** How many entries are kept, those that no reading counts any more included. */
  get size(): number {
    return this.#granted.length + this.#pending.size;
  }

  /** Whether nothing is left that any reading could count. */
  isEmpty(nowMs: number): boolean {
    this.#moveTo(nowMs);
    return this.#pending.size === 0 && this.#granted.length === this.#start;
  }

  /** Puts the start where the first entry stands that still counts. */
  #moveTo(nowMs: number): void {
    const { overMs } = this.#options;
    for (;;) {
      const next = this.#granted[this.#start];
      if (next === undefined || nowMs - next.atMs < overMs) break;
      this.#totals.remove(next.contribution);
      this.#start += 1;
    }
    for (;;) {
      const before = this.#granted[this.#start - 1];
      if (before === undefined || nowMs - before.atMs >= overMs) break;
      this.#totals.add(before.contribution);
      this.#start -= 1;
    }
    this.#drop(nowMs - overMs - keptBeyondMs);
  }

  #drop(beforeMs: number): void {
    const far = this.#granted[droppedAtOnceMin - 1];
    if (far === undefined || far.atMs >= beforeMs) return;
    const count = Math.min(this.#start, placeAfter(this.#granted, beforeMs));
    this.#granted = this.#granted.slice(count);
    this.#start -= count;
  }
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
