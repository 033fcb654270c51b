// `node bench/meters.ts`: what a reading of a meter and a reservation cost, by how many grants are in the window. Each
// size is measured several times, in turns, and the best counts; the last line says how far the largest is from the
// smallest.

import { createMeterBook, type PastEntry } from '../src/meters/book.ts';
import type { MeterDefinition, MeterEntry } from '../src/model/metering.ts';
import { type Decimal, fromNumber } from '../src/value/decimal.ts';

const definition: MeterDefinition = { id: 'spent', aggregate: 'amounts', overMs: 24 * 3_600_000 };
const sizes = [100, 10_000, 1_000_000];
const roundsOfAll = 7;
const stepsPerRound = 20_000;

const entry: MeterEntry = {
  definition,
  key: 'agent',
  contribution: { isCertain: true, value: fromNumber(12.5) },
};

interface Measured {
  readonly entries: number;
  /** One grant more, with the oldest out of the window. */
  readonly nanoseconds: number;
}

const best = new Map<number, number>();
const books = sizes.map((entries) => ({ entries, book: filled(entries) }));
const nextMs = new Map(sizes.map((entries) => [entries, 0]));
for (let round = 0; round < roundsOfAll; round += 1) {
  for (const { entries, book } of books) {
    const startMs = nextMs.get(entries) ?? 0;
    const gapMs = definition.overMs / entries;
    const started = process.cpuUsage();
    for (let step = 0; step < stepsPerRound; step += 1) {
      const nowMs = definition.overMs + startMs + step * gapMs;
      const requestId = `r${nowMs}`;
      if (book.read(entry, { nowMs, requestId }) === null) throw new Error('the meter is known');
      book.reserve(requestId, [entry]);
      book.approve(requestId, nowMs);
    }
    const { user, system } = process.cpuUsage(started);
    const nanoseconds = ((user + system) * 1000) / stepsPerRound;
    best.set(entries, Math.min(best.get(entries) ?? Number.POSITIVE_INFINITY, nanoseconds));
    nextMs.set(entries, startMs + stepsPerRound * gapMs);
  }
}
const measured: readonly Measured[] = sizes.map((entries) => ({ entries, nanoseconds: best.get(entries)! }));

process.stdout.write('| grants in the window | ns to read, reserve and grant |\n|---|---|\n');
for (const { entries, nanoseconds } of measured)
  process.stdout.write(`| ${entries.toLocaleString('en')} | ${Math.round(nanoseconds)} |\n`);
const ratio = measured.at(-1)!.nanoseconds / measured[0]!.nanoseconds;
process.stdout.write(`\nthe largest costs ${ratio.toFixed(2)} times as much as the smallest\n`);

/** The window is full, and grants are spread over it. */
function filled(entries: number): ReturnType<typeof createMeterBook> {
  const book = createMeterBook();
  const amount: Decimal = fromNumber(12.5);
  const past = function* (): Generator<PastEntry> {
    for (let at = 0; at < entries; at += 1) {
      const grantedAtMs = (at * definition.overMs) / entries;
      yield {
        requestId: `past ${at}`,
        key: 'agent',
        grantedAtMs,
        contribution: { isCertain: true, value: amount },
      };
    }
  };
  book.fill(definition, past());
  return book;
}
