// The hash of a record, made fast: the canonical JSON of an entry as bytes in a buffer that is used again and again.
// INVARIANT: it equals `linkHash`, the definition, for every entry; a law holds them equal.

import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import type { ChainEntry } from './chain.ts';

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;
/** Texts of so many UTF-16 units are escaped here; shorter ones as the definition does it. */
const longTextMin = 200;
/** UTF-8 has at most so many bytes for a UTF-16 unit, */
const bytesPerUnitMax = 3;
/** and an escape for a byte at most so many. */
const escapeMax = 6;

/** A hasher with a buffer of its own, which grows with the longest record. */
export function createLinkHasher(): (previousHash: string, entry: ChainEntry) => string {
  const orderOf = createNameOrders();
  let buffer = Buffer.allocUnsafe(64 * 1024);
  let length = 0;

  const reserve = (bytes: number) => {
    if (length + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(2 * (length + bytes));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  };

  const put = (text: string) => {
    reserve(text.length * bytesPerUnitMax);
    length += buffer.write(text, length, 'utf8');
  };

  /** In double quotes, escaped as `JSON.stringify` does it. */
  const putLongText = (text: string) => {
    if (!text.isWellFormed()) throw new RangeError('JSON has no text with a lone surrogate');
    reserve(text.length * (bytesPerUnitMax + escapeMax) + 2);
    // As it is to the end of the buffer, and from there with its escapes to its place: that is never overtaken.
    const from = buffer.length - text.length * bytesPerUnitMax;
    const end = from + buffer.write(text, from, 'utf8');
    length = escapeInto(buffer, length, { from, end });
  };

  return (previousHash, entry) => {
    length = 0;
    let text = previousHash;
    for (const { name, before } of orderOf(entry)) {
      const value = entry[name] ?? null;
      text += before;
      if (typeof value === 'string' && value.length >= longTextMin) {
        put(text);
        text = '';
        putLongText(value);
      } else text += canonicalJson(value);
    }
    put(`${text}}`);
    return hash('sha256', buffer.subarray(0, length), 'hex');
  };
}

/** Copies the bytes to `to`, in quotes and with their escapes; yields where that ends. */
function escapeInto(buffer: Buffer, to: number, { from, end }: { from: number; end: number }): number {
  let next = to;
  buffer[next++] = quote;
  for (let at = from; at < end; at++) {
    const byte = buffer[at]!;
    if (byte < firstPrintable) {
      const escaped = JSON.stringify(String.fromCharCode(byte)).slice(1, -1);
      next += buffer.write(escaped, next, 'latin1');
      continue;
    }
    if (byte === quote || byte === backslash) buffer[next++] = backslash;
    buffer[next++] = byte;
  }
  buffer[next++] = quote;
  return next;
}

interface Named {
  readonly name: string;
  /** What stands before the value. */
  readonly before: string;
}

/** The names of an entry in their canonical order, which the entries of a kind share. */
function createNameOrders(): (entry: ChainEntry) => readonly Named[] {
  const known = new Map<string, { readonly names: readonly string[]; readonly order: readonly Named[] }>();
  return (entry) => {
    const names = Object.keys(entry);
    const found = known.get(entry.kind);
    const isSame =
      found !== undefined &&
      found.names.length === names.length &&
      found.names.every((name, at) => name === names[at]);
    if (isSame) return found.order;
    const order = [...names]
      .sort()
      .map((name, at) => ({ name, before: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:` }));
    known.set(entry.kind, { names, order });
    return order;
  };
}
