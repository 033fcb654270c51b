// Measures the time of repeated work. Throughput is measured in processor time of the thread, because other
// programs on the machine affect it least. Work that is too short for that is timed by the clock, less the
// cost of reading the clock, as the median or the minimum of many passes.

import { type Figure, figureOf, percentile } from './figure.ts';

/**
 * The processor time that this thread has used, in microseconds. Linux counts the time of a running thread
 * only every few milliseconds; asking for the time of the whole process brings the count up to date. Node 22
 * has the time of the whole process only.
 */
export function threadMicroseconds(): number {
  const ofProcess = process.cpuUsage();
  const { user, system } = process.threadCpuUsage?.() ?? ofProcess;
  return user + system;
}

/**
 * Repeats `run`, which does `each` things, for `ms` milliseconds. Returns the processor time of one thing, in
 * nanoseconds.
 */
export function timeCalls(run: () => void, each: number, ms = 200): number {
  const started = performance.now();
  const before = threadMicroseconds();
  let runs = 0;
  do {
    run();
    runs += 1;
  } while (performance.now() - started < ms);
  return ((threadMicroseconds() - before) * 1_000) / runs / each;
}

/** Measures several things in rotation; the first round warms up and does not count. */
export function rotate<K extends string>(
  things: Readonly<Record<K, () => number>>,
  rounds: number,
): Readonly<Record<K, Figure>> {
  const keys = Object.keys(things) as K[];
  const figures = Object.fromEntries(keys.map((key) => [key, [] as number[]])) as Record<K, number[]>;
  for (let round = -1; round < rounds; round += 1) {
    for (const key of keys) {
      const figure = things[key]();
      if (round >= 0) figures[key].push(figure);
    }
  }
  return Object.fromEntries(keys.map((key) => [key, figureOf(figures[key])])) as Record<K, Figure>;
}

/** More passes do not change a median noticeably. */
const passesMax = 101;

/**
 * Times each of `length` things in several passes over all of them, at least one. Returns the median of each,
 * in nanoseconds.
 */
export function timeEach(run: (at: number) => unknown, length: number, ms: number): Float64Array {
  const passes: Float64Array[] = [];
  const until = performance.now() + ms;
  do {
    const times = new Float64Array(length);
    for (let at = 0; at < length; at += 1) {
      const started = performance.now();
      run(at);
      times[at] = performance.now() - started;
    }
    passes.push(times);
  } while (passes.length < passesMax && performance.now() < until);
  const clock = clockCost();
  return Float64Array.from({ length }, (_, at) => {
    const sorted = Float64Array.from(passes, (times) => times[at]!).sort();
    return Math.max(1, (percentile(sorted, 0.5) - clock) * 1e6);
  });
}

const batchMs = 0.02;

/** Nanoseconds of one of the `each` things that `run` does, taken from the fastest of many batches. */
export function timeFastest(run: () => void, each: number, ms: number): number {
  let least = Number.POSITIVE_INFINITY;
  let repeats = 1;
  const until = performance.now() + ms;
  do {
    const started = performance.now();
    for (let repeat = 0; repeat < repeats; repeat += 1) run();
    const took = performance.now() - started;
    least = Math.min(least, took / repeats);
    if (took < batchMs) repeats *= 2;
  } while (performance.now() < until);
  return (least * 1e6) / each;
}

/** Milliseconds between two readings of the clock, in the median. */
function clockCost(): number {
  const times = Float64Array.from({ length: 1_001 }, () => {
    const started = performance.now();
    return performance.now() - started;
  });
  return percentile(times.sort(), 0.5);
}
