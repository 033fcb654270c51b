// Signed notes (C2SP signed-note) with Ed25519 signatures, and the cosignatures of witnesses (C2SP
// tlog-cosignature, `cosignature/v1`): made, read and verified. INVARIANT: a signature counts only for the key
// whose name and id its line has; lines of unknown keys are ignored, and a wrong signature of a known key spoils
// the note.

import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { SigningKeys } from '../agents/signing-key.ts';

/** The signature types of the standard: of notes, and of witnesses. */
const signatureTypes = { note: 1, cosignature: 4 } as const;
export type SignatureType = keyof typeof signatureTypes;

/** A public key under a name, as `name+id+base64`. */
export interface VerifierKey {
  readonly name: string;
  readonly type: SignatureType;
  /** 8 hexadecimal digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

export interface NoteSignature {
  readonly name: string;
  readonly id: string;
  /** What follows the key id. */
  readonly signature: Uint8Array;
}

export interface SignedNote {
  /** The text that is signed, with its last line end. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** As many as the standard requires a reader to take. */
const signaturesMax = 16;
const noteCharsMax = 64 * 1024;

export function isKeyName(name: string): boolean {
  return /^[^\s+\p{Cc}]+$/u.test(name) && name.length <= 200 && name.isWellFormed();
}

function verifierKeyOf(name: string, type: SignatureType, publicKey: Uint8Array): VerifierKey {
  const hash = createHash('sha256')
    .update(`${name}\n`)
    .update(Uint8Array.of(signatureTypes[type]))
    .update(publicKey);
  return { name, type, id: hash.digest('hex').slice(0, 8), publicKey };
}

/** Returns the key's text form, which people give to verifiers. */
export function verifierKeyText({ name, type, id, publicKey }: VerifierKey): string {
  const bytes = Buffer.concat([Uint8Array.of(signatureTypes[type]), publicKey]);
  return `${name}+${id}+${bytes.toString('base64')}`;
}

/** Reads the text form; null when it is not the key of an Ed25519 signature with its right id. */
export function readVerifierKey(text: string): VerifierKey | null {
  const [, name = '', id, encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const type =
    bytes[0] === signatureTypes.note
      ? 'note'
      : bytes[0] === signatureTypes.cosignature
        ? 'cosignature'
        : null;
  if (!isKeyName(name) || type === null || bytes.length !== 33 || bytes.toString('base64') !== encoded)
    return null;
  const key = verifierKeyOf(name, type, bytes.subarray(1));
  return key.id === id ? key : null;
}

export interface NoteSigner {
  readonly key: VerifierKey;
  readonly privateKey: KeyObject;
}

export function noteSignerOf(name: string, type: SignatureType, keys: SigningKeys): NoteSigner {
  const publicKey = Buffer.from(keys.publicText, 'base64url');
  return { key: verifierKeyOf(name, type, publicKey), privateKey: keys.privateKey };
}

export function signNote(text: string, { key, privateKey }: NoteSigner): NoteSignature {
  return { name: key.name, id: key.id, signature: sign(null, Buffer.from(text), privateKey) };
}

/** The statement of a witness that it saw the checkpoint at this time, in seconds since 1970. */
export function cosign(text: string, { key, privateKey }: NoteSigner, seconds: number): NoteSignature {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds));
  const signature = sign(null, cosignedBytes(text, BigInt(seconds)), privateKey);
  return { name: key.name, id: key.id, signature: Buffer.concat([time, signature]) };
}

function cosignedBytes(text: string, seconds: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`);
}

export function noteText({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`;
}

export function signatureLine({ name, id, signature }: NoteSignature): string {
  return `\u2014 ${name} ${Buffer.concat([Buffer.from(id, 'hex'), signature]).toString('base64')}\n`;
}

/** Reads a note; null when it has not the form of one. Verifies nothing. */
export function readNote(text: string): SignedNote | null {
  const isPlain = text.isWellFormed() && !/\p{Cc}/u.test(text.replaceAll('\n', ''));
  if (text.length > noteCharsMax || !isPlain) return null;
  const at = text.lastIndexOf('\n\n');
  if (at < 1) return null;
  const signatures = readSignatureLines(text.slice(at + 2));
  return signatures === null || signatures.length === 0 ? null : { text: text.slice(0, at + 1), signatures };
}

/** Reads the lines of signatures; null when one has not the form of a signature. */
export function readSignatureLines(text: string): readonly NoteSignature[] | null {
  if (text !== '' && !text.endsWith('\n')) return null;
  const signatures: NoteSignature[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    const [, name = '', encoded = ''] = /^\u2014 (\S+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    if (!isKeyName(name) || bytes.length < 5 || bytes.toString('base64') !== encoded) return null;
    signatures.push({ name, id: bytes.subarray(0, 4).toString('hex'), signature: bytes.subarray(4) });
  }
  return signatures.length > signaturesMax ? null : signatures;
}

/**
 * `signed`: by this key. `absent`: no signature of this key. `wrong`: a signature of this key that does not
 * verify, so nothing in the note counts.
 */
export function checkSignature(
  { text, signatures }: SignedNote,
  key: VerifierKey,
): 'signed' | 'absent' | 'wrong' {
  const own = signatures.filter(({ name, id }) => name === key.name && id === key.id);
  if (own.length === 0) return 'absent';
  return own.every(({ signature }) => isSignature(text, signature, key)) ? 'signed' : 'wrong';
}

/** The bytes of an Ed25519 public key (RFC 8410) before its 32 bytes. */
const publicKeyPrefix = Buffer.from('302a300506032b6570032100', 'hex');

function isSignature(text: string, signature: Uint8Array, { type, publicKey }: VerifierKey): boolean {
  const key = createPublicKey({
    key: Buffer.concat([publicKeyPrefix, publicKey]),
    format: 'der',
    type: 'spki',
  });
  switch (type) {
    case 'note':
      return signature.length === 64 && verify(null, Buffer.from(text), key, signature);
    case 'cosignature': {
      if (signature.length !== 72) return false;
      const seconds = Buffer.from(signature).readBigUInt64BE(0);
      return verify(null, cosignedBytes(text, seconds), key, signature.subarray(8));
    }
  }
}
