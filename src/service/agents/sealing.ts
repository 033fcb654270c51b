// Secrets into text that may be stored on a disk, and back: AES-256-GCM under a key derived from the
// service's master key. INVARIANT: each purpose has its own derived key, and a sealed text opens only for the
// owner it was sealed for.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const form = /^v1\.([A-Za-z0-9_-]+)$/;
const nonceLength = 12;
const tagLength = 16;

/** Returns a key of 32 bytes for one purpose, by HKDF-SHA256. */
export function deriveKey(masterKey: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `writ ${purpose}`, 32));
}

/** Returns the secret encrypted for `owner`: `v1.` and base64url of nonce, tag and ciphertext. */
export function seal(key: Uint8Array, owner: string, secret: string): string {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner));
  const encrypted = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url')}`;
}

/**
 * Returns the secret; null when the text was changed, or was sealed for another owner or under another key.
 */
export function unseal(key: Uint8Array, owner: string, sealed: string): string | null {
  const bytes = Buffer.from(form.exec(sealed)?.[1] ?? '', 'base64url');
  if (bytes.length < nonceLength + tagLength) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength));
  try {
    return (
      decipher.update(bytes.subarray(nonceLength + tagLength), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    return null;
  }
}
