// Rules filed under one of their tests each: a text that a value must be, or a range in which it must lie. Under which
// one is said by the rule alone, so that rules come and go without moving the others.

import type { Goal, Known, Statement } from '../../logic/implication.ts';
import { trimmedList } from '../../logic/trimmed-list.ts';
import type { DomainAtom } from '../../logic/value-sets.ts';
import { areDisjointSets, type End, isEmpty, type Values } from '../../logic/value-sets.ts';
import { createRanges, type Ranges } from './ranges.ts';

interface WithStatement {
  readonly statement: Statement;
}

type Range = Extract<Values, { kind: 'range' }>;

/** The rules, each once. */
export interface Filing<T> {
  readonly byText: Map<string, T[]>;
  readonly byRange: Map<string, Ranged<T>>;
  rest: readonly T[];
  readonly all: Set<T>;
}

/** Put in order when asked for. */
interface Ranged<T> {
  items: readonly { readonly item: T; readonly range: Range }[];
  ordered: Ranges<T> | null;
}

/** The rules about one set of actions, and which of them have come and gone last. */
export interface Files<T> {
  readonly filing: Filing<T>;
  readonly moved: Filing<T>;
  /** Of those the ones that have gone. */
  readonly gone: ReadonlySet<T>;
  /** The generations of the last change and of the one before. */
  readonly changed: number;
  readonly changedBefore: number;
}

/** Texts under which one rule is filed, at most. */
const textsMax = 16;

export function emptyFiles<T extends WithStatement>(): Files<T> {
  return { filing: file([]), moved: file([]), gone: new Set(), changed: 0, changedBefore: 0 };
}

/** The files with these rules in them and no others. */
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
    // What was found among the old ones tells little.
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
 * Where a rule is filed: under a text that may be any other, which few rules share; else under a range with two ends, an
 * enumerated text or a range with one; null where it has no such test.
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
  /** Of those that pass it. */
  readonly marks: readonly string[];
  /** It is a test of free text. */
  readonly isFree: boolean;
}

interface Tests {
  readonly texts: readonly TextTest[];
  /** Of each value that must lie in a range, both ends together. */
  readonly ranges: readonly { readonly key: string; readonly range: Range }[];
}

/** Tests of one value that what the rule follows from must pass; those that everything passes say nothing. */
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
      // The denial lies below where the test begins, or above where it ends.
      const { low, high } = known;
      ranges.set(key, { kind: 'range', low: low ?? closed(values.high), high: high ?? closed(values.low) });
    }
  }
  return { texts, ranges: [...ranges].map(([key, range]) => ({ key, range })) };
}

/** A let holds just where what it stands for does; alternatives are several ways. */
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

/** Whether an end is in the range or not is left to `implies`. */
function closed(end: End | null): End | null {
  return end === null ? null : { value: end.value, isOpen: false };
}

/** Where to look for what may follow from a premise. */
interface Look {
  readonly marks: readonly string[];
  readonly ranges: readonly { readonly key: string; readonly range: Range }[];
}

/** Where a statement is filed: by what a premise says alone and in one alternative of each choice; null where an alternative is impossible. */
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

/** Adds to `found` the rules that may follow, each once; false as soon as there are more than `most`. */
export function filedUnder<T>(
  filing: Filing<T>,
  reading: StatementReading,
  found: T[],
  most: number,
): boolean {
  if (found.length + filing.rest.length > most) return false;
  if (reading === null && found.length + filing.all.size > most) return false;
  for (const one of reading === null ? filing.all : filing.rest) found.push(one);
  // Under one reading a rule is found in one way.
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
