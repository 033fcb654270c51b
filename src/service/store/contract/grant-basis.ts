// What the decision that a write stores rests on: agent, key, kill switches and people as the decision saw them.
// INVARIANT: the store compares it in the transaction of the write, so no grant is on record behind the record of a
// change that forbids it, whichever process made that change.

/** As seen before the decision. Read each number before or together with what it stands for, never after. */
export interface GrantBasis {
  readonly agentId: string;
  /** Of the agent with its keys. */
  readonly agentVersion: number;
  /** When the key that was used ends; null where it has no end, or no key was used. */
  readonly keyNotAfterMs: number | null;
  /** Of the switches that are on. */
  readonly switchGeneration: number;
  /** Documents that the decision rests on, such as the people who approved. */
  readonly documents: readonly SeenDocument[];
  /** Digest of the policy set that decided; judged where several processes serve the store. */
  readonly policies?: string;
  /** Of the signature, as it is kept; judged where several processes serve the store. */
  readonly nonce?: string;
}

export interface SeenDocument {
  readonly kind: string;
  readonly id: string;
  /** 0 where there was none. */
  readonly version: number;
}

/** The kind of document that a kill switch is stored as. */
export const switchKind = 'switch';
