// What a store keeps of statistics: counts by minutes and hours, hits of rules, how far both go, and the
// records that are counted. Each process that serves counts the records that it makes. INVARIANT: counts
// change in one transaction with the mark that says which records are in them.

/** Counts of the time that begins at `atMs` and lasts `spanMs`. A store does not read the counts. */
export interface StatisticsCell {
  readonly atMs: number;
  readonly spanMs: number;
  /** One line of JSON for each process that has counted this time. */
  readonly json: string;
}

export interface RuleHits {
  /** Named `policy/rule`. */
  readonly rule: string;
  readonly decided: number;
  readonly met: number;
  /** When the rule was last met; null when it never was. */
  readonly lastAtMs: number | null;
}

/** How often an outcome would have been another one if a shadow rule had been enforced. */
export interface ShadowChange {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

export interface StatisticsMark {
  /** The stored counts hold all records made before this time. */
  readonly throughMs: number;
  /** Records made at `throughMs` or later have higher numbers than this. */
  readonly afterSequence: number;
  /** Since when hits of rules have been counted. */
  readonly sinceMs: number;
}

export interface StatisticsChange {
  /** Cells that replace this process's own cells of the same time. */
  readonly puts: readonly StatisticsCell[];
  /** Deletes this process's own cells of this span that begin within this time; null deletes none. */
  readonly removed: { readonly spanMs: number; readonly fromMs: number; readonly untilMs: number } | null;
  /** Hits to add to the stored ones. */
  readonly hits: readonly RuleHits[];
  readonly shadowChanges: readonly ShadowChange[];
  /** Null leaves the mark unchanged. */
  readonly mark: StatisticsMark | null;
  /**
   * Whether the same change may be stored already, since an earlier attempt was left uncertain. When the cells
   * hold all of `puts`, nothing is changed.
   */
  readonly isAgain?: boolean;
}

export interface CellPage {
  /** The span of the cells; null for all spans. */
  readonly spanMs: number | null;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly after: Pick<StatisticsCell, 'atMs' | 'spanMs'> | null;
  readonly countMax: number;
  /**
   * Only cells that this process has counted, or an earlier process in its slot. Absent for the cells of all
   * processes.
   */
  readonly isOwn?: boolean;
}

/** The end of a request's wait. */
export interface WaitEnd {
  readonly atMs: number;
  readonly status: 'approved' | 'rejected' | 'expired';
  /** When the request was made; null when its record has been deleted. */
  readonly createdAtMs: number | null;
  /** Whether the first decision on the request asked for a step-up. */
  readonly isStepUp: boolean;
}

/** A request that was refused before policies decided on it. */
export interface CountedRefusal {
  readonly atMs: number;
  /** Null when no agent was recognised. */
  readonly agentId: string | null;
  readonly code: string;
}

/** The parts of a record that are counted. */
export type CountedRecord =
  | { readonly kind: 'request'; readonly atMs: number; readonly recordJson: string }
  | ({ readonly kind: 'refusal' } & CountedRefusal)
  | ({ readonly kind: 'end' } & WaitEnd);

/** Record numbers above `after`, up to and including `upTo`. */
export interface SequenceRange {
  readonly after: number;
  readonly upTo: number;
}

export interface StatisticsStore {
  /** The mark of this process; null when nothing was ever counted. */
  mark(): Promise<StatisticsMark | null>;
  /** The stored cells, by time. */
  cells(page: CellPage): Promise<readonly StatisticsCell[]>;
  hits(): Promise<{ readonly hits: readonly RuleHits[]; readonly shadowChanges: readonly ShadowChange[] }>;
  change(change: StatisticsChange): Promise<void>;
  /** What is counted of this process's records with these numbers, in any order. */
  counted(range: SequenceRange): Promise<readonly CountedRecord[]>;
  /** The waits that ended by an event of this process with one of these numbers. */
  waitEnds(range: SequenceRange): Promise<readonly WaitEnd[]>;
  /** The number of the last request event; 0 when there is none. */
  lastEvent(): Promise<number>;
  /** The number of the last stored record; 0 when there is none. */
  lastSequence(): Promise<number>;
  /** How many requests are waiting at `nowMs`. */
  waiting(nowMs: number): Promise<number>;
}
