// Instants cut where a condition may change: at constants, at the edges of named hours and local days, and where a clock
// is set. Between settings of all clocks what a week says the next one says again, so one week stands for a stretch;
// days that are named stand for themselves. INVARIANT: exact within the horizon, which the verdict states.

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

/** The calendar repeats after 28 years. */
export const horizon = { from: Date.UTC(2025, 0, 1) / 1000, to: Date.UTC(2053, 0, 1) / 1000 } as const;

/** `isNow`: the time of the decision, which lies within the horizon. Other instants may lie beyond it. */
export function timeCells(leaf: Leaf, faults: Faults): readonly Cell[] {
  if (isLine(leaf)) {
    const line = { isWhole: false, fits: leaf.fits, faults };
    return numberCells(linearMarks(leaf), line).map((value) => ({ value, isOther: false }));
  }
  const { atoms, set } = leaf;
  const isNow = leaf.key === 'now';
  const asked = JSON.stringify([isNow, atoms.map(({ text }) => text), [...faults]]);
  const known = remembered.get(set) ?? new Map<string, readonly Cell[]>();
  remembered.set(set, known);
  const cells = known.get(asked) ?? newCells(atoms, isNow, faults);
  known.set(asked, cells);
  return cells;
}

/** Actions ask much the same of the time. */
const remembered = new WeakMap<PolicySet, Map<string, readonly Cell[]>>();

function newCells(atoms: readonly LeafAtom[], isNow: boolean, faults: Faults): readonly Cell[] {
  const clocks = clocksOf(atoms);
  const marks = marksOf(atoms).map(toNumber);
  const from = Math.min(horizon.from, ...marks.map((mark) => mark - week));
  const to = Math.max(horizon.to, ...marks.map((mark) => mark + week));
  const edges = edgesWithin({ from, to }, clocks, marks);
  const instants = faults.has('times-lack-boundaries') ? edges.filter((_, at) => at % 60 === 0) : edges;
  const named = numberCells(marksOf(atoms), { isWhole: false, fits: () => true, faults });
  const within = distinct(atoms, [...instants.flatMap(between).map(instantOf), ...named]);
  return isNow || clocks.length === 0 ? within : [...within, ...beyond(from, to)];
}

/** What a zone's clock is asked. */
interface Clock {
  readonly zone: string;
  /** Minutes of the day at which the answer may change. */
  readonly minutes: readonly number[];
  /** Local days that are not as every week's. */
  readonly days: readonly number[];
  /** Where its offset from UTC changes, with the offset from there. */
  readonly settings: readonly { readonly at: number; readonly offset: number }[];
}

function clocksOf(atoms: readonly LeafAtom[]): readonly Clock[] {
  const asked = atoms.flatMap(({ understood }) => {
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
  return [...Map.groupBy(asked, ({ zone }) => zone)].map(([zone, entries]) => ({
    zone,
    minutes: [...new Set(entries.flatMap(({ minutes }) => minutes))].toSorted((a, b) => a - b),
    days: [...new Set(entries.flatMap(({ days }) => days))],
    settings: settingsOf(zone),
  }));
}

/** The day, and the day after a span over midnight that began on it. */
function twoDays(day: number): readonly number[] {
  return [day, day + 1, day + 2];
}

/** Where a span of every year begins and where it is over, in each year of the horizon and the year before it. */
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

/** Found fortnight by fortnight: no zone sets its clock twice within one. */
function settingsOf(zone: string): Clock['settings'] {
  const known = settings.get(zone);
  if (known !== undefined) return known;
  const found = [{ at: horizon.from - week, offset: offsetAt(zone, horizon.from - week) }];
  for (let at = horizon.from + week; at <= horizon.to + 2 * week; at += 2 * week) {
    const last = found.at(-1)!;
    const offset = offsetAt(zone, at);
    if (offset !== last.offset) {
      const fortnight = [at - 2 * week, at] as const;
      found.push({
        at: asYearBefore(found, offset, { zone, fortnight }) ?? firstWith(zone, offset, fortnight),
        offset,
      });
    }
  }
  settings.set(zone, found);
  return found;
}

interface Sought {
  readonly zone: string;
  readonly fortnight: readonly [before: number, after: number];
}

/** Most clocks are set on the same weekday as the year before, 52 or 53 weeks later; null where that is not so. */
function asYearBefore(found: Clock['settings'], offset: number, { zone, fortnight }: Sought): number | null {
  const before = found.at(-2)?.at ?? 0;
  const [after, end] = fortnight;
  const isSet = (at: number) => offsetAt(zone, at) === offset && offsetAt(zone, at - 1) !== offset;
  const guesses = [before + 52 * week, before + 53 * week];
  return guesses.find((at) => after < at && at <= end && isSet(at)) ?? null;
}

/** Clocks are set at a quarter of an hour: the search by halves looks there first. */
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

/** Sorted; every change within the horizon, or one like it in another week. */
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

/** A stretch of more than a week is scanned for one, and not at all where one like it has been. */
function scannedPart({ from, to }: Span, { clocks, marks, isScanned }: Scan): Span {
  if (to - from <= week) return { from, to };
  const offsets = clocks.map(({ zone }) => offsetAt(zone, from)).join();
  // Constants and named days lie on cuts, so that which of them are over says where the stretch is among them.
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

/** The edge, and the stretch up to the next. */
function between(edge: number, at: number, edges: readonly number[]): readonly number[] {
  const next = edges[at + 1] ?? edge + 2;
  const first = at === 0 ? [edge - 1] : [];
  return [...first, edge, next - edge > 2 ? edge + 1 : (edge + next) / 2];
}

function instantOf(second: number): Decimal {
  return fromNumber(Math.round(second * 1000) / 1000);
}

/** One instant for each way in which the conditions come out. */
function distinct(atoms: readonly LeafAtom[], instants: readonly Decimal[]): readonly Cell[] {
  const cells = new Map<string, Cell>();
  for (const value of instants.toSorted(compare)) {
    const truths = atoms.map(({ truthAt }) => String(truthAt(value))).join();
    if (!cells.has(truths)) cells.set(truths, { value, isOther: false });
  }
  return [...cells.values()];
}

/** What clocks say before and after the horizon is left open. */
function beyond(from: number, to: number): readonly Cell[] {
  return [from - week, to + week].map((second) => ({
    value: fromNumber(second),
    isOther: false,
    isBeyond: true,
  }));
}
