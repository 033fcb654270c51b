// Which rules of an action have to be tried for a request. Each rule is filed under the one index key of its condition
// that holds least often; the rules found for the values of a request are tested, all others cannot take part.
// INVARIANT: a rule that takes part in a decision (a guard or a contribution to risk that is not false, any other rule
// that is true) is found, once, whatever is known of the request.

import { type List, takesPartUnknown } from '../../model/policy.ts';
import type { PlannedRule, Program } from '../program.ts';
import { type IndexKey, type IndexSubject, indexKeysOf, type KeyTest, partsOf } from './index-key.ts';
import { fileAll, type Posting, type Postings } from './postings.ts';
import { createPrefilter, type Prefilter } from './prefilter.ts';
import { createPrefixes, findPrefixes, type Prefixes } from './prefixes.ts';
import { type BoundRule, createSegments, findInSegments, type Segments, shareOfEnds } from './segments.ts';

/** Every rule of the action, sorted by id: the slow twin of the index. None for an action that is not declared. */
export function selectAll(program: Program, action: string): readonly PlannedRule[] {
  return program.actions.get(action)?.rules ?? [];
}

/** The rules of one action, told by their places in the sorted order, filed by what they ask. */
export interface RuleIndex {
  /** What has to be read of a request; shared by the indexes within. */
  readonly subjects: readonly IndexSubject[];
  readonly postings: RulePostings;
  readonly prefilter: Prefilter;
}

interface RulePostings {
  /** Rules that are always tried. */
  readonly always: Int32Array;
  readonly bySubject: readonly SubjectPostings[];
}

/** The rules filed under one subject. */
interface SubjectPostings {
  /** Its place among the subjects. */
  readonly subject: number;
  readonly texts: TextPostings | null;
  readonly prefixes: Prefixes | null;
  readonly segments: Segments | null;
  /** Those that can take part while the value is unknown, filed under something else; null where there are none. */
  readonly whenUnknown: RulePostings | null;
}

interface TextPostings {
  readonly places: ReadonlyMap<string, number>;
  readonly postings: Postings;
}

/** More subjects than this are not worth reading for every request. */
const subjectsMax = 12;

/** An index key that holds more often than this saves too little. */
const shareMax = 0.5;

/** How much rarer an index key has to hold that may be unknown, as the rule then has to be found another way. */
const unknownWeight = 4;

/** What a rule can be filed under. */
export type KeysOf = (rule: PlannedRule) => readonly IndexKey[];

/** Of rules that read these lists. */
export function keysBy(lists: ReadonlyMap<string, List>): KeysOf {
  return ({ condition }) => indexKeysOf(condition, lists);
}

/** Files the rules of an action. */
export function createIndex(rules: readonly PlannedRule[], keysOf: KeysOf): RuleIndex {
  const entries = rules.map((rule, place): Entry => {
    return {
      rule: place,
      isNeededUnknown: takesPartUnknown(rule),
      indexKeys: keysOf(rule),
    };
  });
  const weighed = weigh(entries);
  const subjects = subjectsOf(weighed);
  const places = new Map(subjects.map(({ key }, at) => [key, at] as const));
  const filed = rules.map(({ condition }, at) => ({
    first: firstOf(weighed[at]!, places),
    indexKeys: entries[at]!.indexKeys,
    parts: partsOf(condition).length,
  }));
  return { subjects, postings: file(weighed, places), prefilter: createPrefilter(filed, places) };
}

/**
 * The rules to try, in no order, into `found`, which has room for all; returns how many there are. `values` are those
 * of the index's subjects: undefined or null where unknown or absent.
 */
export function select(index: RuleIndex, values: readonly unknown[], found: Int32Array): number {
  return selectFrom(index.postings, values, found, 0);
}

function selectFrom(
  postings: RulePostings,
  values: readonly unknown[],
  found: Int32Array,
  from: number,
): number {
  const { always, bySubject } = postings;
  let count = from;
  for (let at = 0; at < always.length; at += 1) {
    found[count] = always[at]!;
    count += 1;
  }
  for (let at = 0; at < bySubject.length; at += 1) {
    const ofSubject = bySubject[at]!;
    const value = values[ofSubject.subject];
    if (value == null) {
      if (ofSubject.whenUnknown !== null) count = selectFrom(ofSubject.whenUnknown, values, found, count);
    } else if (typeof value === 'number') {
      if (ofSubject.segments !== null) count = findInSegments(ofSubject.segments, value, found, count);
    } else count = findText(ofSubject, value as string, found, count);
  }
  return count;
}

function findText(ofSubject: SubjectPostings, text: string, found: Int32Array, from: number): number {
  let count = from;
  if (ofSubject.texts !== null) count = copy(ofSubject.texts, text, found, count);
  return ofSubject.prefixes === null ? count : findPrefixes(ofSubject.prefixes, text, found, count);
}

function copy({ places, postings }: TextPostings, text: string, found: Int32Array, from: number): number {
  const place = places.get(text);
  if (place === undefined) return from;
  let count = from;
  const to = postings.offsets[place + 1]!;
  for (let at = postings.offsets[place]!; at < to; at += 1) {
    found[count] = postings.rules[at]!;
    count += 1;
  }
  return count;
}

interface Entry {
  readonly rule: number;
  /** Takes part also while its condition is unknown. */
  readonly isNeededUnknown: boolean;
  readonly indexKeys: readonly IndexKey[];
}

interface WeighedEntry extends Entry {
  /** Those that hold less often come first. */
  readonly indexKeys: readonly IndexKey[];
}

