// Turns the bytes of a body into a JSON value, strictly (RFC 7493): UTF-8 without a byte order mark, no
// duplicate member, no number that a double would change. A fast path hands ordinary text to JSON.parse: only
// text that is shown to be free of every such fault. All other text goes to the definition in parse.ts.
// INVARIANT: readJson and parseJson agree on every text; a law in test/laws checks this.

import { isUtf8 } from 'node:buffer';
import type { Json } from '../model/json.ts';
import { payloadBytesMax } from '../model/limits.ts';
import { numberFault } from './number.ts';
import { parseJson } from './parse.ts';

export type ReadJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly issue: JsonIssue };

interface JsonIssue {
  /** RFC 6901 pointer to the member or element that was being read; empty for the whole body. */
  readonly pointer: string;
  /** Offset of the fault, in bytes from the start of the body. */
  readonly offset: number;
  /** One sentence in lower case without a final period; never contains the value that was sent. */
  readonly detail: string;
}

export interface JsonLimits {
  readonly bytesMax: number;
  /** How deep arrays and objects may nest. */
  readonly depthMax: number;
}

export const jsonLimits: JsonLimits = { bytesMax: payloadBytesMax, depthMax: 32 };

/**
 * Reads a body. Never throws. `-0` reads as 0; `__proto__` and the like are own members of ordinary objects.
 */
export function readJson(bytes: Uint8Array, limits: JsonLimits = jsonLimits): ReadJson {
  if (bytes.length > limits.bytesMax) {
    return refused('', limits.bytesMax, `the body is larger than ${limits.bytesMax} bytes`);
  }
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = buffer.toString('utf8');
  // Invalid UTF-8 decodes to a replacement character, which is quick to search for.
  if (text.includes('\ufffd') && !isUtf8(bytes)) {
    return refused('', firstInvalidByte(buffer, text), 'the body is not valid UTF-8');
  }
  const ordinary = readOrdinary(buffer, text, limits.depthMax);
  if (ordinary !== undefined) return { ok: true, value: ordinary };
  const parsed = parseJson(text, limits.depthMax);
  if (parsed.ok) return parsed;
  const { pointer, index, detail } = parsed.fault;
  return refused(pointer, Buffer.byteLength(text.slice(0, index)), detail);
}

function refused(pointer: string, offset: number, detail: string): ReadJson {
  return { ok: false, issue: { pointer, offset, detail } };
}

/** Returns the offset of the first replacement character that is not in the bytes themselves. */
function firstInvalidByte(buffer: Buffer, text: string): number {
  let index = text.indexOf('\ufffd');
  let offset = Buffer.byteLength(text.slice(0, index));
  while (buffer[offset] === 0xef && buffer[offset + 1] === 0xbf && buffer[offset + 2] === 0xbd) {
    const next = text.indexOf('\ufffd', index + 1);
    offset += Buffer.byteLength(text.slice(index, next));
    index = next;
  }
  return offset;
}

/** Returns the value of a text that is certainly valid; undefined when the text needs the slower parser. */
function readOrdinary(buffer: Buffer, text: string, depthMax: number): Json | undefined {
  const members = countMembersWritten(buffer, depthMax);
  if (members < 0) return undefined;
  try {
    const value: Json = JSON.parse(text);
    // A duplicate member is written twice but kept once, so the counts then differ.
    return countMembersKept(value) === members ? value : undefined;
  } catch {
    return undefined;
  }
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Returns how many members the text has, provided that it is JSON; -1 when it is too deep, or holds a number
 * or an escape that needs the slower parser. Reads bytes, which is several times faster than reading
 * characters of a string; in UTF-8 no byte of a longer character equals an ASCII byte.
 */
function countMembersWritten(bytes: Uint8Array, depthMax: number): number {
  let members = 0;
  let depth = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (byte === quote) {
      index = endOfString(bytes, index);
      if (index < 0) return -1;
    } else if (byte === 0x3a) {
      members += 1;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > depthMax) return -1;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    } else if (byte === 0x2d || isDigit(byte)) {
      index = endOfOrdinaryNumber(bytes, index);
      if (index < 0) return -1;
    }
  }
  return members;
}

/**
 * Returns the index of the closing quote; -1 when there is none, or when an escape may be half of a surrogate
 * pair.
 */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let index = start + 1; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (byte === quote) return index;
    if (byte !== backslash) continue;
    index += 1;
    if (bytes[index] === 0x75 && isLetter(bytes[index + 1], 0x64)) return -1;
  }
  return -1;
}

/** A double keeps every number of so many digits, so such numbers need no closer look. */
const keptDigits = 15;
/** The most bytes of a number that is looked at here: a double's shortest text, and zeros before it. */
const lookedAtBytes = 25;

/**
 * Returns the index of the number's last character; -1 for an exponent, a negative number between -1 and 0 or
 * negative zero, or digits that a double would change.
 */
function endOfOrdinaryNumber(bytes: Uint8Array, start: number): number {
  let index = bytes[start] === 0x2d ? start + 1 : start;
  if (index > start && bytes[index] === 0x30) return -1;
  const first = index;
  while (index < bytes.length && (isDigit(bytes[index]!) || bytes[index] === 0x2e)) index += 1;
  if (isLetter(bytes[index], 0x65)) return -1;
  return index - first <= keptDigits || isKept(bytes, first, index) ? index - 1 : -1;
}

/** Whether a double keeps the number in these bytes, which are digits and points. */
function isKept(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > lookedAtBytes) return false;
  return numberFault(String.fromCharCode(...bytes.subarray(start, end))) === null;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Whether the byte is the letter, in either case; `lowerCase` is the code of the lower-case letter. */
function isLetter(byte: number | undefined, lowerCase: number): boolean {
  return byte !== undefined && (byte | 0x20) === lowerCase;
}

/** Counts the members of the value. The depth of the text has been checked, so the recursion ends. */
function countMembersKept(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (isArray(value)) {
    for (const element of value) members += countMembersKept(element);
    return members;
  }
  for (const name in value) members += 1 + countMembersKept(value[name] ?? null);
  return members;
}

/** As Array.isArray, which does not narrow read-only arrays. */
function isArray(value: readonly Json[] | { readonly [name: string]: Json }): value is readonly Json[] {
  return Array.isArray(value);
}
