// Turns lists of texts and numbers into arrays of PostgreSQL. Texts take the binary form, in which no
// character has to be escaped: records are full of quotation marks.

import { requestIdOrNull } from './request-ids.ts';

const textType = 25;
const headBytes = 20;
const lengthBytes = 4;

/** Returns a parameter of type `text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  let size = headBytes;
  for (const value of values) size += lengthBytes + (value === null ? 0 : Buffer.byteLength(value));
  const bytes = Buffer.allocUnsafe(size);
  // The number of dimensions, whether there may be nulls, the type; then the length and the first index of
  // the one dimension.
  let at = 0;
  for (const number of [1, 1, textType, values.length, 1]) at = bytes.writeInt32BE(number, at);
  for (const value of values) {
    const length = value === null ? -1 : bytes.write(value, at + lengthBytes);
    bytes.writeInt32BE(length, at);
    at += lengthBytes + Math.max(0, length);
  }
  return bytes;
}

/** Returns a parameter for an array of numbers or truth values. */
export function plainArray(values: readonly (number | bigint | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Returns a parameter for an array of request ids, with null in the place of a text that is no such id. */
export function idArray(ids: readonly string[]): string {
  return `{${ids.map((id) => requestIdOrNull(id) ?? 'NULL').join(',')}}`;
}
