// Ed25519 keys derived from the service's master key, one pair for each purpose; they are the same after
// every start.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { deriveKey } from './sealing.ts';

export interface SigningKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** 32 bytes in base64url. */
  readonly publicText: string;
}

/** The bytes before the 32 bytes of a private Ed25519 key in PKCS #8 (RFC 8410). */
const privateKeyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export function signingKeysOf(masterKey: Uint8Array, purpose: string): SigningKeys {
  const key = Buffer.concat([privateKeyPrefix, deriveKey(masterKey, purpose)]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return { privateKey, publicKey, publicText: publicKey.export({ format: 'jwk' }).x ?? '' };
}
