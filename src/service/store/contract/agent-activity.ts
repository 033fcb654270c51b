// What a store tells about all requests of one agent together: what came of them day by day, and the payloads
// of those that were granted. Each is read in parts of bounded size, however many records there are.

export interface ActivityStore {
  /** A record number below those of all records made at `atMs` or later, and not much below. */
  numberBefore(atMs: number): Promise<number>;
  /** Counts the agent's records with the next numbers after `afterSequence`, by day and outcome. */
  outcomes(page: OutcomePage): Promise<CountedOutcomes>;
  /** The agent's granted requests for one action, the latest first. */
  granted(page: GrantedPage): Promise<GrantPage>;
}

export interface OutcomePage {
  readonly agentId: string;
  readonly kind: 'requests' | 'refusals';
  readonly afterSequence: number;
}

export interface CountedOutcomes {
  readonly counts: readonly OutcomeCount[];
  /** The last record number that is counted; null when no record was left to count. */
  readonly through: number | null;
}

export interface OutcomeCount {
  /** Days since 1970-01-01, in UTC. */
  readonly day: number;
  /** The outcome of the decision, or `refused`. */
  readonly outcome: string;
  readonly count: number;
}

export interface GrantedPage {
  readonly agentId: string;
  readonly actionKey: string;
  /** Only requests with lower record numbers; null begins with the latest request. */
  readonly beforeSequence: number | null;
  readonly countMax: number;
}

export interface GrantPage {
  readonly items: readonly GrantedRequest[];
  /** The `beforeSequence` of the next page; null when this page is the last. */
  readonly next: number | null;
}

export interface GrantedRequest {
  readonly id: string;
  readonly createdAtMs: number;
  /** The payload as recorded, in JSON. */
  readonly payloadJson: string;
}
