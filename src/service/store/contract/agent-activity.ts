// What a store tells of an agent's requests taken together: what came of them day by day, and what those hold that were
// granted. Both are read in parts, the size of which does not grow with the records.

export interface ActivityStore {
  /** A number below those of all records from a moment on, and not much below. */
  numberBefore(atMs: number): Promise<number>;
  /** The agent's records with the next numbers, by day and by what came of them. */
  outcomes(page: OutcomePage): Promise<OutcomesFound>;
  /** Requests of one action that were granted, the latest first. */
  granted(page: GrantedPage): Promise<GrantedFound>;
}

export interface OutcomePage {
  readonly agentId: string;
  readonly kind: 'requests' | 'refusals';
  readonly afterSequence: number;
}

export interface OutcomesFound {
  readonly counts: readonly OutcomeCount[];
  /** Up to which number they are counted; null where there are no more. */
  readonly through: number | null;
}

export interface OutcomeCount {
  /** Days since 1970-01-01, in UTC. */
  readonly day: number;
  /** The decision's, or `refused`. */
  readonly outcome: string;
  readonly count: number;
}

export interface GrantedPage {
  readonly agentId: string;
  readonly actionKey: string;
  /** Null begins with the latest. */
  readonly beforeSequence: number | null;
  readonly countMax: number;
}

export interface GrantedFound {
  readonly found: readonly GrantedRequest[];
  /** Where the next part goes on; null where there is none. */
  readonly next: number | null;
}

export interface GrantedRequest {
  readonly createdAtMs: number;
  /** As it is recorded. */
  readonly payloadJson: string;
}
