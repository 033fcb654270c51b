// Lists of texts and numbers into arrays of PostgreSQL: texts in the binary form, so that none of their characters has to be
// escaped. Records are full of quotation marks.

import { requestIdOrNull } from './request-ids.ts';

const textType = 25;
const headBytes = 20;
const lengthBytes = 4;

/** A parameter of type `text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  let size = headBytes;
  for (const value of values) size += lengthBytes + (value === null ? 0 : Buffer.byteLength(value));
  const bytes = Buffer.allocUnsafe(size);
  // Dimensions, whether there may be nulls, the type; then the length and the first index of the one dimension.
  let at = 0;
  for (const number of [1, 1, textType, values.length, 1]) at = bytes.writeInt32BE(number, at);
  for (const value of values) {
    const length = value === null ? -1 : bytes.write(value, at + lengthBytes);
    bytes.writeInt32BE(length, at);
    at += lengthBytes + Math.max(0, length);
  }
  return bytes;
}

/** A parameter of an array of numbers or truth values. */
export function plainArray(values: readonly (number | bigint | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** A parameter of ids of requests; null in the place of what is none. */
export function idArray(ids: readonly string[]): string {
  return `{${ids.map((id) => requestIdOrNull(id) ?? 'NULL').join(',')}}`;
}
