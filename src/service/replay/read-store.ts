// The records of a store as a log. INVARIANT: one pass from the first record that matters to the last that was there when
// it began; memory is bounded by one stretch.

import type { LogEntry } from '../../reasoning/replay/log.ts';
import type { RecordReader } from '../store/contract/log.ts';
import { LogReader, momentOfRecord } from './log-entries.ts';
import { faultText, LogFaults, type LogPart, type LogSource } from './log-source.ts';

export interface StoredLogOptions {
  /** Requests from this moment on count; everything where it is absent. */
  readonly sinceMs?: number | undefined;
  /** The longest window of a meter: what was granted in it before is read, too. */
  readonly windowMs: number;
  readonly recordsAtOnce?: number;
}

/** Records that are read in one step, so few that what is made of them is collected while it is young. */
const recordsAtOnceDefault = 200;

/** Waits that began so long before the first window are not read. */
const waitsMs = 7 * 24 * 60 * 60 * 1000;

/** Rejects with a StoreError, as reading the parts does. */
export async function openStoredLog(reader: RecordReader, options: StoredLogOptions): Promise<LogSource> {
  const { sinceMs, windowMs, recordsAtOnce = recordsAtOnceDefault } = options;
  const after = sinceMs === undefined ? 0 : await reader.numberBefore(sinceMs - windowMs - waitsMs);
  const { prunedTo, lastSequence } = await reader.extent();
  const from = Math.max(0, after, prunedTo ?? 0);
  const [first] = await reader.records(from, recordsAtOnce);
  const beginMs = first === undefined ? Number.NEGATIVE_INFINITY : momentOfRecord(first);
  const faults = new LogFaults();
  return {
    wholeSinceMs: from === 0 ? Number.NEGATIVE_INFINITY : Math.max(beginMs, (sinceMs ?? beginMs) - windowMs),
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
  const log = new LogReader();
  for (let after = from; after < lastSequence; after += recordsAtOnce) {
    const records = await reader.records(after, Math.min(recordsAtOnce, lastSequence - after));
    const entries: LogEntry[] = [];
    for (const record of records) {
      try {
        entries.push(...log.read(record));
      } catch (error) {
        faults.add(`record ${record.sequence}`, faultText(error));
      }
    }
    const read = Math.min(after + recordsAtOnce, lastSequence);
    yield { entries, share: (read - from) / (lastSequence - from) };
  }
  yield { entries: log.end(), share: 1 };
}
