// What a store keeps of statistics: counts by minutes and hours, hits of rules, how far both go; and the records that
// they are counted from. Each process that serves counts what it records itself. INVARIANT: counts and the mark that says which
// of its records are in them change in one transaction.

/** What was counted from `atMs` on for `spanMs`; a store does not look into it. */
export interface StatisticsCell {
  readonly atMs: number;
  readonly spanMs: number;
  /** One line; one of each process where several have counted that time. */
  readonly json: string;
}

export interface RuleHits {
  /** `policy/rule`. */
  readonly rule: string;
  readonly decided: number;
  readonly met: number;
  /** Null where it never was. */
  readonly lastAtMs: number | null;
}

/** How often an outcome would have been another one, had a shadow rule been enforced. */
export interface ShadowChange {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

export interface StatisticsMark {
  /** All records from before this moment are counted in what is stored. */
  readonly throughMs: number;
  /** No record with this number or a lower one is from that moment or later. */
  readonly afterSequence: number;
  /** Since when hits of rules are counted. */
  readonly sinceMs: number;
}

export interface StatisticsChange {
  /** They take the place of what this process has there. */
  readonly puts: readonly StatisticsCell[];
  /** This process's own of this span that begin in this time go. */
  readonly removed: { readonly spanMs: number; readonly fromMs: number; readonly untilMs: number } | null;
  /** Added to what is there. */
  readonly hits: readonly RuleHits[];
  readonly shadowChanges: readonly ShadowChange[];
  /** Null leaves it. */
  readonly mark: StatisticsMark | null;
}

export interface CellPage {
  /** Null for all spans. */
  readonly spanMs: number | null;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly after: Pick<StatisticsCell, 'atMs' | 'spanMs'> | null;
  readonly countMax: number;
  /** Only what this process has counted, or one before it in its place; all unless said otherwise. */
  readonly isOwn?: boolean;
}

/** A wait that is over. */
export interface WaitEnd {
  readonly atMs: number;
  readonly status: 'approved' | 'rejected' | 'expired';
  /** When its request was made; null where that is not stored any more. */
  readonly createdAtMs: number | null;
  /** Whether the request asked for a step-up to begin with. */
  readonly isStepUp: boolean;
}

/** A request that no policy saw. */
export interface CountedRefusal {
  readonly atMs: number;
  /** Null where nobody was recognized. */
  readonly agentId: string | null;
  readonly code: string;
}

/** A record as far as it is counted. */
export type CountedRecord =
  | { readonly kind: 'request'; readonly atMs: number; readonly recordJson: string }
  | ({ readonly kind: 'refusal' } & CountedRefusal)
  | ({ readonly kind: 'end' } & WaitEnd);

/** The numbers above `after`, and up to `upTo`. */
export interface SequenceRange {
  readonly after: number;
  readonly upTo: number;
}

export interface StatisticsStore {
  /** Of this process; null where nothing was ever counted. */
  mark(): Promise<StatisticsMark | null>;
  /** By time. */
  cells(page: CellPage): Promise<readonly StatisticsCell[]>;
  hits(): Promise<{ readonly hits: readonly RuleHits[]; readonly shadowChanges: readonly ShadowChange[] }>;
  change(change: StatisticsChange): Promise<void>;
  /** What is counted of the records of this process with these numbers, in any order. */
  counted(range: SequenceRange): Promise<readonly CountedRecord[]>;
  /** The waits whose end this process has recorded with one of these numbers. */
  waitEnds(range: SequenceRange): Promise<readonly WaitEnd[]>;
  /** The number of the last event of a request; 0 where there is none. */
  lastEvent(): Promise<number>;
  /** The number of the last record that is stored; 0 where there is none. */
  lastSequence(): Promise<number>;
  /** Requests that wait at this moment. */
  waiting(nowMs: number): Promise<number>;
}
