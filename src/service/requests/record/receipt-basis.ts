// The digest of a payload as it was sent, sealed for its request: what a receipt will say of it, and nobody can read before.

import { hash } from 'node:crypto';
import type { JsonObject } from '../../../language/model/json.ts';
import { deriveKey, seal, unseal } from '../../agents/sealing.ts';
import { canonicalJson } from '../../store/contract/canonical-json.ts';
import type { ReceiptBasis } from './record.ts';

interface Wanted {
  readonly requestId: string;
  readonly payload: JsonObject;
  /** Empty leaves it to the action; null wants none. */
  readonly receiptFor?: string | null;
  readonly actionKey: string;
}

const nothing = {};

export interface ReceiptBases {
  /** Nothing where no receipt is wanted. */
  wantedBy(wanted: Wanted): { readonly receipt?: ReceiptBasis };
  /** `sha-256:` and base64url. Null where it was not sealed for this request, or the master key is another one. */
  digestIn(basis: ReceiptBasis, requestId: string): string | null;
}

export function createReceiptBases(masterKey: Uint8Array): ReceiptBases {
  const key = deriveKey(masterKey, 'payload digests of receipts');
  return {
    wantedBy({ requestId, payload, receiptFor = null, actionKey }) {
      if (receiptFor === null) return nothing;
      const audience = receiptFor === '' ? audienceOf(actionKey) : receiptFor;
      return { receipt: { audience, sealedDigest: seal(key, requestId, payloadDigest(payload)) } };
    },
    digestIn: ({ sealedDigest }, requestId) => unseal(key, requestId, sealedDigest),
  };
}

/** `files.write_file` is for `files`. */
function audienceOf(actionKey: string): string {
  return actionKey.split('.')[0] ?? actionKey;
}

/** Over the canonical text (RFC 8785), which every program that implements the standard makes alike. */
function payloadDigest(payload: JsonObject): string {
  return `sha-256:${hash('sha256', canonicalJson(payload), 'base64url')}`;
}
