// Texts that are worth as much as a password: links, cookies. INVARIANT: only their SHA-256 is stored.

import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits, to be put into a link or a cookie. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a secret, in hexadecimal. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
