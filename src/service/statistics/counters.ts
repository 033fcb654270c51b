// Counts that are not stored yet, in cells of a minute, or of an hour for old requests. INVARIANT: each count
// is in one cell, and a cell stays here until whoever takes it away has stored it.

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
  /**
   * Takes away the cells that ended at `untilMs` or before, the earliest first; later counts for those times
   * start new cells.
   */
  take(untilMs: number): readonly OpenCell[];
  /** Puts cells back that could not be stored after all. */
  putBack(cells: readonly OpenCell[]): void;
}

export function createCounters(clock: () => number): Counters {
  const cells = new Map<number, OpenCell>();
  /** The last cell used, since nearly every count belongs to the same cell as the one before. */
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
