// Time-based one-time codes (RFC 6238 over RFC 4226): six digits, thirty seconds, HMAC-SHA-1, which all
// authenticator apps support. INVARIANT: a code is good once: its step must be later than that of the last
// accepted code.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const stepMs = 30_000;
const digits = 6;
/** Clocks of telephones are off by some seconds, so the steps before and after are accepted, too. */
const stepsAround = 1;
/** As long as the hash, as RFC 4226 recommends. */
const secretBytes = 20;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns a new secret, in base32, which people can type. */
export function createTotpSecret(): string {
  return base32(randomBytes(secretBytes));
}

/** Returns the text of a QR code that authenticator apps read. */
export function totpUri(secret: string, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = new URLSearchParams({ secret, issuer, algorithm: 'SHA1', digits: `${digits}`, period: '30' });
  return `otpauth://totp/${label}?${query}`;
}

/** Returns the step of the code, later than `lastStep`. */
export function acceptTotp(
  code: string,
  { secret, lastStep, nowMs }: { secret: string; lastStep: number | null; nowMs: number },
): number | 'wrong' | 'used' {
  if (!/^\d{6}$/.test(code)) return 'wrong';
  const key = fromBase32(secret);
  const current = Math.floor(nowMs / stepMs);
  let accepted: number | 'wrong' | 'used' = 'wrong';
  for (let step = current - stepsAround; step <= current + stepsAround; step++) {
    const isCode = timingSafeEqual(Buffer.from(codeAt(key, step)), Buffer.from(code));
    if (!isCode || typeof accepted === 'number') continue;
    accepted = lastStep === null || step > lastStep ? step : 'used';
  }
  return accepted;
}

/** Returns the code of a moment, as an authenticator app shows it. */
export function totpAt(secret: string, nowMs: number): string {
  return codeAt(fromBase32(secret), Math.floor(nowMs / stepMs));
}

function codeAt(key: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = mac.at(-1)! & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((group) => alphabet[Number.parseInt(group, 2)]).join('');
}

function fromBase32(text: string): Uint8Array {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (group) => Number.parseInt(group, 2));
}
