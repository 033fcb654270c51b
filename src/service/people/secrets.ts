// Texts that are worth as much as a password: links and cookies. INVARIANT: only their SHA-256 is stored.

import { createHash, randomBytes } from 'node:crypto';

/** Returns 256 random bits as base64url, for a link or a cookie. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns what is stored of a secret: its SHA-256, in hexadecimal. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
