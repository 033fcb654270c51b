// The part of a record that describes an AuthZEN evaluation. INVARIANT: an evaluation is never pending; only
// the access request that follows it may be, and both are for exactly the same entities.

export interface Evaluation {
  /**
   * A keyed digest of subject, resource, action and context as sent; secrets in them cannot be guessed from
   * it.
   */
  readonly entities: string;
  /** The id of the denied evaluation that this access request follows; null for an evaluation itself. */
  readonly deniedId: string | null;
}

/** How long after a denial an access request may follow. */
export const requestableMs = 10 * 60 * 1000;
