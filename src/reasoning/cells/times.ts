// Cuts instants where a condition may change: at constants, at the edges of named hours and local days, and
// where a clock is set. Between the settings of all clocks every week is like the next, so one week
// represents the whole period. Named days represent themselves. INVARIANT: exact within the horizon, which
// the verdict states.

import type { PolicySet } from '../../language/model/policy.ts';
import type { Value } from '../../language/model/value.ts';
import { dayNumber } from '../../language/value/calendar.ts';
import { compare, type Decimal, fromNumber, toNumber } from '../../language/value/decimal.ts';
import type { YearlySpan } from '../../language/value/hours.ts';
import { localSecond, secondsPerDay } from '../../language/value/time.ts';
import type { Faults } from './faults.ts';
import { type Cell, isLine, type Leaf, type LeafAtom, marksOf as linearMarks } from './leaf.ts';
import { numberCells } from './numbers.ts';

const week = 7 * secondsPerDay;

/** The time that an example has if nothing depends on it: a Monday morning. */
export const usualMs = Date.UTC(2026, 2, 2, 10);

/** The instants that are examined, in seconds since 1970: 28 years, after which the calendar repeats. */
export const horizon = { from: Date.UTC(2025, 0, 1) / 1000, to: Date.UTC(2053, 0, 1) / 1000 } as const;

/**
 * Whether the time of a decision lies within the horizon, or at most a week after a named instant that lies
 * after it.
 */
export function isCovered(now: Leaf, value: Decimal): boolean {
  const second = toNumber(value);
  return horizon.from <= second && second <= coveredEnd(now);
}

function coveredEnd(now: Leaf): number {
  const later = linearMarks(now).flatMap((mark) => {
    const second = toNumber(mark);
    return second > horizon.to ? [second + week] : [];
  });
  return Math.max(horizon.to, ...later);
}

/** The first and the last local day of the times of decisions, in days since 1970. */
export function coveredDays(now: Leaf): readonly [first: number, last: number] {
  const end = coveredEnd(now);
  return [horizon.from / secondsPerDay - 1, Math.floor(end / secondsPerDay) + 1];
}

/** How far the clocks of a zone are ahead of Greenwich, in seconds, at the times of decisions. */
export function offsetsOf(zone: string): { readonly least: number; readonly most: number } {
  const offsets = settingsOf(zone).map(({ offset }) => offset);
  return { least: Math.min(...offsets), most: Math.max(...offsets) };
}

/** An instant at about noon of the local day. */
export function noonOf(day: Decimal, zone: string): Decimal {
  const noon = (toNumber(day) + 0.5) * secondsPerDay;
  return fromNumber(noon - offsetAt(zone, noon));
}

/**
 * The cells of instants. The time of the decision, the leaf `now`, lies within the horizon; other instants
 * may lie beyond it.
 */
export function timeCells(leaf: Leaf, faults: Faults): readonly Cell[] {
  if (isLine(leaf)) {
    const line = { isWhole: false, isMoney: false, fits: leaf.fits, usual: leaf.usual, faults };
    return numberCells(linearMarks(leaf), line).map((value) => ({ value, isOther: false }));
  }
  const { atoms, set, key } = leaf;
  const isNow = key === 'now';
  const cacheKey = JSON.stringify([isNow, atoms.map(({ text }) => text), [...faults]]);
  const bySet = remembered.get(set) ?? new Map<string, readonly Cell[]>();
  remembered.set(set, bySet);
  const cells = bySet.get(cacheKey) ?? newCells(leaf, faults);
  bySet.set(cacheKey, cells);
  return cells;
}

/** Cells by policy set and conditions, since most actions have the same conditions on the time. */
const remembered = new WeakMap<PolicySet, Map<string, readonly Cell[]>>();

function newCells(leaf: Leaf, faults: Faults): readonly Cell[] {
  const { atoms } = leaf;
  const isNow = leaf.key === 'now';
  const clocks = clocksOf(atoms);
  const marks = marksOf(atoms).map(toNumber);
  const from = Math.min(horizon.from, ...marks.map((mark) => mark - week));
  const to = Math.max(horizon.to, ...marks.map((mark) => mark + week));
  const edges = edgesWithin({ from, to }, clocks, marks);
  const instants = faults.has('times-lack-boundaries') ? edges.filter((_, at) => at % 60 === 0) : edges;
  const named = numberCells(marksOf(atoms), {
    isWhole: false,
    isMoney: false,
    fits: () => true,
    usual: null,
    faults,
  });
  const all = [...instants.flatMap(between).map(instantOf), ...named];
  const within = distinct(atoms, isNow ? all.filter(leaf.fits) : all);
  return isNow || clocks.length === 0 ? within : [...within, ...beyond(from, to)];
}

