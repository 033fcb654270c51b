// The outcomes of requests: counted in memory while they are recorded, stored by the minute once a minute is
// over, and recounted from the records after a start if they had not been stored. INVARIANT: records are the
// truth: every answer equals what counting the records gives; no request waits for statistics, and statistics
// cannot make a request fail.

import { setImmediate as pause } from 'node:timers/promises';
import { memo } from '../../language/value/memo.ts';
import { decisionRecord } from '../requests/record/record.ts';
import type {
  CountedRecord,
  CountedRefusal,
  SequenceRange,
  ShadowChange,
  StatisticsChange,
  StatisticsMark,
  StatisticsStore,
  WaitEnd,
} from '../store/contract/statistics.ts';
import { isUncertain } from '../store/contract/store-error.ts';
import {
  addCell,
  addEnd,
  addRefusal,
  addRequest,
  addText,
  type CellCounts,
  cellText,
  createCell,
  later,
  type StatisticsRequest,
} from './cell.ts';
import { floorTo, hourMs, hoursBeforeMs, keptMs, minuteMs } from './times.ts';

// Merges old stored minutes into hours and removes counts that are too old. INVARIANT: an hour replaces its
// minutes in one transaction.

/** Hours merged in one call; the rest wait for the next call. */
const hoursAtOnce = 24;
/** The sixty minutes of an hour, and the hour itself, which may be stored beside them. */
const cellsOfHour = 61;

/** Returns true when all work is done, false when some is left for the next call. Calls must not overlap. */
async function keepUp(store: StatisticsStore, nowMs: number): Promise<boolean> {
  const oldestMs = floorTo(nowMs - keptMs, hourMs);
  for (const spanMs of [minuteMs, hourMs]) await removeBefore(store, oldestMs, spanMs);
  for (let count = 0, fromMs = oldestMs; count < hoursAtOnce; count += 1) {
    const atMs = await firstMinute(store, { fromMs, untilMs: hoursBeforeMs(nowMs) });
    if (atMs === null) return true;
    await mergeHour(store, floorTo(atMs, hourMs));
    fromMs = floorTo(atMs, hourMs) + hourMs;
  }
  return false;
}

async function removeBefore(store: StatisticsStore, untilMs: number, spanMs: number): Promise<void> {
  const range = { fromMs: 0, untilMs };
  if ((await store.cells({ ...range, spanMs, after: null, countMax: 1, isOwn: true })).length === 0) return;
  await store.change({ puts: [], removed: { spanMs, ...range }, hits: [], shadowChanges: [], mark: null });
}

/** The first time that is stored by the minute; null when there is none. */
async function firstMinute(
  store: StatisticsStore,
  range: { readonly fromMs: number; readonly untilMs: number },
): Promise<number | null> {
  const [first] = await store.cells({
    ...range,
    spanMs: minuteMs,
    after: null,
    countMax: 1,
    isOwn: true,
  });
  return first?.atMs ?? null;
}

async function mergeHour(store: StatisticsStore, atMs: number): Promise<void> {
  const range = { fromMs: atMs, untilMs: atMs + hourMs };
  const hour = createCell();
  const page = { ...range, spanMs: null, after: null, countMax: cellsOfHour, isOwn: true };
  for (const { json } of await store.cells(page)) addText(hour, json);
  await store.change({
    puts: [{ atMs, spanMs: hourMs, json: cellText(hour) }],
    removed: { spanMs: minuteMs, ...range },
    hits: [],
    shadowChanges: [],
    mark: null,
  });
}

export interface Statistics {
  /** Counts a request that has been recorded. Never throws. */
  decided(request: StatisticsRequest): void;
  /**
   * Notes a request that may have been recorded; it is counted once its record is known to exist. Never
   * throws.
   */
  unsure(request: UnsureRequest): void;
  /**
   * Counts a refused request. Never throws. Refusals that are not recorded are counted, too; those not stored
   * yet are lost when the process ends.
   */
  refused(refusal: CountedRefusal): void;
  /** Call before the first record is made; records not yet in stored counts are counted from then on. */
  start(): Promise<void>;
  /** Waits for the storing under way; what is not stored is counted again at the next start. */
  close(): Promise<void>;
  /** Resolves when all records from before the start have been counted. */
  caughtUp(): Promise<void>;
  /** Calls `take` with each cell that touches the range, in no particular order. */
  read(range: TimeRange, take: (cell: ReadCell) => void): Promise<void>;
  hits(): Promise<Hits>;
  /** Returns how many requests wait now. */
  pending(): Promise<number>;
  /** Stores the minutes that are over; also runs by itself now and then. */
  store(): Promise<void>;
}

export interface TimeRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface ReadCell {
  readonly atMs: number;
  /** Adds the counts of the cell. */
  readonly addTo: (into: CellCounts) => void;
}

