// The digest of a request's body into the form in which it is stored. A body may hold a short secret, which a plain
// SHA-256 would let anyone with the file find by trial; a keyed one does not.

import { createHmac } from 'node:crypto';
import { deriveKey } from '../../agents/sealing.ts';

/** A function from the SHA-256 of a body to HMAC-SHA256 of that, both in hexadecimal. */
export function createBodyDigest(masterKey: Uint8Array): (sha256: string) => string {
  const key = deriveKey(masterKey, 'request bodies');
  return (sha256) => createHmac('sha256', key).update(sha256).digest('hex');
}
