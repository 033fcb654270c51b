// Reads the preferences of a client about the reply (`Prefer`, RFC 7240), except how long it waits. Unknown
// preferences are ignored.

export interface Preferences {
  /** Whether the answer may be the request that the agent already has, when it asks the same again. */
  readonly isAttaching: boolean;
  /**
   * The audience of the receipt that is wanted; empty leaves the audience to the action, null wants no
   * receipt.
   */
  readonly receiptFor: string | null;
}

/** An audience is a word, a host name or an address. */
const receipt = /(?:^|,)\s*receipt(?:\s*=\s*"?([A-Za-z0-9._~:/-]{1,200})"?)?\s*(?=[,;]|$)/i;
const attach = /(?:^|,)\s*attach\s*(?=[,;]|$)/i;

export function preferencesOf(prefer: string | readonly string[]): Preferences {
  const text = String(prefer);
  const match = receipt.exec(text);
  return { isAttaching: attach.test(text), receiptFor: match === null ? null : (match[1] ?? '') };
}
