// The digest of a payload as sent, sealed for its request. A receipt will state this digest; nobody can read
// it before.

import { hash } from 'node:crypto';
import type { JsonObject } from '../../../language/model/json.ts';
import { deriveKey, seal, unseal } from '../../agents/sealing.ts';
import { canonicalJson } from '../../store/contract/canonical-json.ts';
import type { ReceiptBasis } from './record.ts';

interface ReceiptQuery {
  readonly requestId: string;
  readonly payload: JsonObject;
  /** The audience of the receipt. Empty takes the action's audience; null or absent asks for no receipt. */
  readonly receiptFor?: string | null;
  readonly actionKey: string;
}

const nothing = {};

export interface ReceiptBases {
  /** Returns an empty object when no receipt is wanted. */
  requestedBy(query: ReceiptQuery): { readonly receipt?: ReceiptBasis };
  /**
   * Returns `sha-256:` and base64url; null when the digest was not sealed for this request, or with another
   * master key.
   */
  digestIn(basis: ReceiptBasis, requestId: string): string | null;
}

export function createReceiptBases(masterKey: Uint8Array): ReceiptBases {
  const key = deriveKey(masterKey, 'payload digests of receipts');
  return {
    requestedBy({ requestId, payload, receiptFor = null, actionKey }) {
      if (receiptFor === null) return nothing;
      const audience = receiptFor === '' ? audienceOf(actionKey) : receiptFor;
      return { receipt: { audience, sealedDigest: seal(key, requestId, payloadDigest(payload)) } };
    },
    digestIn: ({ sealedDigest }, requestId) => unseal(key, requestId, sealedDigest),
  };
}

/** The audience of an action: a receipt for `files.write_file` is for `files`. */
function audienceOf(actionKey: string): string {
  return actionKey.split('.')[0] ?? actionKey;
}

/**
 * The digest over the canonical text (RFC 8785), which every program that implements the standard makes
 * alike.
 */
function payloadDigest(payload: JsonObject): string {
  return `sha-256:${hash('sha256', canonicalJson(payload), 'base64url')}`;
}
