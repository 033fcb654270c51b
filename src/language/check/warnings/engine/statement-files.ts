// An inverted index of rules: each rule is indexed by one of its tests, a text that a value must equal or a
// range that must contain it. The rule alone determines the test, so rules are added and removed without
// moving others.

import type { Goal, Known, Statement } from '../../logic/implication.ts';
import { trimmedList } from '../../logic/list-forms.ts';
import type { DomainAtom } from '../../logic/value-sets.ts';
import { areDisjointSets, type End, isEmpty, type Values } from '../../logic/value-sets.ts';
import { createRanges, type Ranges } from './ranges.ts';

interface WithStatement {
  readonly statement: Statement;
}

type Range = Extract<Values, { kind: 'range' }>;

/** Rules by the one test that indexes them; `rest` has the rules without such a test. */
export interface Filing<T> {
  readonly byText: Map<string, T[]>;
  readonly byRange: Map<string, Ranged<T>>;
  rest: readonly T[];
  readonly all: Set<T>;
}

/** Rules indexed by ranges of one value; sorted on the first look-up. */
interface Ranged<T> {
  items: readonly { readonly item: T; readonly range: Range }[];
  ordered: Ranges<T> | null;
}

/** The indexed rules about one set of actions; `moved` has those that the last change added or removed. */
export interface Files<T> {
  readonly filing: Filing<T>;
  readonly moved: Filing<T>;
  /** The rules in `moved` that were removed. */
  readonly gone: ReadonlySet<T>;
  /** The generation of the last change; `changedBefore` is that of the change before. */
  readonly changed: number;
  readonly changedBefore: number;
}

/** The most texts that index one rule. */
const textsMax = 16;

export function emptyFiles<T extends WithStatement>(): Files<T> {
  return { filing: file([]), moved: file([]), gone: new Set(), changed: 0, changedBefore: 0 };
}

/** Updates the index to exactly these rules. */
export function refile<T extends WithStatement>(
  files: Files<T>,
  rules: readonly T[],
  generation: number,
): Files<T> {
  if (files.changed === generation) return files;
  const { filing } = files;
  const added = rules.filter((one) => !filing.all.has(one));
  if (added.length === 0 && rules.length === filing.all.size) return files;
  if (added.length > rules.length / 2) {
    // When most rules are new, findings about the earlier ones save little.
    return { ...emptyFiles<T>(), filing: file(rules), changed: generation, changedBefore: generation };
  }
  const present = new Set(rules);
  const removed = [...filing.all].filter((one) => !present.has(one));
  takeOut(removed, filing);
  putIn(added, filing);
  return {
    filing,
    moved: file([...added, ...removed]),
    gone: new Set(removed),
    changed: generation,
    changedBefore: files.changed,
  };
}

function file<T extends WithStatement>(rules: readonly T[]): Filing<T> {
  const filing: Filing<T> = { byText: new Map(), byRange: new Map(), rest: [], all: new Set() };
  putIn(rules, filing);
  return filing;
}

function putIn<T extends WithStatement>(rules: readonly T[], filing: Filing<T>): void {
  const rest = [...filing.rest];
  const ranged = new Map<string, { readonly item: T; readonly range: Range }[]>();
  for (const one of rules) {
    filing.all.add(one);
    const place = placeFor(one.statement);
    if (place === null) rest.push(one);
    else if ('range' in place) pushTo(ranged, place.key, { item: one, range: place.range });
    else for (const mark of place.marks) pushTo(filing.byText, mark, one);
  }
  filing.rest = rest;
  for (const [key, items] of ranged) {
    filing.byRange.set(key, { items: [...(filing.byRange.get(key)?.items ?? []), ...items], ordered: null });
  }
}

function takeOut<T extends WithStatement>(rules: readonly T[], filing: Filing<T>): void {
  const gone = new Set(rules);
  const marks = new Set<string>();
  const keys = new Set<string>();
  for (const one of rules) {
    filing.all.delete(one);
    const place = placeFor(one.statement);
    if (place !== null && 'range' in place) keys.add(place.key);
    else for (const mark of place?.marks ?? []) marks.add(mark);
  }
  filing.rest = filing.rest.filter((one) => !gone.has(one));
  for (const mark of marks) {
    const left = filing.byText.get(mark)?.filter((one) => !gone.has(one)) ?? [];
    if (left.length === 0) filing.byText.delete(mark);
    else filing.byText.set(mark, left);
  }
  for (const key of keys) {
    const left = filing.byRange.get(key)?.items.filter(({ item }) => !gone.has(item)) ?? [];
    if (left.length === 0) filing.byRange.delete(key);
    else filing.byRange.set(key, { items: left, ordered: null });
  }
}

function pushTo<T>(map: Map<string, T[]>, key: string, item: T): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [item]);
  else known.push(item);
}

type Place = { readonly marks: readonly string[] } | { readonly key: string; readonly range: Range };

/**
 * Returns the keys of a rule: those of a test of free text, which few rules share; else of a range with
 * two ends, a test of an enumeration or a range with one end. Null when the rule has no such test.
 */
function placeFor(statement: Statement): Place | null {
  const { texts, ranges } = testsOf(statement);
  const fewest = (tests: readonly TextTest[]): TextTest | undefined =>
    tests.reduce<TextTest | undefined>(
      (least, one) => (least === undefined || one.marks.length < least.marks.length ? one : least),
      undefined,
    );
  const free = fewest(texts.filter(({ isFree }) => isFree));
  if (free !== undefined) return free;
  const band = ranges.find(({ range }) => range.low !== null && range.high !== null);
  return band ?? fewest(texts) ?? ranges[0] ?? null;
}

