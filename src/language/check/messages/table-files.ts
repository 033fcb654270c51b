// Turns the file of a table into rows, one at a time: CSV (RFC 4180) with a line of column names, or JSON
// Lines. Cells stay as written; the checker reads them by the types of their columns.

import { parseJson } from '../../json/parse.ts';
import { isJsonObject, type Json } from '../../model/json.ts';

/** One row. A cell of CSV is a text, and absent when the cell is empty. */
export interface FileRow {
  /** The line where the row begins, counted from 1. */
  readonly line: number;
  readonly cells: Readonly<Record<string, Json | undefined>>;
}

export interface FileFault {
  readonly line: number;
  readonly fault: string;
}

export type TableFormat = 'csv' | 'jsonl';

/** Returns the format by the extension of the file; null when the extension is unknown. */
export function formatOf(path: string): TableFormat | null {
  if (path.endsWith('.csv')) return 'csv';
  return /\.(?:jsonl|ndjson)$/.test(path) ? 'jsonl' : null;
}

/** Yields the rows and the faults of the file; the rows end at a fault after which reading cannot go on. */
export function readRows(format: TableFormat, text: string): Generator<FileRow | FileFault> {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  return format === 'csv' ? csvRows(plain) : jsonRows(plain);
}

function* csvRows(text: string): Generator<FileRow | FileFault> {
  let names: readonly string[] | null = null;
  for (const { line, fields, fault } of csvRecords(text)) {
    if (fault !== null) {
      yield { line, fault };
      return;
    }
    if (names === null) {
      names = fields;
      const twice = names.find((name, at) => names!.indexOf(name) !== at);
      if (twice !== undefined) yield { line, fault: `names \`${twice}\` twice` };
      if (twice !== undefined) return;
      continue;
    }
    if (fields.length !== names.length)
      yield { line, fault: `has ${fields.length} cells, the first line ${names.length}` };
    else yield { line, cells: csvCells(names, fields) };
  }
  if (names === null) yield { line: 1, fault: 'names no columns' };
}

function csvCells(names: readonly string[], fields: readonly string[]): FileRow['cells'] {
  const cells: Record<string, string | undefined> = Object.create(null);
  for (let at = 0; at < names.length; at += 1) cells[names[at]!] = fields[at] === '' ? undefined : fields[at];
  return cells;
}

interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
  readonly fault: string | null;
}

function* csvRecords(text: string): Generator<CsvRecord> {
  let line = 1;
  for (let at = 0; at < text.length; line += 1) {
    const end = endOfLine(text, at);
    const record = text.slice(at, text.charAt(end - 1) === '\r' ? end - 1 : end);
    at = end + 1;
    if (record === '') continue;
    if (!record.includes('"')) {
      yield { line, fields: record.split(','), fault: null };
      continue;
    }
    const start = end - record.length - (text.charAt(end - 1) === '\r' ? 1 : 0);
    const read = quotedRecord(text, start);
    yield { line, fields: read.fields, fault: read.fault };
    if (read.fault !== null) return;
    line += text.slice(start, read.end).split('\n').length - 1;
    at = read.end + 1;
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/**
 * Reads a record with cells in quotes, which may hold commas and line breaks. `end` is the end of the
 * record's last line.
 */
function quotedRecord(
  text: string,
  start: number,
): { readonly fields: readonly string[]; readonly end: number; readonly fault: string | null } {
  const fields: string[] = [];
  for (let at = start; ; at = field.lastIndex) {
    field.lastIndex = at;
    const match = field.exec(text);
    if (match === null)
      return { fields, end: at, fault: 'has a quote that does not end, or one within a cell' };
    fields.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'));
    if (match[3] !== ',')
      return { fields, end: match[3] === '' ? text.length : field.lastIndex - 1, fault: null };
  }
}

/** How deep JSON may nest: a row holds values and lists of values. */
const depthMax = 3;

function* jsonRows(text: string): Generator<FileRow | FileFault> {
  let line = 1;
  for (let at = 0; at < text.length; line += 1) {
    const end = endOfLine(text, at);
    const row = text.slice(at, end).trim();
    at = end + 1;
    if (row === '') continue;
    const parsed = parseJson(row, depthMax);
    if (!parsed.ok) yield { line, fault: `cannot be read: ${parsed.fault.detail}` };
    else if (!isJsonObject(parsed.value)) yield { line, fault: 'is not an object' };
    else yield { line, cells: parsed.value };
  }
}
