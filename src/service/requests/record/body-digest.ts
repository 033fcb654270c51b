// The digest of a request's body into the form in which it is stored. A body may hold a short secret. From a
// plain SHA-256, anyone with the file could find the secret by trial; a keyed digest prevents that.

import { createHmacOf } from '../../agents/hmac.ts';
import { deriveKey } from '../../agents/sealing.ts';

const noBody = new Uint8Array();

/** Returns a function from the SHA-256 of a body to the HMAC-SHA256 of that digest, both in hexadecimal. */
export function createBodyDigest(masterKey: Uint8Array): (sha256: string) => string {
  const hmacOf = createHmacOf(deriveKey(masterKey, 'request bodies'));
  return (sha256) => hmacOf({ head: sha256, body: noBody });
}