/** Sorts each rule's index keys by how often they hold, which the rules themselves have to tell. */
function weigh(entries: readonly Entry[]): readonly WeighedEntry[] {
  const shareOf = shares(entries);
  return entries.map((entry) => {
    const weighed = entry.indexKeys.map((indexKey) => {
      const mayEscape = entry.isNeededUnknown && indexKey.subject.mayBeUnknown && !indexKey.needsValue;
      const share = shareOf(indexKey);
      return { indexKey, share, weight: mayEscape ? share * unknownWeight : share };
    });
    const kept = weighed.filter(({ share }) => share <= shareMax).sort((a, b) => a.weight - b.weight);
    return { ...entry, indexKeys: kept.map(({ indexKey }) => indexKey) };
  });
}

/** How often an index key holds: as often as rules name the same texts, or as many ends lie within its bounds. */
function shares(entries: readonly Entry[]): (indexKey: IndexKey) => number {
  const texts = new Map<string, Map<string, number>>();
  const ends = new Map<string, number[]>();
  for (const { subject, test } of entries.flatMap(({ indexKeys }) => indexKeys)) {
    if (test.kind === 'bounds') {
      const known = ends.get(subject.key) ?? [];
      ends.set(subject.key, known);
      for (const end of [test.low, test.high]) if (Number.isFinite(end)) known.push(end);
      continue;
    }
    const counts = texts.get(subject.key) ?? new Map<string, number>();
    texts.set(subject.key, counts);
    for (const text of textsOf(test)) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const sorted = new Map(
    [...ends].map(([key, numbers]) => [key, Float64Array.from(numbers).sort()] as const),
  );
  const totals = new Map(
    [...texts].map(
      ([key, counts]) => [key, [...counts.values()].reduce((sum, count) => sum + count, 1)] as const,
    ),
  );
  return ({ subject, test }) => {
    if (test.kind === 'bounds') return shareOfEnds(sorted.get(subject.key)!, test);
    const counts = texts.get(subject.key)!;
    const named = textsOf(test).reduce((sum, text) => sum + counts.get(text)!, 0);
    return named / totals.get(subject.key)!;
  };
}

function textsOf(test: Exclude<KeyTest, { kind: 'bounds' }>): readonly string[] {
  return test.kind === 'texts' ? test.texts : [test.prefix];
}

/** The subjects under which most rules would be filed. */
function subjectsOf(entries: readonly WeighedEntry[]): readonly IndexSubject[] {
  const counts = new Map<string, { readonly subject: IndexSubject; count: number }>();
  for (const { indexKeys } of entries) {
    for (const [at, { subject }] of indexKeys.entries()) {
      const known = counts.get(subject.key) ?? { subject, count: 0 };
      counts.set(subject.key, known);
      // A first choice counts more than what is left when it is unknown.
      known.count += at === 0 ? 4 : 1;
    }
  }
  const sorted = [...counts.values()].sort((a, b) => b.count - a.count);
  return sorted.slice(0, subjectsMax).map(({ subject }) => subject);
}

/** Each rule under its first index key; where that may be unknown, also among those of `whenUnknown` under the next. */
function file(entries: readonly WeighedEntry[], places: ReadonlyMap<string, number>): RulePostings {
  const always: number[] = [];
  const filed = new Map<string, Filed[]>();
  for (const entry of entries) {
    const indexKey = firstOf(entry, places);
    if (indexKey === null) {
      always.push(entry.rule);
      continue;
    }
    const known = filed.get(indexKey.subject.key) ?? [];
    filed.set(indexKey.subject.key, known);
    known.push({ entry, indexKey });
  }
  const bySubject = [...filed].map(([key, rules]) => createSubjectPostings(key, rules, places));
  return { always: Int32Array.from(always), bySubject };
}

/** What the rule is filed under; null where it is always tried. */
function firstOf({ indexKeys }: WeighedEntry, places: ReadonlyMap<string, number>): IndexKey | null {
  return indexKeys.find(({ subject }) => places.has(subject.key)) ?? null;
}

interface Filed {
  readonly entry: WeighedEntry;
  readonly indexKey: IndexKey;
}

function createSubjectPostings(
  key: string,
  filed: readonly Filed[],
  places: ReadonlyMap<string, number>,
): SubjectPostings {
  const ofText: { rule: number; text: string }[] = [];
  const ofPrefix: { rule: number; text: string }[] = [];
  const ofBounds: BoundRule[] = [];
  const escaping: WeighedEntry[] = [];
  for (const { entry, indexKey } of filed) {
    const { rule } = entry;
    const { test, subject, needsValue } = indexKey;
    if (test.kind === 'texts') for (const text of test.texts) ofText.push({ rule, text });
    else if (test.kind === 'prefix') ofPrefix.push({ rule, text: test.prefix });
    else ofBounds.push({ rule, bounds: test });
    if (!entry.isNeededUnknown || !subject.mayBeUnknown || needsValue) continue;
    escaping.push({ ...entry, indexKeys: entry.indexKeys.filter((other) => other.subject.key !== key) });
  }
  return {
    subject: places.get(key)!,
    texts: createTextPostings(ofText),
    prefixes: ofPrefix.length === 0 ? null : createPrefixes(ofPrefix),
    segments: ofBounds.length === 0 ? null : createSegments(ofBounds),
    whenUnknown: escaping.length === 0 ? null : file(escaping, places),
  };
}

function createTextPostings(filed: readonly { rule: number; text: string }[]): TextPostings | null {
  if (filed.length === 0) return null;
  const places = new Map<string, number>();
  const postings = filed.map(({ rule, text }): Posting => {
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    return { place, rule };
  });
  return { places, postings: fileAll(postings, places.size) };
}