export interface Hits {
  readonly sinceMs: number;
  readonly rules: ReadonlyMap<string, RuleHit>;
}

export interface RuleHit {
  readonly decided: number;
  readonly met: number;
  readonly lastAtMs: number | null;
  readonly changes: readonly Omit<ShadowChange, 'rule'>[];
}

export interface UnsureRequest extends StatisticsRequest {
  readonly id: string;
}

export interface StatisticsOptions {
  readonly store: StatisticsStore;
  /** Whether a request has a record; null while the store cannot tell, such as during an outage. */
  readonly isRecorded: (requestId: string) => Promise<boolean | null>;
  /** Milliseconds since 1970-01-01T00:00Z; must not go back. */
  readonly clock: () => number;
  readonly everyMs?: number;
  /** Called with the error when something could not be counted or stored; most of that is tried again. */
  readonly onFailure: (error: unknown) => void;
}

export function createStatistics(options: StatisticsOptions): Statistics {
  return new LiveStatistics(options);
}

const everyMsDefault = 15_000;
/** A request is recorded within this time after its decision, unless the machine was asleep. */
const recordedWithinMs = 60_000;
/**
 * Milliseconds after which a write that began before an outage has either succeeded or failed, if the store
 * takes writes again.
 */
const settledAfterMs = 5_000;
/** How much is counted or looked through in one step, so that other work is not held up. */
const [recordsAtOnce, eventsAtOnce, cellsAtOnce] = [100, 5_000, 20];

/** A class because it holds what is being counted. */
class LiveStatistics implements Statistics {
  readonly #options: StatisticsOptions;
  readonly #counters: Counters;
  /** Sorted by time: all records up to `sequence` were made at `atMs` or before. */
  readonly #known: { readonly atMs: number; readonly sequence: number }[] = [];
  #mark: StatisticsMark = { throughMs: 0, afterSequence: 0, sinceMs: 0 };
  /** Requests that may have been recorded, each with the time since when that is in doubt. */
  readonly #unsure = new Map<UnsureRequest, number>();
  /** The number of the last event that was looked at. */
  #eventsSeen = 0;
  /** A change that may or may not be stored; sent again until the store tells. Its counts are nowhere else. */
  #uncertain: StatisticsChange | null = null;
  #lookedAtMs = 0;
  #keptUpAtMs = 0;
  /** The records from before the start that are not counted yet; null before the start. */
  #missing: SequenceRange | null = null;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #catchingUp: Promise<void> = Promise.resolve();
  #isCatchingUp = false;
  /** Storing and reading run one after the other, so that each count in memory is either stored or not. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: StatisticsOptions) {
    this.#options = options;
    this.#counters = createCounters(options.clock);
  }

  decided(request: StatisticsRequest): void {
    try {
      this.#counters.request(request);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  unsure(request: UnsureRequest): void {
    this.#unsure.set(request, this.#options.clock());
  }

  refused(refusal: CountedRefusal): void {
    try {
      this.#counters.refusal(refusal);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  async start(): Promise<void> {
    const { store, clock } = this.#options;
    const mark = await store.mark();
    const upTo = await store.lastSequence();
    const nowMs = clock();
    this.#mark = mark ?? { throughMs: 0, afterSequence: 0, sinceMs: Math.trunc(nowMs) };
    this.#eventsSeen = upTo;
    this.#known.push({ atMs: nowMs, sequence: upTo });
    this.#lookedAtMs = nowMs;
    this.#missing = { after: this.#mark.afterSequence, upTo };
    this.#catchingUp = this.#catchUp();
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer ?? undefined);
    await this.#catchingUp;
    await this.#turn;
  }

  caughtUp(): Promise<void> {
    return this.#catchingUp;
  }

  read({ fromMs, untilMs }: TimeRange, take: (cell: ReadCell) => void): Promise<void> {
    return this.#inTurn(async () => {
      const { store } = this.#options;
      await this.#sendAgain();
      await this.#settle();
      await this.#countEnds();
      for (let after: { atMs: number; spanMs: number } | null = null; ; await pause()) {
        const page = await store.cells({ fromMs, untilMs, spanMs: null, after, countMax: cellsAtOnce });
        for (const { atMs, json } of page) take({ atMs, addTo: (into) => addText(into, json) });
        after = page.at(-1) ?? null;
        if (page.length < cellsAtOnce) break;
      }
      for (const { atMs, cell } of this.#counters.all()) {
        if (atMs >= fromMs && atMs < untilMs) take({ atMs, addTo: (into) => addText(into, cellText(cell)) });
      }
    });
  }

  hits(): Promise<Hits> {
    return this.#inTurn(async () => {
      await this.#sendAgain();
      await this.#settle();
      const { hits, shadowChanges } = await this.#options.store.hits();
      const rules = new Map<string, RuleHit>();
      const add = (rule: string, { decided, met, lastAtMs, changes }: RuleHit): void => {
        const cached = rules.get(rule);
        rules.set(rule, {
          decided: decided + (cached?.decided ?? 0),
          met: met + (cached?.met ?? 0),
          lastAtMs: later(lastAtMs, cached?.lastAtMs ?? null),
          changes: [...(cached?.changes ?? []), ...changes],
        });
      };
      for (const { rule, ...hit } of hits) add(rule, { ...hit, changes: [] });
      for (const { rule, ...change } of shadowChanges)
        add(rule, { decided: 0, met: 0, lastAtMs: null, changes: [change] });
      for (const { cell } of this.#counters.all()) for (const { rule, hit } of hitsOf(cell)) add(rule, hit);
      return { sinceMs: this.#mark.sinceMs, rules };
    });
  }

  pending(): Promise<number> {
    return this.#options.store.waiting(Math.trunc(this.#options.clock()));
  }

  store(): Promise<void> {
    return this.#inTurn(() => this.#storeOver());
  }

  /** Counts the records that are not in any stored minute. */
  async #catchUp(): Promise<void> {
    this.#isCatchingUp = true;
    try {
      while (this.#missing !== null && this.#missing.after < this.#missing.upTo && !this.#isClosed) {
        const { after, upTo } = this.#missing;
        const end = Math.min(after + recordsAtOnce, upTo);
        for (const record of await this.#options.store.counted({ after, upTo: end })) this.#recount(record);
        this.#missing = { after: end, upTo };
        await pause();
      }
    } catch (error) {
      this.#options.onFailure(error);
    } finally {
      this.#isCatchingUp = false;
    }
  }

