// The readings of the candidate's meters for a request. INVARIANT: the recorded reading is used if the
// meter's window begins before the log, or contains a grant whose record lacks the added amount. Without a
// recorded reading, the meter is then unknown.

import type { MeterDefinition, MeterUse } from '../../../language/model/metering.ts';
import type { Facts, MeterReading } from '../../../language/model/request.ts';
import { countsUntilMs, windowStartMs } from '../../../language/value/meter-window.ts';
import type { ReplayCandidate, ReplayMeters } from './candidate.ts';

interface ReadAt {
  readonly nowMs: number;
  readonly requestId: string;
  /** By name, the readings in the record. */
  readonly recorded: Facts['meters'];
}

interface ReadMeters {
  readonly meters: Facts['meters'];
  /** Names of the incomplete meters among those read. */
  readonly incomplete: readonly string[];
}

/** A meter that some request reads while the meter lacks what an earlier request added. */
export interface IncompleteMeter {
  readonly name: string;
  /** When the meter began to lack something. */
  readonly sinceMs: number;
  /** Number of requests that read the meter while it was incomplete. */
  readonly requests: number;
}

interface Gap {
  readonly sinceMs: number;
  untilMs: number;
}

const tidyEvery = 20_000;

/** A class, because it tidies totals as requests pass. */
export class Readings {
  readonly #meters: ReplayMeters;
  readonly #completeSinceMs: number;
  readonly #inUse: ReadonlySet<string>;
  /** By the id of the meter. */
  readonly #gaps = new Map<string, Gap>();
  readonly #incomplete = new Map<string, { readonly sinceMs: number; requests: number }>();
  #passed = 0;
  /** Number of requests with a reading from their record, because the log begins too late. */
  recorded = 0;

  /** The log holds all grants since `completeSinceMs`. */
  constructor(
    { meters: definitions }: Pick<ReplayCandidate, 'meters'>,
    meters: ReplayMeters,
    completeSinceMs: number,
  ) {
    this.#meters = meters;
    this.#completeSinceMs = completeSinceMs;
    this.#inUse = new Set(definitions.map(({ id }) => id));
    for (const definition of definitions) meters.fill(definition, []);
  }

  pass(nowMs: number): void {
    this.#passed += 1;
    if (this.#passed % tidyEvery === 0) this.#meters.tidy(this.#inUse, nowMs);
  }

  /**
   * Notes that the meters hold an unknown amount until `endMs`, and then as long as their windows reach back
   * to it.
   */
  lack(definitions: readonly MeterDefinition[], { atMs, endMs }: { atMs: number; endMs: number }): void {
    for (const { id, over } of definitions) {
      const cached = this.#gaps.get(id);
      const gap = cached === undefined || cached.untilMs <= atMs ? { sinceMs: atMs, untilMs: atMs } : cached;
      gap.untilMs = Math.max(gap.untilMs, countsUntilMs(over, endMs));
      this.#gaps.set(id, gap);
    }
  }

  read(uses: readonly MeterUse[], at: ReadAt): ReadMeters {
    if (uses.length === 0) return none;
    const meters: Record<string, MeterReading> = {};
    const incomplete: string[] = [];
    let isRecorded = false;
    for (const use of uses) {
      if (use.names.length === 0) continue;
      // The log does not hold what calls returned, so a meter of results always reads from the record.
      const { over, readsResult = false } = use.definition;
      const isWhole = !readsResult && windowStartMs(over, at.nowMs) >= this.#completeSinceMs;
      const isLacking = at.nowMs < (this.#gaps.get(use.definition.id)?.untilMs ?? Number.NEGATIVE_INFINITY);
      if (!isWhole) isRecorded = true;
      if (isLacking) incomplete.push(...use.names);
      const ownReading = isWhole && !isLacking ? this.#meters.read(use, at) : null;
      for (const name of use.names) {
        const reading = isWhole && !isLacking ? ownReading : at.recorded[name];
        if (reading != null) meters[name] = reading;
      }
    }
    if (isRecorded) this.recorded += 1;
    return { meters, incomplete };
  }

  /** Notes that a request has read incomplete meters, each under one of its names. */
  noteIncomplete(uses: readonly MeterUse[], names: readonly string[]): void {
    if (names.length === 0) return;
    for (const { definition, names: own } of uses)
      for (const name of own) {
        const gap = this.#gaps.get(definition.id);
        if (gap === undefined || !names.includes(name)) continue;
        const noted = this.#incomplete.get(name) ?? { sinceMs: gap.sinceMs, requests: 0 };
        noted.requests += 1;
        this.#incomplete.set(name, noted);
      }
  }

  /** Sorted by name. */
  incomplete(): readonly IncompleteMeter[] {
    return [...this.#incomplete]
      .map(([name, noted]) => ({ name, ...noted }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

const none: ReadMeters = { meters: {}, incomplete: [] };
