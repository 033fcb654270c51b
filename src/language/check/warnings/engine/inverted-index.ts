// An inverted index of rules: each rule is indexed by one of its tests, a text that a value must equal or a
// range that must contain it. The rule alone determines the test, so rules are added and removed without
// moving others.

import type { Goal, Premise, Statement } from '../../logic/implication.ts';
import { trimmedList } from '../../logic/list-forms.ts';
import type { DomainAtom } from '../../logic/value-sets.ts';
import { areDisjointSets, type End, isEmpty, type Values } from '../../logic/value-sets.ts';
import { createRanges, type Ranges } from './ranges.ts';

interface WithStatement {
  readonly statement: Statement;
}

type Range = Extract<Values, { kind: 'range' }>;

/** Rules by the one test that indexes them; `rest` has the rules without such a test. */
export interface InvertedIndex<T> {
  readonly byTerm: Map<string, T[]>;
  readonly byRange: Map<string, RangePostings<T>>;
  rest: readonly T[];
  readonly all: Set<T>;
}

/** Rules indexed by ranges of one value; sorted on the first look-up. */
interface RangePostings<T> {
  items: readonly { readonly item: T; readonly range: Range }[];
  ordered: Ranges<T> | null;
}

/** The indexed rules about one set of actions; `delta` has those that the last change added or removed. */
export interface IndexedRules<T> {
  readonly index: InvertedIndex<T>;
  readonly delta: InvertedIndex<T>;
  /** The rules in `delta` that were removed. */
  readonly removed: ReadonlySet<T>;
  /** The generation of the last change; `previousChangeAt` is that of the change before. */
  readonly changedAt: number;
  readonly previousChangeAt: number;
}

/** The most texts that index one rule. */
const termsMax = 16;

export function emptyIndex<T extends WithStatement>(): IndexedRules<T> {
  return {
    index: buildIndex([]),
    delta: buildIndex([]),
    removed: new Set(),
    changedAt: 0,
    previousChangeAt: 0,
  };
}

/** Updates the index to exactly these rules. */
export function updateIndex<T extends WithStatement>(
  files: IndexedRules<T>,
  rules: readonly T[],
  generation: number,
): IndexedRules<T> {
  if (files.changedAt === generation) return files;
  const { index } = files;
  const added = rules.filter((one) => !index.all.has(one));
  if (added.length === 0 && rules.length === index.all.size) return files;
  if (added.length > rules.length / 2) {
    // When most rules are new, findings about the earlier ones save little.
    return {
      ...emptyIndex<T>(),
      index: buildIndex(rules),
      changedAt: generation,
      previousChangeAt: generation,
    };
  }
  const present = new Set(rules);
  const removed = [...index.all].filter((one) => !present.has(one));
  removeFromIndex(removed, index);
  addToIndex(added, index);
  return {
    index,
    delta: buildIndex([...added, ...removed]),
    removed: new Set(removed),
    changedAt: generation,
    previousChangeAt: files.changedAt,
  };
}

function buildIndex<T extends WithStatement>(rules: readonly T[]): InvertedIndex<T> {
  const filing: InvertedIndex<T> = { byTerm: new Map(), byRange: new Map(), rest: [], all: new Set() };
  addToIndex(rules, filing);
  return filing;
}

function addToIndex<T extends WithStatement>(rules: readonly T[], filing: InvertedIndex<T>): void {
  const rest = [...filing.rest];
  const ranged = new Map<string, { readonly item: T; readonly range: Range }[]>();
  for (const one of rules) {
    filing.all.add(one);
    const keys = indexKeysOf(one.statement);
    if (keys === null) rest.push(one);
    else if ('range' in keys) pushTo(ranged, keys.key, { item: one, range: keys.range });
    else for (const mark of keys.terms) pushTo(filing.byTerm, mark, one);
  }
  filing.rest = rest;
  for (const [key, items] of ranged) {
    filing.byRange.set(key, { items: [...(filing.byRange.get(key)?.items ?? []), ...items], ordered: null });
  }
}

function removeFromIndex<T extends WithStatement>(rules: readonly T[], filing: InvertedIndex<T>): void {
  const gone = new Set(rules);
  const marks = new Set<string>();
  const keys = new Set<string>();
  for (const one of rules) {
    filing.all.delete(one);
    const place = indexKeysOf(one.statement);
    if (place !== null && 'range' in place) keys.add(place.key);
    else for (const mark of place?.terms ?? []) marks.add(mark);
  }
  filing.rest = filing.rest.filter((one) => !gone.has(one));
  for (const mark of marks) {
    const left = filing.byTerm.get(mark)?.filter((one) => !gone.has(one)) ?? [];
    if (left.length === 0) filing.byTerm.delete(mark);
    else filing.byTerm.set(mark, left);
  }
  for (const key of keys) {
    const left = filing.byRange.get(key)?.items.filter(({ item }) => !gone.has(item)) ?? [];
    if (left.length === 0) filing.byRange.delete(key);
    else filing.byRange.set(key, { items: left, ordered: null });
  }
}

function pushTo<T>(map: Map<string, T[]>, key: string, item: T): void {
  const cached = map.get(key);
  if (cached === undefined) map.set(key, [item]);
  else cached.push(item);
}

