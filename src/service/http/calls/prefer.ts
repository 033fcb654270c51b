// What a client would like of the answer (`Prefer`, RFC 7240), beyond how long it waits. What is not known is ignored.

export interface Preferences {
  /** The request that the agent has already, where it asks the same again. */
  readonly isAttaching: boolean;
  /** For whom a receipt is wanted; an empty text leaves that to the action, null wants none. */
  readonly receiptFor: string | null;
}

/** Names of audiences: words, host names, addresses. */
const receipt = /(?:^|,)\s*receipt(?:\s*=\s*"?([A-Za-z0-9._~:/-]{1,200})"?)?\s*(?=[,;]|$)/i;
const attach = /(?:^|,)\s*attach\s*(?=[,;]|$)/i;

export function preferencesOf(prefer: string | readonly string[]): Preferences {
  const text = String(prefer);
  const wanted = receipt.exec(text);
  return { isAttaching: attach.test(text), receiptFor: wanted === null ? null : (wanted[1] ?? '') };
}