  #recount(record: CountedRecord): void {
    const { atMs } = record;
    if (atMs < this.#mark.throughMs) return;
    // If the store has never been counted, hits go back as far as its records.
    if (this.#mark.throughMs === 0 && atMs < this.#mark.sinceMs)
      this.#mark = { ...this.#mark, sinceMs: atMs };
    if (record.kind === 'request') this.#recountRequest(record);
    else if (record.kind === 'refusal') this.#counters.refusal(record);
    else this.#counters.end(record);
  }

  #recountRequest({ atMs, recordJson }: Extract<CountedRecord, { readonly kind: 'request' }>): void {
    try {
      const { decision, trace, timing } = decisionRecord(recordJson);
      this.#counters.request({ createdAtMs: atMs, decision, trace, timing });
    } catch (error) {
      // A record that was tampered with does not keep other records from being counted.
      this.#options.onFailure(error);
    }
  }

  /**
   * Counts waits that have ended since the last look; only the store knows them, since it finds the ends of
   * waits.
   */
  async #countEnds(): Promise<void> {
    const { store } = this.#options;
    const last = await store.lastEvent();
    while (this.#eventsSeen < last) {
      const upTo = Math.min(this.#eventsSeen + eventsAtOnce, last);
      const ends = await store.waitEnds({ after: this.#eventsSeen, upTo });
      for (const end of ends) this.#counters.end(end);
      this.#eventsSeen = upTo;
      if (upTo < last) await pause();
    }
  }

  async #settle(): Promise<void> {
    const { clock, isRecorded } = this.#options;
    for (const [request, sinceMs] of this.#unsure) {
      if (clock() - sinceMs < settledAfterMs) continue;
      const isThere = await isRecorded(request.id);
      if (isThere === null) return;
      this.#unsure.delete(request);
      if (isThere) this.decided(request);
    }
  }

  async #storeOver(): Promise<void> {
    const { store, clock } = this.#options;
    // Nothing is stored until all earlier records have been counted.
    if (this.#missing === null) return;
    if (this.#missing.after < this.#missing.upTo) {
      if (!this.#isCatchingUp) this.#catchingUp = this.#catchUp();
      return;
    }
    await this.#sendAgain();
    // A crash loses what is in memory, so what is stored must not go past a request that is not counted.
    await this.#settle();
    if (this.#unsure.size > 0) return;
    const sequence = await store.lastSequence();
    const nowMs = clock();
    await this.#countEnds();
    // Cells are taken by the time of the previous look: if the machine was asleep, requests under way at that
    // time are recorded by now.
    const over = this.#counters.take(floorTo(this.#lookedAtMs - recordedWithinMs, minuteMs));
    this.#lookedAtMs = nowMs;
    if (this.#known.at(-1)?.sequence !== sequence) this.#known.push({ atMs: nowMs, sequence });
    for (const [at, open] of over.entries()) {
      try {
        await this.#storeOne(open);
      } catch (error) {
        this.#counters.putBack(over.slice(this.#uncertain === null ? at : at + 1));
        throw error;
      }
    }
    if (floorTo(nowMs, hourMs) > this.#keptUpAtMs && (await keepUp(store, nowMs)))
      this.#keptUpAtMs = floorTo(nowMs, hourMs);
  }

  async #storeOne({ atMs, spanMs, cell }: OpenCell): Promise<void> {
    const { store } = this.#options;
    const page = { fromMs: atMs, untilMs: atMs + 1, spanMs, after: null, countMax: 1, isOwn: true };
    const [stored] = await store.cells(page);
    const all = createCell();
    if (stored !== undefined) addText(all, stored.json);
    addText(all, cellText(cell));
    const mark = this.#markThrough(atMs + spanMs);
    const hits = [...hitsOf(cell)];
    await this.#send({
      puts: [{ atMs, spanMs, json: cellText(all) }],
      removed: null,
      mark,
      hits: hits.map(({ rule, hit: { changes: _, ...hit } }) => ({ rule, ...hit })),
      shadowChanges: hits.flatMap(({ rule, hit }) => hit.changes.map((change) => ({ rule, ...change }))),
    });
  }

  async #send(change: StatisticsChange): Promise<void> {
    try {
      await this.#options.store.change(change);
    } catch (error) {
      if (isUncertain(error)) this.#uncertain = change;
      throw error;
    }
    this.#uncertain = null;
    this.#mark = change.mark ?? this.#mark;
  }

  /** Stores the uncertain change for good, or finds it stored; its counts would count twice if they were added again. */
  async #sendAgain(): Promise<void> {
    if (this.#uncertain !== null) await this.#send({ ...this.#uncertain, isAgain: true });
  }

  #markThrough(untilMs: number): StatisticsMark {
    const throughMs = Math.max(this.#mark.throughMs, untilMs);
    while (this.#known.length > 1 && this.#known[1]!.atMs < throughMs) this.#known.shift();
    const first = this.#known[0];
    const afterSequence =
      first !== undefined && first.atMs < throughMs ? first.sequence : this.#mark.afterSequence;
    return { ...this.#mark, throughMs, afterSequence };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      void this.store()
        .catch(this.#options.onFailure)
        .then(() => this.#schedule());
    }, this.#options.everyMs ?? everyMsDefault);
    this.#timer.unref();
  }
}

function* hitsOf({ rules }: CellCounts): Generator<{ readonly rule: string; readonly hit: RuleHit }> {
  for (const [rule, { changes, ...count }] of rules) {
    const counted = [...(changes ?? [])].map(([change, times]) => {
      const [from = '', to = ''] = change.split(' ');
      return { from, to, count: times };
    });
    yield { rule, hit: { ...count, changes: counted } };
  }
}

// Counts that are not stored yet, in cells of a minute, or of an hour for old requests. INVARIANT: each count
// is in one cell, and a cell stays here until whoever takes it away has stored it.

export interface OpenCell {
  readonly atMs: number;
  readonly spanMs: number;
  readonly cell: CellCounts;
}

export interface Counters {
  request(request: StatisticsRequest): void;
  refusal(refusal: CountedRefusal): void;
  end(end: WaitEnd): void;
  all(): Iterable<OpenCell>;
  /**
   * Takes away the cells that ended at `untilMs` or before, the earliest first; later counts for those times
   * start new cells.
   */
  take(untilMs: number): readonly OpenCell[];
  /** Puts cells back that could not be stored after all. */
  putBack(cells: readonly OpenCell[]): void;
}

function createCounters(clock: () => number): Counters {
  const cells = new Map<number, OpenCell>();
  /** The last cell used, since nearly every count belongs to the same cell as the one before. */
  let latest: OpenCell | null = null;

  function cellAt(atMs: number): CellCounts {
    if (latest !== null && atMs >= latest.atMs && atMs < latest.atMs + latest.spanMs) return latest.cell;
    const spanMs = atMs < hoursBeforeMs(clock()) ? hourMs : minuteMs;
    latest = open(floorTo(atMs, spanMs), spanMs);
    return latest.cell;
  }

  function open(atMs: number, spanMs: number): OpenCell {
    return memo(cells, atMs, () => ({ atMs, spanMs, cell: createCell() }));
  }

  return {
    request: (request) => addRequest(cellAt(request.createdAtMs), request),
    refusal: (refusal) => addRefusal(cellAt(refusal.atMs), refusal),
    end: (end) => addEnd(cellAt(end.atMs), end),
    all: () => cells.values(),
    take(untilMs) {
      const taken = [...cells.values()].filter(({ atMs, spanMs }) => atMs + spanMs <= untilMs);
      for (const { atMs } of taken) cells.delete(atMs);
      latest = null;
      return taken.toSorted((a, b) => a.atMs - b.atMs);
    },
    putBack(taken) {
      for (const { atMs, spanMs, cell } of taken) addCell(open(atMs, spanMs).cell, cell);
    },
  };
}
