// Devices that a person has signed in from: a signed text that the browser keeps, so that guesses of strangers are counted
// apart from it. INVARIANT: it lets nobody in, is given for right credentials alone, and ends with the password.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../agents/sealing.ts';
import { type Person, passwordDigestOf } from './person.ts';

/** What a browser keeps: a name for the device, and a signature over it and whose it is. */
export function createDevice(masterKey: Uint8Array, person: Person): string {
  const name = randomBytes(12).toString('base64url');
  return `${name}.${signature(masterKey, person, name)}`;
}

/** The device's name where the text was given to this person's browser; null else. */
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
