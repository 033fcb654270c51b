// Reads the records of a store as a log. INVARIANT: one pass, from the first record that matters to the last
// that was there when the pass began; memory is bounded by one stretch.

import type { RecordReader, RecordsLocation } from '../../service/store/contract/log.ts';
import type { LogEntry } from './engine/log.ts';
import { LogReader, momentOfRecord } from './log-entries.ts';
import { faultText, LogFaults, type LogPart, type LogSource } from './log-source.ts';
import type { ParsedRecord } from './parse-record.ts';
import { type RecordSource, sourceHere, sourceInThread } from './record-source.ts';

export interface StoredLogOptions {
  /** Only requests from this moment on count, in milliseconds since 1970; all requests when absent. */
  readonly sinceMs?: number | undefined;
  /**
   * The longest window of a meter, in milliseconds: what was granted within it before `sinceMs` is read too.
   */
  readonly windowMs: number;
  readonly recordsAtOnce?: number;
  /** The place where the same records can be opened again, so that a thread of its own reads a long log. */
  readonly location?: RecordsLocation | undefined;
}

/**
 * Records that are read in one step: few enough that their objects are garbage-collected while they are
 * young.
 */
const recordsAtOnceDefault = 200;

/** From this many records on, a thread reads them. A shorter log is read before a thread has started. */
const longLog = 20_000;

/** Requests that began to wait longer than this before the first window are not read. */
const waitsMs = 7 * 24 * 60 * 60 * 1000;

/** Rejects with a StoreError; iterating the parts rejects in the same way. */
export async function openStoredLog(reader: RecordReader, options: StoredLogOptions): Promise<LogSource> {
  const { sinceMs, windowMs, recordsAtOnce = recordsAtOnceDefault, location } = options;
  const after = sinceMs === undefined ? 0 : await reader.numberBefore(sinceMs - windowMs - waitsMs);
  const { prunedTo, lastSequence } = await reader.extent();
  const from = Math.max(0, after, prunedTo ?? 0);
  const [first] = await reader.records(from, recordsAtOnce);
  const beginMs = first === undefined ? Number.NEGATIVE_INFINITY : momentOfRecord(first);
  const faults = new LogFaults();
  const open = (): RecordSource =>
    location !== undefined && lastSequence - from > longLog ? sourceInThread(location) : sourceHere(reader);
  return {
    completeSinceMs:
      from === 0 ? Number.NEGATIVE_INFINITY : Math.max(beginMs, (sinceMs ?? beginMs) - windowMs),
    faults,
    parts: parts(open, { from, lastSequence, recordsAtOnce, faults }),
  };
}

interface StoreReadOptions {
  readonly from: number;
  readonly lastSequence: number;
  readonly recordsAtOnce: number;
  readonly faults: LogFaults;
}

async function* parts(
  open: () => RecordSource,
  { from, lastSequence, recordsAtOnce, faults }: StoreReadOptions,
): AsyncGenerator<LogPart> {
  const log = new LogReader();
  const source = open();
  try {
    let after = from;
    for await (const records of stretches(source, { from, lastSequence, recordsAtOnce })) {
      const entries: LogEntry[] = [];
      for (const record of records) {
        try {
          entries.push(...log.read(record));
        } catch (error) {
          faults.add(`record ${record.sequence}`, faultText(error));
        }
      }
      after = Math.min(after + recordsAtOnce, lastSequence);
      yield { entries, share: (after - from) / (lastSequence - from) };
    }
  } finally {
    await source.close();
  }
  yield { entries: log.end(), share: 1 };
}

/** Reads stretches of records, asking for some ahead of time. */
async function* stretches(
  source: RecordSource,
  { from, lastSequence, recordsAtOnce }: Omit<StoreReadOptions, 'faults'>,
): AsyncGenerator<readonly ParsedRecord[]> {
  const reads: Promise<readonly ParsedRecord[]>[] = [];
  for (let after = from; after < lastSequence || reads.length > 0; ) {
    while (reads.length < source.atOnce && after < lastSequence) {
      const answer = source.records(after, Math.min(recordsAtOnce, lastSequence - after));
      // A failure is thrown when its stretch is awaited, so it is not unhandled.
      answer.catch(() => undefined);
      reads.push(answer);
      after += recordsAtOnce;
    }
    yield await reads.shift()!;
  }
}
