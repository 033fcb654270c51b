// A transparency log over exported entries, written from RFC 6962 and the C2SP documents for the tests of the
// verifier: roots, proofs, signed notes and cosignatures. Recursive as in the definitions, without regard to speed.

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

type Hash = Buffer;

function sha256(...parts: readonly Uint8Array[]): Hash {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function leafHash(entry: string): Hash {
  return sha256(Uint8Array.of(0), Buffer.from(entry));
}

/** The largest power of two below `size`. */
function splitOf(size: number): number {
  return 2 ** Math.ceil(Math.log2(size) - 1);
}

/** MTH of RFC 6962, 2.1. */
export function rootOf(leaves: readonly Hash[]): Hash {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0]!;
  const split = splitOf(leaves.length);
  return sha256(Uint8Array.of(1), rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

/** PATH of RFC 6962, 2.1.1. */
export function inclusionPath(index: number, leaves: readonly Hash[]): readonly Hash[] {
  if (leaves.length <= 1) return [];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...inclusionPath(index, left), rootOf(right)]
    : [...inclusionPath(index - split, right), rootOf(left)];
}

/** PROOF of RFC 6962, 2.1.2. */
export function consistencyPath(size: number, leaves: readonly Hash[]): readonly Hash[] {
  return subProof(size, leaves, true);
}

function subProof(size: number, leaves: readonly Hash[], isWhole: boolean): readonly Hash[] {
  if (size === leaves.length) return isWhole ? [] : [rootOf(leaves)];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return size <= split
    ? [...subProof(size, left, isWhole), rootOf(right)]
    : [...subProof(size - split, right, false), rootOf(left)];
}

/** A key of a log (type 1) or of a witness (type 4). */
export interface NoteKey {
  readonly name: string;
  readonly id: Buffer;
  readonly privateKey: KeyObject;
  /** `name+id+key`, which an auditor gets. */
  readonly text: string;
}

export function noteKey(name: string, type: 1 | 4): NoteKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const data = Buffer.from([type, ...Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')]);
  const id = sha256(Buffer.from(`${name}\n`), data).subarray(0, 4);
  return { name, id, privateKey, text: `${name}+${id.toString('hex')}+${data.toString('base64')}` };
}

export function checkpointBody(origin: string, leaves: readonly Hash[]): string {
  return `${origin}\n${leaves.length}\n${rootOf(leaves).toString('base64')}\n`;
}

function line({ name, id }: NoteKey, ...signature: readonly Uint8Array[]): string {
  return `\u2014 ${name} ${Buffer.concat([id, ...signature]).toString('base64')}\n`;
}

export function signatureLine(body: string, key: NoteKey): string {
  return line(key, sign(null, Buffer.from(body), key.privateKey));
}

export function cosignatureLine(body: string, key: NoteKey, seconds: number): string {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds));
  const message = `cosignature/v1\ntime ${seconds}\n${body}`;
  return line(key, time, sign(null, Buffer.from(message), key.privateKey));
}
