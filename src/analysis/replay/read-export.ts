// Reads a file of exported requests as a log. Records of the chain are read in their order. A list of
// requests begins with the latest, so it is sorted first. INVARIANT: every line is read, or named and counted
// as a fault; none is passed over.

import { createReadStream, statSync } from 'node:fs';
import { readJson } from '../../language/json/read-json.ts';
import { isJsonObject, type Json } from '../../language/model/json.ts';
import type { LogEntry } from './engine/log.ts';
import { type ExportLine, exportLimits, exportLineOf, listedEntries } from './export-line.ts';
import { LogReader, momentOfRecord } from './log-entries.ts';
import { faultText, LogFaults, type LogPart, type LogSource } from './log-source.ts';
import { RecordParser } from './parse-record.ts';
import { headBytes, otherFileText } from './unsupported-file.ts';

/**
 * The file is not an export; the message is one sentence in lower case. A class so that callers can tell it
 * from errors of the file system.
 */
export class NoExportError extends Error {}

/** Rejects with the error of the file system, or a NoExportError. */
export async function openExport(path: string): Promise<LogSource> {
  const bytesAll = statSync(path).size;
  const other = otherFileText(await headOf(path));
  if (other !== null) throw new NoExportError(other);
  const faults = new LogFaults();
  return { completeSinceMs: await completeSince(path), faults, parts: parts(path, { bytesAll, faults }) };
}

/**
 * The moment from which an export is whole, in milliseconds since 1970. Records are always whole if they
 * begin with the first of the chain; later records are whole from the first of them. A list may leave out any
 * request, so it is never whole.
 */
async function completeSince(path: string): Promise<number> {
  for await (const { bytes } of linesOf(path)) {
    if (isBlank(bytes)) continue;
    const line = lineOf(bytes);
    if (line?.kind !== 'record') return Number.POSITIVE_INFINITY;
    if (line.sequence === 1) return Number.NEGATIVE_INFINITY;
    // The first record of a kind that replay reads; all that follow are later.
    if (line.record !== null) return momentOfRecord(line.record);
  }
  return Number.NEGATIVE_INFINITY;
}

function lineOf(bytes: Buffer): ReturnType<typeof exportLineOf> {
  const read = readJson(bytes, exportLimits);
  return read.ok && isJsonObject(read.value) ? exportLineOf(read.value) : null;
}

async function headOf(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: headBytes - 1 })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface ExportProgress {
  readonly bytesAll: number;
  readonly faults: LogFaults;
}

const linesAtOnce = 1_000;

async function* parts(path: string, { bytesAll, faults }: ExportProgress): AsyncGenerator<LogPart> {
  const reader = new LineReader(path, faults);
  let entries: LogEntry[] = [];
  let lines = 0;
  for await (const { bytes, line, end } of linesOf(path)) {
    if (isBlank(bytes)) continue;
    entries.push(...reader.read(bytes, line));
    lines += 1;
    if (lines % linesAtOnce > 0) continue;
    yield { entries, share: end / bytesAll };
    entries = [];
  }
  yield { entries: [...entries, ...reader.end()], share: 1 };
}

/** A class because how a line is read depends on the lines before it. */
class LineReader {
  readonly #path: string;
  readonly #faults: LogFaults;
  readonly #log = new LogReader();
  readonly #parser = new RecordParser();
  readonly #listed: LogEntry[] = [];
  readonly #ids = new Set<string>();
  #kind: 'record' | 'request' | null = null;
  #lastSequence = 0;

  constructor(path: string, faults: LogFaults) {
    this.#path = path;
    this.#faults = faults;
  }

  read(bytes: Buffer, line: number): readonly LogEntry[] {
    try {
      return this.#read(bytes);
    } catch (error) {
      this.#faults.add(`${this.#path}:${line}`, faultText(error));
      return [];
    }
  }

  end(): readonly LogEntry[] {
    // The sort is stable. At the same moment a request comes before its events.
    const listed = this.#listed.sort(
      (a, b) => momentOf(a) - momentOf(b) || Number(a.kind !== 'request') - Number(b.kind !== 'request'),
    );
    return [...this.#log.end(), ...listed];
  }

  #read(bytes: Buffer): readonly LogEntry[] {
    const value = parsed(bytes);
    const line = isJsonObject(value) ? exportLineOf(value) : null;
    if (line === null) throw new Error(isRequest(value) ? withoutDecision : notExported);
    this.#kind ??= line.kind;
    if (line.kind !== this.#kind)
      throw new Error('the line is from another kind of export than the first line');
    if (line.kind === 'record') return this.#readRecord(line);
    if (this.#ids.has(line.line.request_id)) {
      this.#faults.repeated += 1;
      return [];
    }
    this.#listed.push(...listedEntries(line.line));
    this.#ids.add(line.line.request_id);
    return [];
  }

  #readRecord({ sequence, record }: ExportLine & { readonly kind: 'record' }): readonly LogEntry[] {
    if (!Number.isSafeInteger(sequence)) throw new Error('the record has no number');
    const id = record?.kind === 'request' ? record.id : null;
    if (sequence > this.#lastSequence) {
      this.#lastSequence = sequence;
      if (id !== null) this.#ids.add(id);
      return record === null ? [] : this.#log.read(this.#parser.parse(record));
    }
    // The file may join two exports with some records in common.
    if (id !== null && this.#ids.has(id)) this.#faults.repeated += 1;
    else if (id !== null)
      throw new Error(`record ${sequence} follows record ${this.#lastSequence}: sort the lines by sequence`);
    return [];
  }
}

const notExported = 'this is not a line of exported requests, from `writ audit export` or the request list';

const withoutDecision =
  'the request has no recorded decision: export requests with `writ audit export`, or compare two sets with `writ bench --compare`';

function isRequest(value: Json): boolean {
  return isJsonObject(value) && ('action_key' in value || 'action' in value);
}

function momentOf(entry: LogEntry): number {
  return entry.kind === 'request' ? entry.facts.nowMs : entry.atMs;
}

/** Throws an error whose message is one sentence in lower case. */
function parsed(bytes: Buffer): Json {
  const read = readJson(bytes, exportLimits);
  if (read.ok) return read.value;
  throw new Error(`${read.issue.detail}, at byte ${read.issue.offset + 1} of the line`);
}

interface FileLine {
  /** The line without its line break. */
  readonly bytes: Buffer;
  /** Line number, counted from 1. */
  readonly line: number;
  /** Offset in bytes from the start of the file to the end of the line. */
  readonly end: number;
}

const chunkBytes = 1024 * 1024;

async function* linesOf(path: string): AsyncGenerator<FileLine> {
  let rest: Buffer = Buffer.alloc(0);
  let [line, end] = [0, 0];
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, start)) {
      line += 1;
      end += at + 1 - start;
      yield { bytes: bytes.subarray(start, at), line, end };
      start = at + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) yield { bytes: rest, line: line + 1, end: end + rest.length };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
