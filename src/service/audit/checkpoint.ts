// Signs positions of the chain as checkpoints, and verifies checkpoints. The signature is Ed25519 with a key
// derived from the service's master key, so anybody with the public key can verify it. INVARIANT: the purpose
// is signed too, so a checkpoint that attests the end of the chain never passes as permission to delete.

import { sign, verify } from 'node:crypto';
import { signingKeysOf } from '../agents/signing-key.ts';
import { canonicalJson } from '../store/contract/canonical-json.ts';
import { type ChainPosition, laneTuples, readLanes } from '../store/contract/lanes.ts';
import type { CheckpointPurpose, SignedCheckpoint } from '../store/contract/store.ts';

export interface CheckpointSigner {
  sign(position: ChainPosition, purpose: CheckpointPurpose, atMs: number): SignedCheckpoint;
  isGenuine(checkpoint: SignedCheckpoint): boolean;
  /** 32 bytes in base64url. */
  readonly publicKey: string;
}

const signaturePurpose = 'audit checkpoints';

export function createCheckpointSigner(masterKey: Uint8Array): CheckpointSigner {
  const { privateKey, publicKey, publicText } = signingKeysOf(masterKey, signaturePurpose);
  return {
    sign(position, purpose, atMs) {
      const unsigned = { ...position, purpose, atMs };
      const signature = sign(null, signedBytes(unsigned), privateKey).toString('base64url');
      return { ...unsigned, signature };
    },
    isGenuine: (checkpoint) =>
      verify(null, signedBytes(checkpoint), publicKey, Buffer.from(checkpoint.signature, 'base64url')),
    publicKey: publicText,
  };
}

/** Returns the form in which a checkpoint is kept outside the store: one line of JSON. */
export function checkpointText(checkpoint: SignedCheckpoint, { publicKey }: CheckpointSigner): string {
  return `${canonicalJson({ ...columnsOf(checkpoint), signature: checkpoint.signature, public_key: publicKey })}\n`;
}

/**
 * Reads a checkpoint from such a line; null when the line holds none. Does not check whether the checkpoint
 * is genuine.
 */
export function readCheckpoint(text: string): SignedCheckpoint | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const columns = value as Readonly<Record<string, unknown>>;
  const { sequence, hash, purpose, at_ms: atMs, signature, lanes } = columns;
  const read = lanes === undefined ? [] : readLanes(lanes);
  const isCheckpoint =
    Number.isSafeInteger(sequence) && Number.isSafeInteger(atMs) && isText(hash) && isText(signature);
  if (!isCheckpoint || read === null || (purpose !== 'end' && purpose !== 'pruned')) return null;
  return {
    sequence: Number(sequence),
    hash: String(hash),
    purpose,
    atMs: Number(atMs),
    signature: String(signature),
    ...(lanes === undefined ? {} : { lanes: read }),
  };
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.isWellFormed();
}

function signedBytes(checkpoint: Omit<SignedCheckpoint, 'signature'>): Buffer {
  return Buffer.from(canonicalJson({ type: 'writ checkpoint', ...columnsOf(checkpoint) }));
}

/** What is signed; a chain of one lane has no `lanes`. */
function columnsOf({ sequence, hash, purpose, atMs, lanes }: Omit<SignedCheckpoint, 'signature'>) {
  const columns = { sequence, hash, purpose, at_ms: atMs };
  return lanes === undefined ? columns : { ...columns, lanes: laneTuples(lanes) };
}
