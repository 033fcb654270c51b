// What has been counted and is not stored yet, by minutes, or by hours where it is old. INVARIANT: what is told is in
// one cell, and a cell is here until what takes it away has stored it.

import { memo } from '../../language/value/memo.ts';
import type { CountedRefusal, WaitEnd } from '../store/contract/statistics.ts';
import {
  addCell,
  addEnd,
  addRefusal,
  addRequest,
  type CellCounts,
  createCell,
  type StatisticsRequest,
} from './cell.ts';
import { floorTo, hourMs, hoursBeforeMs, minuteMs } from './times.ts';

export interface OpenCell {
  readonly atMs: number;
  readonly spanMs: number;
  readonly cell: CellCounts;
}

export interface Counters {
  request(request: StatisticsRequest): void;
  refusal(refusal: CountedRefusal): void;
  end(end: WaitEnd): void;
  all(): Iterable<OpenCell>;
  /** Those that ended at `untilMs` or before, the earliest first; they are counted anew from then on. */
  take(untilMs: number): readonly OpenCell[];
  /** They could not be stored after all. */
  putBack(cells: readonly OpenCell[]): void;
}

export function createCounters(clock: () => number): Counters {
  const cells = new Map<number, OpenCell>();
  /** Nearly every count belongs to the same cell as the last one. */
  let latest: OpenCell | null = null;

  function cellAt(atMs: number): CellCounts {
    if (latest !== null && atMs >= latest.atMs && atMs < latest.atMs + latest.spanMs) return latest.cell;
    const spanMs = atMs < hoursBeforeMs(clock()) ? hourMs : minuteMs;
    latest = open(floorTo(atMs, spanMs), spanMs);
    return latest.cell;
  }

  function open(atMs: number, spanMs: number): OpenCell {
    return memo(cells, atMs, () => ({ atMs, spanMs, cell: createCell() }));
  }

  return {
    request: (request) => addRequest(cellAt(request.createdAtMs), request),
    refusal: (refusal) => addRefusal(cellAt(refusal.atMs), refusal),
    end: (end) => addEnd(cellAt(end.atMs), end),
    all: () => cells.values(),
    take(untilMs) {
      const taken = [...cells.values()].filter(({ atMs, spanMs }) => atMs + spanMs <= untilMs);
      for (const { atMs } of taken) cells.delete(atMs);
      latest = null;
      return taken.toSorted((a, b) => a.atMs - b.atMs);
    },
    putBack(taken) {
      for (const { atMs, spanMs, cell } of taken) addCell(open(atMs, spanMs).cell, cell);
    },
  };
}
