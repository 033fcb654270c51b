// Writes values as bytes one after the other, and reads them back in the same order. Integers of any size are
// groups of seven bits, lowest first; the high bit of a group means that more follow. Texts are their UTF-16
// code units. INVARIANT: a reader returns exactly what was written, bit by bit.

/** The largest buffer that a writer keeps for what it writes next. */
const keptBytesMax = 64 * 1024;

/** Writes values into a buffer that grows. A class, because it keeps that buffer. */
export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets what has been written, but keeps the buffer unless it is large. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > keptBytesMax) this.#bytes = new Uint8Array(keptBytesMax);
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** Writes a whole number from 0 to 2^53 - 1. */
  integer(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  /** Writes a whole number of either sign, of at most 52 bits. */
  signed(value: number): void {
    this.integer(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bigint(value: bigint): void {
    let rest = value;
    while (rest >= 0x80n) {
      this.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest));
  }

  double(value: number): void {
    doubles[0] = value;
    this.raw(bytesOfDouble);
  }

  text(text: string): void {
    this.integer(text.length);
    this.units(text);
  }

  /** Writes the text without its length. */
  units(text: string): void {
    if (this.#length + text.length > this.#bytes.length) this.#grow(text.length);
    const [bytes, start] = [this.#bytes, this.#length];
    let at = 0;
    for (; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x80) break;
      bytes[start + at] = unit;
    }
    this.#length = start + at;
    // A unit from 0x80 on takes more than one byte.
    for (; at < text.length; at += 1) this.integer(text.charCodeAt(at));
  }

  raw(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#bytes.length) this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes the length of what another writer has written, and then those bytes. */
  append(other: ByteWriter): void {
    this.integer(other.#length);
    this.raw(other.written());
  }

  /** Writes zeros up to the next multiple. */
  align(multiple: number): void {
    while (this.#length % multiple !== 0) this.byte(0);
  }

  /** Returns a copy of the written bytes, from position `from` on. */
  take(from = 0): Uint8Array {
    return this.#bytes.slice(from, this.#length);
  }

  /** Returns the written bytes in place; the next write or `clear` changes them. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(by: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + by));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

const doubles = new Float64Array(1);
const bytesOfDouble = new Uint8Array(doubles.buffer);

/** The most code units in one call of `fromCharCode`, because the arguments of a call are limited. */
const unitsAtOnceMax = 4_096;
/**
 * The longest text that is joined unit by unit. For texts this short, that is faster than a call with as many
 * arguments.
 */
const unitsJoinedMax = 24;
const scratch = new Uint16Array(unitsAtOnceMax);

/** Reads values from bytes. A class, because it remembers how far it has read. */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const value = this.bytes[this.at];
    if (value === undefined) throw new RangeError('the bytes end too early');
    this.at += 1;
    return value;
  }

  integer(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let weight = 0x80; byte >= 0x80; weight *= 0x80) {
      byte = this.byte();
      value += (byte & 0x7f) * weight;
    }
    return value;
  }

  signed(): number {
    const value = this.integer();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  bigint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  double(): number {
    bytesOfDouble.set(this.raw(8));
    return doubles[0]!;
  }

  text(): string {
    return this.units(this.integer());
  }

  /** Reads a text of `length` code units. */
  units(length: number): string {
    if (length <= unitsJoinedMax) {
      let text = '';
      for (let left = length; left > 0; left -= 1) text += String.fromCharCode(this.integer());
      return text;
    }
    if (length <= unitsAtOnceMax) {
      const units = scratch.subarray(0, length);
      for (let at = 0; at < length; at += 1) units[at] = this.integer();
      return String.fromCharCode.apply(null, units as unknown as number[]);
    }
    const first = this.units(unitsAtOnceMax);
    return first + this.units(length - unitsAtOnceMax);
  }

  /** Reads the text whose code units fill the bytes up to `end`. */
  textUpTo(end: number): string {
    let length = 0;
    for (let at = this.at; at < end; at += 1) if (this.bytes[at]! < 0x80) length += 1;
    return this.units(length);
  }

  /**
   * Returns a view of the next `length` bytes, not a copy. Throws a RangeError when the bytes end too early.
   */
  raw(length: number): Uint8Array {
    const bytes = this.bytes.subarray(this.at, this.at + length);
    if (bytes.length !== length) throw new RangeError('the bytes end too early');
    this.at += length;
    return bytes;
  }

  align(multiple: number): void {
    while (this.at % multiple !== 0) this.at += 1;
  }
}

/** Returns the bytes in hexadecimal. */
export function hexOf(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0');
  return hex;
}
