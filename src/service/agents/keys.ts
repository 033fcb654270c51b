// API keys: `writ_`, an 8-character id, 32 characters of secret and a 6-character CRC32, all base62, as one
// word. The checksum tells a mistyped key from an unknown one without a look-up; only the SHA-256 of a key is
// ever stored.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The prefix of an agent's key. */
const agentPrefix = 'writ_';
const idLength = 8;
const secretLength = 32;
const checksumLength = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyForm = /^[0-9A-Za-z]{46}$/;

export interface ApiKey {
  /** Names the key; may be shown and logged. */
  readonly id: string;
  /** The whole key, which its holder sends; shown once. */
  readonly text: string;
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly digest: string;
}

/** Creates a key with 190 bits of secret. */
export function createApiKey(prefix: string = agentPrefix): ApiKey {
  const body = prefix + randomBase62(idLength + secretLength);
  return describeKey(body + checksum(body), prefix);
}

/** Returns the key in a text; null when its form or its checksum is wrong. */
export function parseApiKey(text: string, prefix: string = agentPrefix): ApiKey | null {
  if (!text.startsWith(prefix) || !bodyForm.test(text.slice(prefix.length))) return null;
  const body = text.slice(0, -checksumLength);
  return checksum(body) === text.slice(-checksumLength) ? describeKey(text, prefix) : null;
}

/** Compares two digests in hexadecimal in a time that does not depend on where they differ. */
export function isSameDigest(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, 'hex'), Buffer.from(b, 'hex')];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Returns random letters and digits, each equally likely. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 that fits into a byte; larger values would favour the first digits.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
    }
  }
  return text;
}

function describeKey(text: string, prefix: string): ApiKey {
  const id = text.slice(prefix.length, prefix.length + idLength);
  return { id, text, digest: createHash('sha256').update(text).digest('hex') };
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  while (text.length < checksumLength) {
    text = alphabet[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
