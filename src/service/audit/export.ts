// Records into lines for other programs: JSON Lines, where each line can be checked against the line before
// in its lane, or CSV for tables. INVARIANT: memory is bounded by one stretch of the chain.

import { canonicalJson } from '../store/contract/canonical-json.ts';
import { type ChainEntry, type ChainRecord, chainStart } from '../store/contract/chain.ts';
import { createLaneEnds, laneOf } from '../store/contract/lanes.ts';
import type { Store } from '../store/contract/store.ts';

export const exportFormats = ['jsonl', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Exports records from this moment on; milliseconds since 1970-01-01T00:00Z. */
  readonly sinceMs?: number | undefined;
  /** Exports records before this moment; milliseconds since 1970-01-01T00:00Z. */
  readonly untilMs?: number | undefined;
  readonly recordsAtOnce?: number;
  /** Called with each record before its line is yielded. */
  readonly onRecord?: ((entry: ChainEntry) => void) | undefined;
}

interface ExportedRecord extends ChainRecord {
  readonly previousHash: string;
}

const recordsAtOnce = 100;

/**
 * Yields the lines in the order of the chain, each with its line end; CSV begins with a line of names.
 * INVARIANT: unless the clock was set back, a period is a stretch of the chain without gaps, and consecutive
 * periods have every record once. Rejects with a StoreError.
 */
export async function* exportRecords(store: Store, options: ExportOptions): AsyncGenerator<string> {
  const { format, sinceMs = -Infinity, untilMs = Infinity } = options;
  const lineOf = format === 'csv' ? csvLine : jsonLine;
  if (format === 'csv') yield `${csvNames.join(',')}\r\n`;
  let countsAtMs = -Infinity;
  for await (const record of records(store, options.recordsAtOnce ?? recordsAtOnce)) {
    countsAtMs = timeInOrder(timeOf(record.entry), countsAtMs);
    if (!(countsAtMs >= sinceMs && countsAtMs < untilMs)) continue;
    options.onRecord?.(record.entry);
    yield lineOf(record);
  }
}

/** How much older a record may be than one before it, since several are made at once. */
const disorderMs = 60_000;

/** A record that is a little older than the one before counts at the time of that one. */
function timeInOrder(atMs: number, beforeMs: number): number {
  return atMs < beforeMs && atMs >= beforeMs - disorderMs ? beforeMs : atMs;
}

async function* records(store: Store, atOnce: number): AsyncGenerator<ExportedRecord> {
  // Lanes that cannot be tied now can still be read.
  await store.chain.tie().catch(() => undefined);
  let ends = createLaneEnds(chainStart);
  for (let after = 0; ; ) {
    const { pruning, records: segment, lastSequence } = await store.chain.segment(after, atOnce);
    if (pruning !== null && pruning.sequence > ends.last().sequence) ends = createLaneEnds(pruning);
    for (const record of segment) {
      yield { ...record, previousHash: ends.of(laneOf(record.entry)).hash };
      ends.take(record);
    }
    // A chain with a gap is exported, too: what is left of it matters all the more.
    after = segment.length > 0 ? ends.last().sequence : Math.max(after + atOnce, ends.last().sequence);
    if (after >= lastSequence) return;
  }
}

/** `hash` is `linkHash` of `previous` and `entry`. */
function jsonLine({ entry, hash, previousHash }: ExportedRecord): string {
  const at = timeText(entry);
  return `{"sequence":${entry.sequence},"at":"${at}","previous":"${previousHash}","hash":"${hash}","entry":${canonicalJson(entry)}}\n`;
}

const csvNames = [
  'sequence',
  'at',
  'kind',
  'id',
  'agent_id',
  'action',
  'result',
  'who',
  'previous',
  'hash',
  'entry',
];

function csvLine({ entry, hash, previousHash }: ExportedRecord): string {
  const cells = [
    ...[entry.sequence, timeText(entry), entry.kind],
    ...csvCells(entry),
    ...[previousHash, hash, canonicalJson(entry)],
  ];
  return `${cells.map((cell) => csvCell(String(cell ?? ''))).join(',')}\r\n`;
}

/** The cells for id, agent, action, result and who. */
function csvCells(entry: ChainEntry): readonly (string | number | null | undefined)[] {
  switch (entry.kind) {
    case 'request':
      return [entry.id, entry.agent_id, entry.action_key, entry.outcome, null];
    case 'refusal':
      return [entry.id, entry.agent_id, null, entry.code, null];
    case 'change':
      return [null, entry.subject, entry.what, null, entry.who];
    case 'event':
      return [entry.request_id, null, entry.what, entry.status, entry.who];
    case 'knot':
      return [null, null, null, null, null];
  }
}

/** Returns a CSV cell. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The time of an entry; empty when the record was tampered with and holds no valid time. */
function timeText(entry: ChainEntry): string {
  const time = new Date(timeOf(entry));
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** Returns when the recorded thing happened, in milliseconds since 1970-01-01T00:00Z. */
export function timeOf(entry: ChainEntry): number {
  return Number(entry[entry.kind === 'request' ? 'created_ms' : 'at_ms']);
}

/**
 * Returns the name by which people find an entry: its id or, for a change or an event, what was done and the
 * id of the agent or request.
 */
export function nameOf(entry: ChainEntry): string {
  switch (entry.kind) {
    case 'request':
    case 'refusal':
      return String(entry.id);
    case 'change':
      return `${entry.what} ${entry.subject}`.trim();
    case 'event':
      return `${entry.what} ${entry.request_id}`;
    case 'knot':
      return 'knot';
  }
}
