// Devices that a person has signed in from: a signed text that the browser keeps, so that strangers' guesses
// are counted apart from attempts by that device. INVARIANT: the text lets nobody in, is given only for right
// credentials, and ends with the password.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../agents/sealing.ts';
import { type Person, passwordDigestOf } from './person.ts';

/**
 * Returns the text that a browser keeps: a name for the device, and a signature over that name and the
 * person.
 */
export function createDevice(masterKey: Uint8Array, person: Person): string {
  const name = randomBytes(12).toString('base64url');
  return `${name}.${signature(masterKey, person, name)}`;
}

/** Returns the device's name when the text was given to this person's browser; null otherwise. */
export function knownDevice(masterKey: Uint8Array, person: Person, text: string | null): string | null {
  const [name = '', sent = ''] = (text ?? '').split('.');
  const [right, given] = [Buffer.from(signature(masterKey, person, name)), Buffer.from(sent)];
  return right.length === given.length && timingSafeEqual(right, given) ? name : null;
}

function signature(masterKey: Uint8Array, person: Person, name: string): string {
  return createHmac('sha256', deriveKey(masterKey, 'known devices'))
    .update(JSON.stringify([person.id, name, passwordDigestOf(person)]))
    .digest('base64url');
}
