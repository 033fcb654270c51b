// Texts of policy files over the bytes that were read of them, in memory that threads share: a text is decoded when somebody
// asks for it, so a start that knows a set by its bytes decodes nothing.

import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { SourceText } from '../../language/diagnostic/span.ts';
import { memo } from '../../language/value/memo.ts';

const known = new WeakMap<object, Uint8Array>();

/** What was read as UTF-8, without a byte order mark. It is never changed. */
export function bytesOfText(source: { readonly text: string }): Uint8Array {
  return memo(known, source, () => new TextEncoder().encode(source.text));
}

/** A text over its bytes, which must not change; null where they are not UTF-8. A byte order mark is left out. */
export function textOverBytes(path: string, bytes: Uint8Array): SourceText | null {
  if (!isUtf8(bytes)) return null;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  let decoded: string | null = null;
  const source: SourceText = {
    path,
    get text() {
      decoded ??= new TextDecoder('utf-8', { ignoreBOM: true }).decode(known.get(source));
      return decoded;
    },
  };
  known.set(source, hasMark ? bytes.subarray(3) : bytes);
  return source;
}

/** The same bytes elsewhere, from now on: nothing keeps those of before for the sake of this text. */
export function moveText(source: { readonly text: string }, bytes: Uint8Array): void {
  known.set(source, bytes);
}

/** Room for files that are read together: one piece of shared memory, as each piece costs time and an end of a page. */
export type TextRoom = (path: string, sizeBytes: number) => Uint8Array;

/** Room for files of these sizes in bytes, together. What it yields of a file throws as the file system does. */
export function createTextRoom(sizeBytes: number): TextRoom {
  const room = new Uint8Array(new SharedArrayBuffer(sizeBytes));
  let used = 0;
  return (path, sizeBytes) => {
    const own = room.subarray(used, used + sizeBytes);
    const length = readInto(path, own);
    // It has grown since its size was asked.
    if (length === null) return readFileSync(path);
    used += length;
    return own.subarray(0, length);
  };
}

/** How many bytes the file has; null where they are more. */
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
