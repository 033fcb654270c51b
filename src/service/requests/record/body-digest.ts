// The digest of a request's body into the form in which it is stored. A body may hold a short secret, which a plain
// SHA-256 would let anyone with the file find by trial; a keyed one does not.

import { createHmacOf } from '../../agents/hmac.ts';
import { deriveKey } from '../../agents/sealing.ts';

const noBody = new Uint8Array();

/** A function from the SHA-256 of a body to HMAC-SHA256 of that, both in hexadecimal. */
export function createBodyDigest(masterKey: Uint8Array): (sha256: string) => string {
  const hmacOf = createHmacOf(deriveKey(masterKey, 'request bodies'));
  return (sha256) => hmacOf({ head: sha256, body: noBody });
}
