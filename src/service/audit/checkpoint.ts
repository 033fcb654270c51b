// A place in the chain into a signed checkpoint, and a checkpoint into whether it is genuine. The signature is Ed25519
// under a key derived from the service's master key, so that anybody who has the public key can check it. INVARIANT: the
// purpose is signed too, so that a witness of the end never passes as leave to delete.

import { sign, verify } from 'node:crypto';
import { signingKeysOf } from '../agents/signing-key.ts';
import { canonicalJson } from '../store/contract/canonical-json.ts';
import type { Link } from '../store/contract/chain.ts';
import type { CheckpointPurpose, SignedCheckpoint } from '../store/contract/store.ts';

export interface CheckpointSigner {
  sign(link: Link, purpose: CheckpointPurpose, atMs: number): SignedCheckpoint;
  isGenuine(checkpoint: SignedCheckpoint): boolean;
  /** 32 bytes in base64url. */
  readonly publicKey: string;
}

const signaturePurpose = 'audit checkpoints';

export function createCheckpointSigner(masterKey: Uint8Array): CheckpointSigner {
  const { privateKey, publicKey, publicText } = signingKeysOf(masterKey, signaturePurpose);
  return {
    sign({ sequence, hash }, purpose, atMs) {
      const unsigned = { sequence, hash, purpose, atMs };
      const signature = sign(null, signedBytes(unsigned), privateKey).toString('base64url');
      return { ...unsigned, signature };
    },
    isGenuine: (checkpoint) =>
      verify(null, signedBytes(checkpoint), publicKey, Buffer.from(checkpoint.signature, 'base64url')),
    publicKey: publicText,
  };
}

/** The form in which a checkpoint is kept outside the store: one line of JSON. */
export function checkpointText(checkpoint: SignedCheckpoint, { publicKey }: CheckpointSigner): string {
  const { sequence, hash, purpose, atMs, signature } = checkpoint;
  return `${canonicalJson({ sequence, hash, purpose, at_ms: atMs, signature, public_key: publicKey })}\n`;
}

/** The checkpoint in such a line, or null where it is none. Says nothing of whether it is genuine. */
export function readCheckpoint(text: string): SignedCheckpoint | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { sequence, hash, purpose, at_ms: atMs, signature } = value as Readonly<Record<string, unknown>>;
  const isCheckpoint =
    Number.isSafeInteger(sequence) && Number.isSafeInteger(atMs) && isText(hash) && isText(signature);
  if (!isCheckpoint || (purpose !== 'end' && purpose !== 'pruned')) return null;
  return {
    sequence: Number(sequence),
    hash: String(hash),
    purpose,
    atMs: Number(atMs),
    signature: String(signature),
  };
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.isWellFormed();
}

function signedBytes({ sequence, hash, purpose, atMs }: Omit<SignedCheckpoint, 'signature'>): Buffer {
  return Buffer.from(canonicalJson({ type: 'writ checkpoint', sequence, hash, purpose, at_ms: atMs }));
}