/** What conditions read from the clock of a time zone. */
interface Clock {
  readonly zone: string;
  /** Minutes of the day at which an answer may change. */
  readonly minutes: readonly number[];
  /** Local days that differ from the same weekday of other weeks. */
  readonly days: readonly number[];
  /** The instants at which the offset from UTC changes, each with the offset from then on. */
  readonly settings: readonly { readonly at: number; readonly offset: number }[];
}

function clocksOf(atoms: readonly LeafAtom[]): readonly Clock[] {
  const localDays = atoms.flatMap(({ understood }) => {
    if (understood.kind === 'local-date')
      return [{ zone: understood.zone, minutes: [0], days: daysAround(understood.days) }];
    if (understood.kind !== 'hours') return [];
    const { zone, weekly, dates, yearly, except } = understood.hours;
    const minutes = weekly.flatMap(({ fromMinute, toMinute }) => [fromMinute, toMinute]);
    const days = [
      ...dates.flatMap(({ firstDay, lastDay }) => [firstDay, lastDay + 1]),
      ...yearly.flatMap(daysOfEveryYear),
      ...except.flatMap(twoDays),
    ];
    return [{ zone, minutes: [0, ...minutes], days }];
  });
  return [...Map.groupBy(localDays, ({ zone }) => zone)].map(([zone, entries]) => ({
    zone,
    minutes: [...new Set(entries.flatMap(({ minutes }) => minutes))].toSorted((a, b) => a - b),
    days: [...new Set(entries.flatMap(({ days }) => days))],
    settings: settingsOf(zone),
  }));
}

/**
 * Starts of a day, of the next day (for a span over midnight that began on the day), and of the day after
 * both.
 */
function twoDays(day: number): readonly number[] {
  return [day, day + 1, day + 2];
}

/**
 * Days on which a span of every year begins or is over, in each year of the horizon and in the year before
 * it.
 */
function daysOfEveryYear({ first, last }: YearlySpan): readonly number[] {
  const dayOf = (year: number, at: number): number => dayNumber(year, Math.floor(at / 100), at % 100);
  const [from, to] = [horizon.from, horizon.to].map((second) => new Date(second * 1000).getUTCFullYear());
  const years = Array.from({ length: to! - from! + 2 }, (_, at) => from! - 1 + at);
  return years.flatMap((year) => [dayOf(year, first), dayOf(year, last) + 1]);
}

function daysAround(days: readonly Value[]): readonly number[] {
  return (days as readonly Decimal[]).flatMap((day) => twoDays(Math.floor(toNumber(day))));
}

function marksOf(atoms: readonly LeafAtom[]): readonly Decimal[] {
  return atoms.flatMap(({ understood }) =>
    understood.kind === 'values' ? (understood.values as readonly Decimal[]) : [],
  );
}

const settings = new Map<string, Clock['settings']>();

/**
 * Finds the settings of a clock, one fortnight at a time: no zone sets its clock twice within a fortnight.
 */
function settingsOf(zone: string): Clock['settings'] {
  const cached = settings.get(zone);
  if (cached !== undefined) return cached;
  const offsets = [{ at: horizon.from - week, offset: offsetAt(zone, horizon.from - week) }];
  for (let at = horizon.from + week; at <= horizon.to + 2 * week; at += 2 * week) {
    const last = offsets.at(-1)!;
    const offset = offsetAt(zone, at);
    if (offset !== last.offset) {
      const fortnight = [at - 2 * week, at] as const;
      offsets.push({
        at: asYearBefore(offsets, offset, { zone, fortnight }) ?? firstWith(zone, offset, fortnight),
        offset,
      });
    }
  }
  settings.set(zone, offsets);
  return offsets;
}

interface TimeQuery {
  readonly zone: string;
  readonly fortnight: readonly [before: number, after: number];
}

/**
 * The instant at which the clock was set, guessed from the year before: most clocks are set on the same
 * weekday, 52 or 53 weeks later. Null if the guess is wrong.
 */
function asYearBefore(
  settings: Clock['settings'],
  offset: number,
  { zone, fortnight }: TimeQuery,
): number | null {
  const before = settings.at(-2)?.at ?? 0;
  const [after, end] = fortnight;
  const isSet = (at: number) => offsetAt(zone, at) === offset && offsetAt(zone, at - 1) !== offset;
  const guesses = [before + 52 * week, before + 53 * week];
  return guesses.find((at) => after < at && at <= end && isSet(at)) ?? null;
}

/** Clocks are set at quarters of an hour, so the search by halves looks there first. */
const quarter = 15 * 60;