interface TextTest {
  /** One term for each text that passes the test. */
  readonly marks: readonly string[];
  /** Whether the test is one of free text. */
  readonly isFree: boolean;
}

interface Tests {
  readonly texts: readonly TextTest[];
  /** The range of each value that must lie in one, its two ends together. */
  readonly ranges: readonly { readonly key: string; readonly range: Range }[];
}

/**
 * Returns the tests of one value that a premise must pass for the rule to follow. Tests that every value
 * passes are left out.
 */
function testsOf({ goals }: Statement): Tests {
  const texts: TextTest[] = [];
  const ranges = new Map<string, Range>();
  for (const goal of goals.flatMap(goalsBehindLet)) {
    const atom = testOf(goal);
    if (atom === null) continue;
    const { key, values, all } = atom;
    if (values.kind === 'texts') {
      const passing = passingTexts(values, all);
      const isFree = all.kind === 'texts' && all.isComplement;
      if (passing !== null) texts.push({ marks: passing.map((text) => statementMark(key, text)), isFree });
    } else if ((values.low === null) !== (values.high === null)) {
      const known = ranges.get(key) ?? { kind: 'range', low: null, high: null };
      // The denied values lie below the low end of the test, or above its high end.
      const { low, high } = known;
      ranges.set(key, { kind: 'range', low: low ?? closed(values.high), high: high ?? closed(values.low) });
    }
  }
  return { texts, ranges: [...ranges].map(([key, range]) => ({ key, range })) };
}

/**
 * Replaces the goal of a let by the goals of its expression, which hold exactly when the let does. Goals with
 * alternatives stay.
 */
function goalsBehindLet(goal: Goal): readonly Goal[] {
  const [only, ...others] = goal.ways;
  return only === undefined || others.length > 0 ? [goal] : only.flatMap(goalsBehindLet);
}

function testOf({ isTest, denial, ways }: Goal): DomainAtom | null {
  const [only, ...others] = denial;
  if (!isTest || only === undefined || others.length > 0 || ways.length > 0) return null;
  return areDisjointSets(only.all, only.values) ? null : only;
}

function passingTexts(denied: Extract<Values, { kind: 'texts' }>, all: Values): readonly string[] | null {
  if (denied.isComplement) return denied.texts.size <= textsMax ? [...denied.texts] : null;
  if (all.kind !== 'texts' || all.isComplement || all.texts.size > textsMax + denied.texts.size) return null;
  return [...all.texts].filter((text) => !denied.texts.has(text));
}

/** Returns the end as one that is included; `implies` decides whether it is. */
function closed(end: End | null): End | null {
  return end === null ? null : { value: end.value, isOpen: false };
}

/** Terms and ranges that may index rules that follow from a premise. */
interface Look {
  readonly marks: readonly string[];
  readonly ranges: readonly { readonly key: string; readonly range: Range }[];
}

/**
 * Where to look for rules that follow from a premise: one entry for the premise as a whole, and one for a
 * possible alternative of each `or`. Null when an `or` has no possible alternative.
 */
export type StatementReading = readonly Look[] | null;

const readings = new WeakMap<Statement, StatementReading>();

export function readingOf(premise: Statement): StatementReading {
  const known = readings.get(premise);
  if (known !== undefined) return known;
  const reading = contextsOf(premise)?.map(lookOf) ?? null;
  readings.set(premise, reading);
  return reading;
}

function contextsOf(premise: Statement): readonly Known[] | null {
  const contexts: Known[] = [premise];
  for (const alternatives of premise.branches) {
    const possible = alternatives.find(({ left }) => ![...left.values()].some(isEmpty));
    if (possible === undefined) return null;
    contexts.push(possible);
  }
  return contexts;
}

function lookOf({ left }: Known): Look {
  const marks: string[] = [];
  const ranges: { readonly key: string; readonly range: Range }[] = [];
  for (const [key, values] of left) {
    if (values.kind === 'range') ranges.push({ key, range: values });
    else if (!values.isComplement) {
      const [text] = values.texts;
      if (text !== undefined) marks.push(statementMark(key, text));
    }
  }
  return { marks: trimmedList(marks), ranges: trimmedList(ranges) };
}

/**
 * Adds to `found` the rules that may follow, each once. Returns false as soon as there are more than `most`.
 */
export function filedUnder<T>(
  filing: Filing<T>,
  reading: StatementReading,
  found: T[],
  most: number,
): boolean {
  if (found.length + filing.rest.length > most) return false;
  if (reading === null && found.length + filing.all.size > most) return false;
  for (const one of reading === null ? filing.all : filing.rest) found.push(one);
  // With one place to look, no rule is found twice.
  const seen = reading !== null && reading.length > 1 ? new Set(found) : null;
  const visit = (one: T): boolean => {
    if (seen?.has(one) === true) return true;
    seen?.add(one);
    found.push(one);
    return found.length <= most;
  };
  return (reading ?? []).every((look) => visitFiled(filing, look, visit));
}

function visitFiled<T>(
  { byText, byRange }: Filing<T>,
  { marks, ranges }: Look,
  visit: (one: T) => boolean,
): boolean {
  if (byText.size > 0) {
    for (const mark of marks) if (byText.get(mark)?.every(visit) === false) return false;
  }
  if (byRange.size > 0) {
    for (const { key, range } of ranges) if (!visitRanges(byRange.get(key), range, visit)) return false;
  }
  return true;
}

function visitRanges<T>(ranged: Ranged<T> | undefined, range: Range, visit: (one: T) => boolean): boolean {
  if (ranged === undefined) return true;
  ranged.ordered ??= createRanges(ranged.items);
  return ranged.ordered.containing(range, visit);
}

export function statementMark(key: string, text: string): string {
  return `${key}\n${text}`;
}
