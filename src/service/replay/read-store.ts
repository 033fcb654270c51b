// The records of a store as a log. INVARIANT: one pass from the first record that matters to the last that was there when
// it began; memory is bounded by one stretch.

import type { LogEntry } from '../../reasoning/replay/log.ts';
import { timeOf } from '../audit/entry.ts';
import type { RecordReader } from '../store/contract/store.ts';
import { ChainReader } from './log-entries.ts';
import { faultText, LogFaults, type LogPart, type LogSource } from './log-source.ts';

export interface StoredLogOptions {
  /** Requests from this moment on count; everything where it is absent. */
  readonly sinceMs?: number | undefined;
  /** The longest window of a meter: what was granted in it before is read, too. */
  readonly windowMs: number;
  readonly recordsAtOnce?: number;
}

const recordsAtOnceDefault = 1_000;

/** Waits that began so long before the first window are not read. */
const waitsMs = 7 * 24 * 60 * 60 * 1000;

/** Rejects with a StoreError, as reading the parts does. */
export async function openStoredLog(reader: RecordReader, options: StoredLogOptions): Promise<LogSource> {
  const { sinceMs, windowMs, recordsAtOnce = recordsAtOnceDefault } = options;
  const after = sinceMs === undefined ? 0 : await reader.numberBefore(sinceMs - windowMs - waitsMs);
  const { pruning, records, lastSequence } = await reader.stretch(Math.max(0, after), 1);
  const beginMs = records[0] === undefined ? Number.NEGATIVE_INFINITY : timeOf(records[0].entry);
  const isWhole = pruning === null && after <= 0;
  const wholeSinceMs = isWhole
    ? Number.NEGATIVE_INFINITY
    : Math.max(beginMs, (sinceMs ?? beginMs) - windowMs);
  const faults = new LogFaults();
  const from = Math.max(0, after, pruning?.sequence ?? 0);
  return {
    wholeSinceMs,
    faults,
    parts: parts(reader, { from, lastSequence, recordsAtOnce, faults }),
  };
}

interface Reading {
  readonly from: number;
  readonly lastSequence: number;
  readonly recordsAtOnce: number;
  readonly faults: LogFaults;
}

async function* parts(
  reader: RecordReader,
  { from, lastSequence, recordsAtOnce, faults }: Reading,
): AsyncGenerator<LogPart> {
  const chain = new ChainReader();
  for (let after = from; after < lastSequence; after += recordsAtOnce) {
    const { records } = await reader.stretch(after, Math.min(recordsAtOnce, lastSequence - after));
    const entries: LogEntry[] = [];
    for (const { entry } of records) {
      try {
        entries.push(...chain.read(entry));
      } catch (error) {
        faults.add(`record ${entry.sequence}`, faultText(error));
      }
    }
    const read = Math.min(after + recordsAtOnce, lastSequence);
    yield { entries, share: (read - from) / (lastSequence - from) };
  }
  yield { entries: chain.end(), share: 1 };
}
