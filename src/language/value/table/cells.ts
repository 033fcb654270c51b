// Writes one cell of a table as bytes, and reads it back. INVARIANT: what is read is what was written.

import type { Decimal } from '../decimal.ts';
import type { Ip } from '../ip.ts';
import { type ByteReader, ByteWriter } from './bytes.ts';

/** The content of a cell: a value of the language, amounts with their currency. */
export type TableCell =
  | boolean
  | string
  | Decimal
  | { readonly amount: Decimal; readonly currency: string | null }
  | Ip
  | readonly TableCell[];

const tags = { false: 0, true: 1, text: 2, decimal: 3, amount: 4, ip: 5, list: 6 } as const;

const scratch = new ByteWriter();

/** Writes a cell; undefined stands for an empty cell. */
export function writeCell(bytes: ByteWriter, cell: TableCell | undefined): void {
  if (cell === undefined) {
    bytes.integer(0);
    return;
  }
  // The cells of a list are written while the list itself is being written, so a list needs a writer of its
  // own.
  const cellBytes = Array.isArray(cell) ? new ByteWriter() : scratch;
  cellBytes.clear();
  writeContent(cellBytes, cell);
  bytes.append(cellBytes);
}

function writeContent(bytes: ByteWriter, cell: TableCell): void {
  if (typeof cell === 'boolean') bytes.byte(cell ? tags.true : tags.false);
  else if (typeof cell === 'string') {
    bytes.byte(tags.text);
    bytes.units(cell);
  } else if (isList(cell)) {
    bytes.byte(tags.list);
    bytes.integer(cell.length);
    for (const element of cell) writeCell(bytes, element);
  } else if ('amount' in cell) {
    bytes.byte(tags.amount);
    bytes.text(cell.currency ?? '');
    writeDecimal(bytes, cell.amount);
  } else if ('family' in cell) {
    bytes.byte(tags.ip);
    bytes.byte(cell.family);
    bytes.bigint(cell.bits);
  } else {
    bytes.byte(tags.decimal);
    writeDecimal(bytes, cell);
  }
}

function isList(cell: TableCell): cell is readonly TableCell[] {
  return Array.isArray(cell);
}

function writeDecimal(bytes: ByteWriter, { coefficient, exponent }: Decimal): void {
  bytes.signed(exponent);
  bytes.bigint(coefficient < 0n ? -2n * coefficient - 1n : 2n * coefficient);
}

function readDecimal(bytes: ByteReader): Decimal {
  const exponent = bytes.signed();
  const signed = bytes.bigint();
  return { coefficient: signed % 2n === 0n ? signed / 2n : -(signed + 1n) / 2n, exponent };
}

/** Reads the cell that is `column` cells after the reader's position; undefined when that cell is empty. */
export function readCell(bytes: ByteReader, column: number): TableCell | undefined {
  for (let left = column; left > 0; left -= 1) {
    const length = bytes.integer();
    bytes.at += length;
  }
  const length = bytes.integer();
  return length === 0 ? undefined : readContent(bytes, bytes.at + length);
}

function readContent(bytes: ByteReader, end: number): TableCell {
  const tag = bytes.byte();
  switch (tag) {
    case tags.false:
    case tags.true:
      return tag === tags.true;
    case tags.text:
      return bytes.textUpTo(end);
    case tags.decimal:
      return readDecimal(bytes);
    case tags.amount: {
      const currency = bytes.text();
      return { amount: readDecimal(bytes), currency: currency === '' ? null : currency };
    }
    case tags.ip:
      return { family: bytes.byte() as Ip['family'], bits: bytes.bigint() };
    case tags.list:
      return Array.from({ length: bytes.integer() }, () => readCell(bytes, 0)!);
    default:
      throw new RangeError(`no cell begins with ${tag}`);
  }
}
