// Merges old stored minutes into hours and removes counts that are too old. INVARIANT: an hour replaces its
// minutes in one transaction.

import type { StatisticsStore } from '../store/contract/statistics.ts';
import { addText, cellText, createCell } from './cell.ts';
import { floorTo, hourMs, hoursBeforeMs, keptMs, minuteMs } from './times.ts';

/** Hours merged in one call; the rest wait for the next call. */
const hoursAtOnce = 24;
/** The sixty minutes of an hour, and the hour itself, which may be stored beside them. */
const cellsOfHour = 61;

/** Returns true when all work is done, false when some is left for the next call. Calls must not overlap. */
export async function keepUp(store: StatisticsStore, nowMs: number): Promise<boolean> {
  const oldestMs = floorTo(nowMs - keptMs, hourMs);
  for (const spanMs of [minuteMs, hourMs]) await removeBefore(store, oldestMs, spanMs);
  for (let count = 0, fromMs = oldestMs; count < hoursAtOnce; count += 1) {
    const atMs = await firstMinute(store, { fromMs, untilMs: hoursBeforeMs(nowMs) });
    if (atMs === null) return true;
    await mergeHour(store, floorTo(atMs, hourMs));
    fromMs = floorTo(atMs, hourMs) + hourMs;
  }
  return false;
}

async function removeBefore(store: StatisticsStore, untilMs: number, spanMs: number): Promise<void> {
  const range = { fromMs: 0, untilMs };
  if ((await store.cells({ ...range, spanMs, after: null, countMax: 1, isOwn: true })).length === 0) return;
  await store.change({ puts: [], removed: { spanMs, ...range }, hits: [], shadowChanges: [], mark: null });
}

/** The first time that is stored by the minute; null when there is none. */
async function firstMinute(
  store: StatisticsStore,
  range: { readonly fromMs: number; readonly untilMs: number },
): Promise<number | null> {
  const [first] = await store.cells({
    ...range,
    spanMs: minuteMs,
    after: null,
    countMax: 1,
    isOwn: true,
  });
  return first?.atMs ?? null;
}

async function mergeHour(store: StatisticsStore, atMs: number): Promise<void> {
  const range = { fromMs: atMs, untilMs: atMs + hourMs };
  const hour = createCell();
  const page = { ...range, spanMs: null, after: null, countMax: cellsOfHour, isOwn: true };
  for (const { json } of await store.cells(page)) addText(hour, json);
  await store.change({
    puts: [{ atMs, spanMs: hourMs, json: cellText(hour) }],
    removed: { spanMs: minuteMs, ...range },
    hits: [],
    shadowChanges: [],
    mark: null,
  });
}
