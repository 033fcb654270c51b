// A log from any source, as replay reads it: in parts, with the faults that were found.

import type { LogEntry } from './engine/log.ts';

export interface LogSource {
  /**
   * The moment from which the log holds everything that was granted, in milliseconds since 1970-01-01T00:00Z;
   * `-Infinity` when it holds everything.
   */
  readonly completeSinceMs: number;
  /** In the order of the log; can be iterated only once. */
  readonly parts: AsyncIterable<LogPart>;
  /** Grows while the parts are read. */
  readonly faults: LogFaults;
}

export interface LogPart {
  readonly entries: readonly LogEntry[];
  /** Share of the whole log that has been read by now, from 0 to 1. */
  readonly share: number;
}

const namedMax = 20;

/** Lines that could not be read or were there twice. A class because it grows while a log is read. */
export class LogFaults {
  /** The first faults, each with its place. */
  readonly named: string[] = [];
  /** Number of all faults. */
  count = 0;
  /** Number of lines that repeat a request, which counts once. */
  repeated = 0;

  add(location: string, message: string): void {
    this.count += 1;
    if (this.named.length < namedMax) this.named.push(`${location}: ${message}`);
  }
}

/** The message for an error that occurred while something was read. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof SyntaxError ? `its contents are not JSON: ${error.message}` : error.message;
}
