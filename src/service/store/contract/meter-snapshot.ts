// The text of a meter's snapshot: the entries that were granted within a stretch of time, column by column,
// which is read many times faster than row by row.

import type { StoredMeterEntry } from './metering.ts';

/** A stretch of time: `fromMs` belongs to it, `untilMs` does not. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A stretch whose entries a snapshot holds, or a gap between snapshots. */
export interface SnapshotSpan extends TimeSpan {
  readonly isHeld: boolean;
}

/** Where to look for the entries of a snapshot. */
export interface SnapshotRange extends TimeSpan {
  /** The most entries in it, except for those that were granted within one millisecond. */
  readonly countMax: number;
}

/** The columns have equal lengths. */
interface Columns {
  readonly requests: readonly string[];
  readonly keys: readonly string[];
  readonly granted: readonly number[];
  readonly certain: readonly boolean[];
  readonly values: readonly (string | null)[];
}

export type GrantedEntry = StoredMeterEntry & { readonly grantedAtMs: number };

/** Returns the text of granted entries of one meter, in their order. */
export function snapshotText(entries: readonly GrantedEntry[]): string {
  const columns: Columns = {
    requests: entries.map(({ requestId }) => requestId),
    keys: entries.map(({ key }) => key),
    granted: entries.map(({ grantedAtMs }) => grantedAtMs),
    certain: entries.map(({ isCertain }) => isCertain),
    values: entries.map(({ value }) => value),
  };
  return JSON.stringify(columns);
}

/** Returns the entries of a snapshot that `snapshotText`, or the same columns in SQL, has written. */
export function snapshotEntries(definition: string, text: string): readonly GrantedEntry[] {
  const { requests, keys, granted, certain, values } = JSON.parse(text) as Columns;
  return requests.map((requestId, at) => ({
    definition,
    requestId,
    key: keys[at]!,
    grantedAtMs: granted[at]!,
    isCertain: certain[at]!,
    value: values[at]!,
  }));
}

/**
 * Returns the stretches from one moment to another, snapshots and the gaps between them. `held` are the
 * stretches of snapshots in the order of time.
 */
export function* snapshotSpans(
  held: Iterable<TimeSpan>,
  { fromMs, untilMs }: TimeSpan,
): Generator<SnapshotSpan, void> {
  let atMs = fromMs;
  for (const one of held) {
    if (one.untilMs <= atMs) continue;
    if (one.fromMs >= untilMs) break;
    if (one.fromMs > atMs) yield { fromMs: atMs, untilMs: one.fromMs, isHeld: false };
    yield { ...one, isHeld: true };
    atMs = one.untilMs;
  }
  if (atMs < untilMs) yield { fromMs: atMs, untilMs, isHeld: false };
}