function firstWith(zone: string, offset: number, [before, after]: readonly [number, number]): number {
  if (after - before <= 1) return after;
  const middle = Math.floor((before + after) / 2);
  const atQuarter = Math.floor(middle / quarter) * quarter;
  const at = atQuarter > before ? atQuarter : middle;
  const isAfter = offsetAt(zone, at) === offset;
  if (isAfter && offsetAt(zone, at - 1) !== offset) return at;
  return firstWith(zone, offset, isAfter ? [before, at] : [at, after]);
}

function offsetAt(zone: string, second: number): number {
  return (localSecond(fromNumber(second), zone) ?? second) - second;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Sorted instants that hold every change within the span, or a change like it in another week. */
function edgesWithin(whole: Span, clocks: readonly Clock[], marks: readonly number[]): readonly number[] {
  const named = clocks.flatMap(({ days, settings: all }) =>
    days.flatMap((day) => [...new Set(all.map(({ offset }) => day * secondsPerDay - offset))]),
  );
  const cuts = [
    whole.from,
    whole.to,
    ...marks,
    ...named,
    ...clocks.flatMap((clock) => clock.settings.map(({ at }) => at)),
  ];
  const sorted = [...new Set(cuts)]
    .filter((cut) => whole.from <= cut && cut <= whole.to)
    .toSorted((a, b) => a - b);
  const isScanned = new Set<string>();
  const edges = sorted.flatMap((from, at) => {
    const to = sorted[at + 1] ?? from;
    const scanned = scannedPart({ from, to }, { clocks, marks, isScanned });
    return [from, ...clocks.flatMap((clock) => clockEdges(clock, scanned))];
  });
  return [...new Set(edges)].toSorted((a, b) => a - b);
}

interface Scan {
  readonly clocks: readonly Clock[];
  readonly marks: readonly number[];
  readonly isScanned: Set<string>;
}

/**
 * The part of a stretch to scan for edges: one week of a stretch that is longer, and nothing of a stretch
 * like one that has been scanned.
 */
function scannedPart({ from, to }: Span, { clocks, marks, isScanned }: Scan): Span {
  if (to - from <= week) return { from, to };
  const offsets = clocks.map(({ zone }) => offsetAt(zone, from)).join();
  // Constants and named days lie on cuts, so the number of them that are over tells where the stretch lies
  // among them.
  const over = [
    marks.filter((mark) => mark <= from).length,
    ...clocks.map(({ days, zone }) => passed(days, from, zone)),
  ];
  const key = `${offsets} ${over.join()}`;
  if (isScanned.has(key)) return { from, to: from };
  isScanned.add(key);
  return { from, to: from + week };
}

function passed(days: readonly number[], second: number, zone: string): number {
  const today = Math.floor((second + offsetAt(zone, second)) / secondsPerDay);
  return days.filter((day) => day <= today).length;
}

function clockEdges({ zone, minutes }: Clock, { from, to }: Span): readonly number[] {
  if (from === to) return [];
  const offset = offsetAt(zone, from);
  const edges: number[] = [];
  const firstDay = Math.floor((from + offset) / secondsPerDay);
  for (let day = firstDay; day * secondsPerDay - offset <= to; day += 1) {
    for (const minute of minutes) {
      const edge = day * secondsPerDay + minute * 60 - offset;
      if (from <= edge && edge <= to) edges.push(edge);
    }
  }
  return edges;
}

/**
 * The edge, and an instant for the stretch up to the next edge; before the first edge, an instant before it
 * too.
 */
function between(edge: number, at: number, edges: readonly number[]): readonly number[] {
  const next = edges[at + 1] ?? edge + 2;
  const first = at === 0 ? [edge - 1] : [];
  return [...first, edge, next - edge > 2 ? edge + 1 : (edge + next) / 2];
}

function instantOf(second: number): Decimal {
  return fromNumber(Math.round(second * 1000) / 1000);
}

/** One instant for each combination of truths that the conditions have. */
function distinct(atoms: readonly LeafAtom[], instants: readonly Decimal[]): readonly Cell[] {
  const cells = new Map<string, Cell>();
  for (const value of instants.toSorted(compare)) {
    const truths = atoms.map(({ truthAt }) => String(truthAt(value))).join();
    if (!cells.has(truths)) cells.set(truths, { value, isOther: false });
  }
  return [...cells.values()];
}

/** Cells for the time before and after the horizon, in which conditions on clocks are left open. */
function beyond(from: number, to: number): readonly Cell[] {
  return [from - week, to + week].map((second) => ({
    value: fromNumber(second),
    isOther: false,
    isBeyond: true,
  }));
}
