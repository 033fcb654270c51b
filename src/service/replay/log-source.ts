// A log from wherever it comes, as replay reads it: in parts, with what could not be read.

import type { LogEntry } from '../../reasoning/replay/log.ts';

export interface LogSource {
  /** Since when it holds all that was granted, in milliseconds since 1970-01-01T00:00Z; `-Infinity` is always. */
  readonly wholeSinceMs: number;
  /** In the order of the log; once. */
  readonly parts: AsyncIterable<LogPart>;
  /** Grow while the parts are read. */
  readonly faults: LogFaults;
}

export interface LogPart {
  readonly entries: readonly LogEntry[];
  /** Of the whole log, so much has been read by now; from 0 to 1. */
  readonly share: number;
}

const namedMax = 20;

/** What could not be read, and what was there twice. A class because it grows while a log is read. */
export class LogFaults {
  /** The first of them, each with its place. */
  readonly named: string[] = [];
  /** All of them. */
  count = 0;
  /** Lines that repeat a request which counts once. */
  repeated = 0;

  add(place: string, message: string): void {
    this.count += 1;
    if (this.named.length < namedMax) this.named.push(`${place}: ${message}`);
  }
}

/** What an error says that was met while something was read. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof SyntaxError ? `what it holds is not JSON: ${error.message}` : error.message;
}
