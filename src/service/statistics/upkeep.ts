// Stored minutes that are old into hours, and what is too old away. INVARIANT: an hour takes the place of its minutes in
// one transaction.

import type { StatisticsStore } from '../store/contract/statistics.ts';
import { addText, cellText, createCell } from './cell.ts';
import { floorTo, hourMs, hoursBeforeMs, keptMs, minuteMs } from './times.ts';

/** At one time; the rest has its turn at the next. */
const hoursAtOnce = 24;
/** An hour may be there beside its minutes. */
const cellsOfHour = 61;

/** Whether all is done. To be called by one at a time. */
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

/** The first that is stored by the minute; null where there is none. */
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
