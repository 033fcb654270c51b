// What the record keeps of a question that was asked in the terms of AuthZEN. INVARIANT: an evaluation never waits for people;
// only the access request that follows it does, and both stand for the very same entities.

export interface Evaluation {
  /** Of subject, resource, action and context as they were sent; a secret in them cannot be guessed from it. */
  readonly entities: string;
  /** The evaluation that was denied, where this is the access request that follows; null for an evaluation itself. */
  readonly deniedId: string | null;
}

/** How long an access request may follow a denial. */
export const requestableMs = 10 * 60 * 1000;
