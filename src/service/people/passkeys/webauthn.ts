// Checks what a browser and a passkey answer (WebAuthn level 3): when a passkey is made, and when it is used.
// The make of the device is not asked for (attestation `none`), so nothing that an answer claims about it
// counts. INVARIANT: what is not understood is refused.

import { verify } from 'node:crypto';
import {
  asBytes,
  base64Of,
  deviceDataOf,
  mapOf,
  RefusedAnswer,
  readCbor,
  sha256Of,
  verifierOf,
} from './device-data.ts';

export interface ExpectedAnswer {
  /** Where people reach the service, such as `https://writ.example.com`. */
  readonly origin: string;
  readonly isExpected: (question: string) => boolean;
}

export interface PasskeyCredential {
  /** The credential's id, in base64url. */
  readonly id: string;
  /** The COSE key, in base64url. */
  readonly publicKey: string;
  /** How often the passkey was used, as its device counts; 0 for devices that do not count. */
  readonly counter: number;
}

/**
 * Returns the passkey made by an answer to `navigator.credentials.create`; null when the answer is not valid.
 */
export function checkCreated(answer: unknown, expected: ExpectedAnswer): PasskeyCredential | null {
  return quietly(() => {
    const { id, response } = partsOf(answer);
    clientDataOf(response, 'webauthn.create', expected);
    const attestation = mapOf(readCbor(bytesIn(response, 'attestationObject')));
    const statement = mapOf(attestation.get('attStmt'));
    if (!isStatement(attestation.get('fmt'), statement)) return null;
    const { counter, credential } = deviceDataOf(
      asBytes(attestation.get('authData')),
      hostOf(expected.origin),
    );
    if (credential === null || credential.id !== id) return null;
    verifierOf(credential.publicKey);
    return { ...credential, publicKey: base64Of(credential.publicKey), counter };
  });
}

/**
 * Returns how often the passkey was used, as its device counts; null when the answer to
 * `navigator.credentials.get` is not valid.
 */
export function checkUsed(
  answer: unknown,
  credential: PasskeyCredential,
  expected: ExpectedAnswer,
): { readonly counter: number } | null {
  return quietly(() => {
    const { id, response } = partsOf(answer);
    if (id !== credential.id) return null;
    const clientData = clientDataOf(response, 'webauthn.get', expected);
    const signed = bytesIn(response, 'authenticatorData');
    const { counter } = deviceDataOf(signed, hostOf(expected.origin));
    // A counter that does not grow points to a copy of the passkey.
    if ((counter > 0 || credential.counter > 0) && counter <= credential.counter) return null;
    const { key, digest } = verifierOf(Buffer.from(credential.publicKey, 'base64url'));
    const message = Buffer.concat([signed, sha256Of(clientData)]);
    return verify(digest, message, key, bytesIn(response, 'signature')) ? { counter } : null;
  });
}

const makes = 'packed tpm android-key android-safetynet fido-u2f apple compound'.split(' ');

/**
 * Whether the attestation has a known form. A device may name its make although it was not asked; that is not
 * believed.
 */
function isStatement(form: unknown, statement: ReadonlyMap<unknown, unknown>): boolean {
  return form === 'none' ? statement.size === 0 : makes.includes(String(form));
}

type Parts = Readonly<Record<string, unknown>>;

function quietly<T>(check: () => T | null): T | null {
  try {
    return check();
  } catch {
    return null;
  }
}

function partsOf(answer: unknown): { readonly id: string; readonly response: Parts } {
  const { id, rawId, type, response } = recordOf(answer);
  if (typeof id !== 'string' || id === '' || rawId !== id || type !== 'public-key') throw new RefusedAnswer();
  return { id, response: recordOf(response) };
}

/**
 * Returns the bytes of the client data, once the browser's question, origin and type are as expected; throws
 * otherwise.
 */
function clientDataOf(response: Parts, type: string, { origin, isExpected }: ExpectedAnswer): Buffer {
  const bytes = bytesIn(response, 'clientDataJSON');
  const clientData = recordOf(JSON.parse(bytes.toString('utf8')));
  const isOwn = clientData.type === type && clientData.origin === origin && clientData.crossOrigin !== true;
  if (!isOwn || clientData.topOrigin !== undefined || typeof clientData.challenge !== 'string')
    throw new RefusedAnswer();
  if (!isExpected(clientData.challenge)) throw new RefusedAnswer();
  return bytes;
}

function recordOf(value: unknown): Parts {
  if (typeof value !== 'object' || value === null) throw new RefusedAnswer();
  return value as Parts;
}

function bytesIn(parts: Parts, name: string): Buffer<ArrayBuffer> {
  const text = parts[name];
  if (typeof text !== 'string') throw new RefusedAnswer();
  return Buffer.from(text, 'base64url');
}

function hostOf(origin: string): string {
  return new URL(origin).hostname;
}
