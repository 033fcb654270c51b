// What a stored decision rests on: agent, key, kill switches and people, as the decision saw them. INVARIANT:
// the store compares this in the transaction of the write, so no grant is recorded after the record of a
// change that forbids it, whichever process made that change.

/**
 * Numbers seen before the decision. Read each number before, or together with, the data that it stands for,
 * never after.
 */
export interface GrantPrecondition {
  readonly agentId: string;
  /** The version of the agent, which also grows with its keys. */
  readonly agentVersion: number;
  /** When the key of the call ends; null when it has no end, or no key was used. */
  readonly keyNotAfterMs: number | null;
  /** The generation of the kill switches that are on. */
  readonly switchGeneration: number;
  /** Versions of documents that the decision rests on, such as the people who approved. */
  readonly documents: readonly DocumentVersion[];
  /** Digest of the policy set that decided; compared only if several processes serve the store. */
  readonly policies?: string;
  /** The nonce of the signature, as stored; compared only if several processes serve the store. */
  readonly nonce?: string;
}

export interface DocumentVersion {
  readonly kind: string;
  readonly id: string;
  /** 0 when the document did not exist. */
  readonly version: number;
}

/** The kind of the documents that hold kill switches. */
export const switchKind = 'switch';