type IndexKeys = { readonly terms: readonly string[] } | { readonly key: string; readonly range: Range };

/**
 * Returns the keys of a rule: those of a test of free text, which few rules share; else of a range with
 * two ends, a test of an enumeration or a range with one end. Null when the rule has no such test.
 */
function indexKeysOf(statement: Statement): IndexKeys | null {
  const { texts, ranges } = testsOf(statement);
  const fewest = (tests: readonly TextTest[]): TextTest | undefined =>
    tests.reduce<TextTest | undefined>(
      (least, one) => (least === undefined || one.terms.length < least.terms.length ? one : least),
      undefined,
    );
  const free = fewest(texts.filter(({ isFree }) => isFree));
  if (free !== undefined) return free;
  const band = ranges.find(({ range }) => range.low !== null && range.high !== null);
  return band ?? fewest(texts) ?? ranges[0] ?? null;
}

interface TextTest {
  /** One term for each text that passes the test. */
  readonly terms: readonly string[];
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
      if (passing !== null) texts.push({ terms: passing.map((text) => termOf(key, text)), isFree });
    } else if ((values.low === null) !== (values.high === null)) {
      const range = ranges.get(key) ?? { kind: 'range', low: null, high: null };
      // The denied values lie below the low end of the test, or above its high end.
      const { low, high } = range;
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
  if (denied.isComplement) return denied.texts.size <= termsMax ? [...denied.texts] : null;
  if (all.kind !== 'texts' || all.isComplement || all.texts.size > termsMax + denied.texts.size) return null;
  return [...all.texts].filter((text) => !denied.texts.has(text));
}

/** Returns the end as one that is included; `implies` decides whether it is. */
function closed(end: End | null): End | null {
  return end === null ? null : { value: end.value, isOpen: false };
}

/** Terms and ranges that may index rules that follow from a premise. */
interface QueryTerms {
  readonly terms: readonly string[];
  readonly ranges: readonly { readonly key: string; readonly range: Range }[];
}

/**
 * Where to look for rules that follow from a premise: one entry for the premise as a whole, and one for a
 * possible alternative of each `or`. Null when an `or` has no possible alternative.
 */
export type IndexQuery = readonly QueryTerms[] | null;

const readings = new WeakMap<Statement, IndexQuery>();

export function indexQueryOf(premise: Statement): IndexQuery {
  const cached = readings.get(premise);
  if (cached !== undefined) return cached;
  const reading = contextsOf(premise)?.map(queryTermsOf) ?? null;
  readings.set(premise, reading);
  return reading;
}

function contextsOf(premise: Statement): readonly Premise[] | null {
  const contexts: Premise[] = [premise];
  for (const alternatives of premise.branches) {
    const possible = alternatives.find(({ left }) => ![...left.values()].some(isEmpty));
    if (possible === undefined) return null;
    contexts.push(possible);
  }
  return contexts;
}

function queryTermsOf({ left }: Premise): QueryTerms {
  const marks: string[] = [];
  const ranges: { readonly key: string; readonly range: Range }[] = [];
  for (const [key, values] of left) {
    if (values.kind === 'range') ranges.push({ key, range: values });
    else if (!values.isComplement) {
      const [text] = values.texts;
      if (text !== undefined) marks.push(termOf(key, text));
    }
  }
  return { terms: trimmedList(marks), ranges: trimmedList(ranges) };
}

/**
 * Adds to `found` the rules that may follow, each once. Returns false as soon as there are more than `most`.
 */
export function lookUp<T>(
  filing: InvertedIndex<T>,
  reading: IndexQuery,
  matches: T[],
  most: number,
): boolean {
  if (matches.length + filing.rest.length > most) return false;
  if (reading === null && matches.length + filing.all.size > most) return false;
  for (const one of reading === null ? filing.all : filing.rest) matches.push(one);
  // With one place to look, no rule is found twice.
  const seen = reading !== null && reading.length > 1 ? new Set(matches) : null;
  const visit = (one: T): boolean => {
    if (seen?.has(one) === true) return true;
    seen?.add(one);
    matches.push(one);
    return matches.length <= most;
  };
  return (reading ?? []).every((list) => visitPostings(filing, list, visit));
}

function visitPostings<T>(
  { byTerm, byRange }: InvertedIndex<T>,
  { terms, ranges }: QueryTerms,
  visit: (one: T) => boolean,
): boolean {
  if (byTerm.size > 0) {
    for (const mark of terms) if (byTerm.get(mark)?.every(visit) === false) return false;
  }
  if (byRange.size > 0) {
    for (const { key, range } of ranges) if (!visitRanges(byRange.get(key), range, visit)) return false;
  }
  return true;
}

function visitRanges<T>(
  ranged: RangePostings<T> | undefined,
  range: Range,
  visit: (one: T) => boolean,
): boolean {
  if (ranged === undefined) return true;
  ranged.ordered ??= createRanges(ranged.items);
  return ranged.ordered.containing(range, visit);
}

export function termOf(key: string, text: string): string {
  return `${key}\n${text}`;
}
