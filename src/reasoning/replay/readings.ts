// Where the candidate's meters stand for a request. INVARIANT: a meter whose window begins before the log does reads what
// the record says, and is unknown where that says nothing; it never reads too little.

import type { MeterUse } from '../../language/model/metering.ts';
import type { Facts, Reading } from '../../language/model/request.ts';
import type { ReplayCandidate, ReplayMeters } from './candidate.ts';

export interface ReadAt {
  readonly nowMs: number;
  readonly requestId: string;
  /** What the record says, by name. */
  readonly recorded: Facts['meters'];
}

const tidyEvery = 20_000;

/** A class because totals are tidied as requests pass. */
export class Readings {
  readonly #meters: ReplayMeters;
  readonly #wholeSinceMs: number;
  readonly #inUse: ReadonlySet<string>;
  #passed = 0;
  /** Requests with a reading that is the record's. */
  recorded = 0;

  /** The log holds all that was granted since `wholeSinceMs`. */
  constructor(
    { meters: definitions }: Pick<ReplayCandidate, 'meters'>,
    meters: ReplayMeters,
    wholeSinceMs: number,
  ) {
    this.#meters = meters;
    this.#wholeSinceMs = wholeSinceMs;
    this.#inUse = new Set(definitions.map(({ id }) => id));
    for (const definition of definitions) meters.fill(definition, []);
  }

  pass(nowMs: number): void {
    this.#passed += 1;
    if (this.#passed % tidyEvery === 0) this.#meters.tidy(this.#inUse, nowMs);
  }

  read(uses: readonly MeterUse[], at: ReadAt): Facts['meters'] {
    if (uses.length === 0) return none;
    const readings: Record<string, Reading> = {};
    let isRecorded = false;
    for (const use of uses) {
      if (use.names.length === 0) continue;
      const isWhole = at.nowMs - use.definition.overMs >= this.#wholeSinceMs;
      const own = isWhole ? this.#meters.read(use, at) : null;
      for (const name of use.names) {
        const reading = isWhole ? own : at.recorded[name];
        if (!isWhole) isRecorded = true;
        if (reading != null) readings[name] = reading;
      }
    }
    if (isRecorded) this.recorded += 1;
    return readings;
  }
}

const none: Facts['meters'] = {};
