// Keeps the texts of policy files over the bytes that were read, in memory that threads share. A text is
// decoded on demand, so a start that recognises a set by its bytes decodes nothing.

import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { SourceText } from '../../language/diagnostic/span.ts';
import { memo } from '../../language/value/memo.ts';

const bytesByText = new WeakMap<object, Uint8Array>();

/** Returns the UTF-8 of the text as it was read, without a byte order mark. The bytes must not be changed. */
export function bytesOfText(source: { readonly text: string }): Uint8Array {
  return memo(bytesByText, source, () => new TextEncoder().encode(source.text));
}

/**
 * A text over its bytes, which must not change; null when the bytes are not UTF-8. A byte order mark is left
 * out.
 */
export function textOverBytes(path: string, bytes: Uint8Array): SourceText | null {
  if (!isUtf8(bytes)) return null;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  let decoded: string | null = null;
  const source: SourceText = {
    path,
    get text() {
      decoded ??= new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesByText.get(source));
      return decoded;
    },
  };
  bytesByText.set(source, hasMark ? bytes.subarray(3) : bytes);
  return source;
}

/** Lets a text use the same bytes at another place, so that it no longer holds on to the old memory. */
export function moveText(source: { readonly text: string }, bytes: Uint8Array): void {
  bytesByText.set(source, bytes);
}

/**
 * Reads files into one piece of shared memory, because each piece costs time and the unused end of a page.
 */
export type TextRoom = (path: string, sizeBytes: number) => Uint8Array;

/** Allocates room for files of `sizeBytes` in total. The returned function throws as the file system does. */
export function createTextRoom(sizeBytes: number): TextRoom {
  const room = new Uint8Array(new SharedArrayBuffer(sizeBytes));
  let used = 0;
  return (path, sizeBytes) => {
    const bytes = room.subarray(used, used + sizeBytes);
    const length = readInto(path, bytes);
    // The file has grown since its size was read.
    if (length === null) return readFileSync(path);
    used += length;
    return bytes.subarray(0, length);
  };
}

/** Returns the bytes of the file; null when the file is larger than the room. */
function readInto(path: string, room: Uint8Array): number | null {
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (;;) {
      const isFull = length === room.length;
      const read = readSync(file, isFull ? new Uint8Array(1) : room.subarray(length));
      if (read === 0) return length;
      if (isFull) return null;
      length += read;
    }
  } finally {
    closeSync(file);
  }
}
