// Tries a policy set on a whole log, in slices between which the thread does other work.

import { setImmediate as pause } from 'node:timers/promises';
import { windowMsMax } from '../../language/value/meter-window.ts';
import { createMeterTotals } from '../../service/meters/meter-totals.ts';
import type { ReplayCandidate } from './engine/candidate.ts';
import { createReplay, type ReplayOptions, type ReplayResult } from './engine/replay-log.ts';
import type { LogSource } from './log-source.ts';
import { serviceRules } from './service-rules.ts';

export interface ReplayLogOptions
  extends Pick<ReplayOptions, 'candidate' | 'reading' | 'findings' | 'onChanged' | 'onDecision'> {
  readonly sinceMs?: number | undefined;
  /** Called with the share of the log that has been read, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/** Rejects when the log cannot be read. */
export async function replayLog(log: LogSource, options: ReplayLogOptions): Promise<ReplayResult> {
  const { sinceMs = Number.NEGATIVE_INFINITY, onProgress } = options;
  const replay = createReplay({
    ...options,
    sinceMs,
    completeSinceMs: log.completeSinceMs,
    meters: createMeterTotals(),
    rules: serviceRules,
  });
  for await (const { entries, share } of log.parts) {
    for (const entry of entries) replay.take(entry);
    onProgress?.(share);
    await pause();
  }
  return replay.result();
}

/** The longest window, in milliseconds, of a meter that the set reads or counts. */
export function windowMsOf({ meters }: Pick<ReplayCandidate, 'meters'>): number {
  return meters.reduce((longest, { over }) => Math.max(longest, windowMsMax(over)), 0);
}
