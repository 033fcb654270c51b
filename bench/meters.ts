// Measures what a reading of a meter, a reservation and a grant cost together, by the number of grants in the
// window.

import type { MeterDefinition, MeterEntry } from '../src/language/model/metering.ts';
import { fromNumber } from '../src/language/value/decimal.ts';
import { type Figure, figureOf } from '../src/measure/figure.ts';
import {
  createMeterTotals,
  type HistoricEntry,
  type MeterTotals,
} from '../src/service/meters/meter-totals.ts';

export interface MeterFigures {
  /** Number of grants in the window. */
  readonly grants: number;
  /** Nanoseconds for one more grant while the oldest grant leaves the window. */
  readonly figure: Figure;
}

const definition: MeterDefinition = {
  id: 'spent',
  aggregate: 'amounts',
  over: { kind: 'last', seconds: 24 * 3_600 },
};
const overMs = 24 * 3_600_000;
const stepsPerRound = 20_000;

const entry: MeterEntry = {
  definition,
  key: 'agent',
  contribution: { isCertain: true, value: fromNumber(12.5) },
};

/**
 * Measures each size in turns. In each turn the best of three runs counts, because other work on the machine
 * only adds time.
 */
export function measureMeters(sizes: readonly number[], rounds: number): readonly MeterFigures[] {
  const all = sizes.map((grants) => ({
    grants,
    book: filled(grants),
    atMs: overMs,
    best: [] as number[],
  }));
  for (let round = 0; round < rounds + 1; round += 1) {
    for (const one of all) {
      const best = Math.min(...Array.from({ length: 3 }, () => stepsOf(one)));
      // Round 0 warms up and is not counted.
      if (round > 0) one.best.push(best);
    }
  }
  return all.map(({ grants, best }) => ({ grants, figure: figureOf(best) }));
}

interface Filled {
  readonly grants: number;
  readonly book: MeterTotals;
  /** The time of the next step, in milliseconds. */
  atMs: number;
}

/** Nanoseconds of processor time per step. */
function stepsOf(filled: Filled): number {
  const { grants, book } = filled;
  const gapMs = overMs / grants;
  const started = process.cpuUsage();
  for (let step = 0; step < stepsPerRound; step += 1) {
    const nowMs = filled.atMs + step * gapMs;
    const requestId = `r${nowMs}`;
    if (book.read(entry, { nowMs, requestId }) === null) throw new Error('the meter is known');
    book.reserve(requestId, [entry]);
    book.approve(requestId, nowMs);
  }
  const { user, system } = process.cpuUsage(started);
  filled.atMs += stepsPerRound * gapMs;
  return ((user + system) * 1_000) / stepsPerRound;
}

/** Returns meter totals with a full window: `grants` grants spread evenly over it. */
function filled(grants: number): MeterTotals {
  const book = createMeterTotals();
  const past = function* (): Generator<HistoricEntry> {
    for (let at = 0; at < grants; at += 1) {
      const grantedAtMs = (at * overMs) / grants;
      const contribution = { isCertain: true, value: fromNumber(12.5) };
      yield { requestId: `past ${at}`, key: 'agent', grantedAtMs, contribution };
    }
  };
  book.fill(definition, past());
  return book;
}
