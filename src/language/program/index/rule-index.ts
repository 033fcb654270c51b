// Finds the rules of an action that have to be tried for a request. Each rule is filed under the index key of
// its condition that holds least often. The rules found for the values of a request are tried; no other rule
// can take part. INVARIANT: a rule that takes part in a decision (a guard or a contribution to risk that is
// not false, any other rule that is true) is found, once, whatever is known of the request.

import { type List, takesPartUnknown } from '../../model/policy.ts';
import type { PlannedRule, Program } from '../program.ts';
import { type IndexKey, type IndexSubject, indexKeysOf, type KeyTest, partsOf } from './index-key.ts';
import { createPrefilter, type Prefilter } from './prefilter.ts';
import {
  createPrefixes,
  fileAll,
  findPrefixes,
  type Postings,
  type Prefixes,
  type PrefixPosting,
} from './prefixes.ts';
import { type BoundRule, createSegments, findInSegments, type Segments, shareOfEnds } from './segments.ts';

/**
 * Returns every rule of the action, sorted by id: the slow twin of the index. Empty when the action is not
 * declared.
 */
export function selectAll(program: Program, action: string): readonly PlannedRule[] {
  return program.actions.get(action)?.rules ?? [];
}

/**
 * The rules of one action, filed by what they require. A rule is identified by its place in the sorted order.
 */
export interface RuleIndex {
  /** The values to read from a request; nested indexes share them. */
  readonly subjects: readonly IndexSubject[];
  readonly postings: RulePostings;
  readonly prefilter: Prefilter;
}

interface RulePostings {
  /** The rules that are always tried. */
  readonly always: Int32Array;
  readonly bySubject: readonly SubjectPostings[];
}

/** The rules filed under one subject. */
interface SubjectPostings {
  /** The place of the subject in `subjects` of the index. */
  readonly subject: number;
  readonly texts: TextPostings | null;
  readonly prefixes: Prefixes | null;
  readonly segments: Segments | null;
  /**
   * The rules that can take part while the value is unknown, filed under other keys; null when there are
   * none.
   */
  readonly whenUnknown: RulePostings | null;
}

interface TextPostings {
  readonly indexes: ReadonlyMap<string, number>;
  readonly postings: Postings;
}

/** The most subjects of an index. More subjects are not worth reading for every request. */
const subjectsMax = 12;

/**
 * The largest share of requests for which an index key may hold. Keys that hold more often save too little.
 */
const shareMax = 0.5;

/**
 * The factor by which an index key must be rarer when its value may be unknown, because the rule then has to
 * be found in another way.
 */
const unknownWeight = 4;

/** Returns the index keys of a rule. */
export type KeysOf = (rule: PlannedRule) => readonly IndexKey[];

/** Returns the function that gives the index keys of rules that read these lists. */
export function keysBy(lists: ReadonlyMap<string, List>): KeysOf {
  return ({ condition }) => indexKeysOf(condition, lists);
}

/** Creates the index of an action's rules. */
export function createIndex(rules: readonly PlannedRule[], keysOf: KeysOf): RuleIndex {
  const entries = rules.map((rule, index): Entry => {
    return {
      rule: index,
      isNeededUnknown: takesPartUnknown(rule),
      indexKeys: keysOf(rule),
    };
  });
  const weighed = weigh(entries);
  const subjects = subjectsOf(weighed);
  const indexes = new Map(subjects.map(({ key }, at) => [key, at] as const));
  const filed = rules.map(({ condition }, at) => ({
    first: firstOf(weighed[at]!, indexes),
    indexKeys: entries[at]!.indexKeys,
    parts: partsOf(condition).length,
  }));
  return { subjects, postings: file(weighed, indexes), prefilter: createPrefilter(filed, indexes) };
}

/**
 * Writes the places of the rules to try into `found`, in no order, and returns how many there are. `found`
 * must have room for all rules. `values` are the values of the index's subjects; undefined or null when
 * unknown or absent.
 */
export function select(index: RuleIndex, values: readonly unknown[], matched: Int32Array): number {
  return selectFrom(index.postings, values, matched, 0);
}

function selectFrom(
  postings: RulePostings,
  values: readonly unknown[],
  matched: Int32Array,
  from: number,
): number {
  const { always, bySubject } = postings;
  let count = from;
  for (let at = 0; at < always.length; at += 1) {
    matched[count] = always[at]!;
    count += 1;
  }
  for (let at = 0; at < bySubject.length; at += 1) {
    const ofSubject = bySubject[at]!;
    const value = values[ofSubject.subject];
    if (value == null) {
      if (ofSubject.whenUnknown !== null) count = selectFrom(ofSubject.whenUnknown, values, matched, count);
    } else if (typeof value === 'number') {
      if (ofSubject.segments !== null) count = findInSegments(ofSubject.segments, value, matched, count);
    } else count = findText(ofSubject, value as string, matched, count);
  }
  return count;
}

function findText(ofSubject: SubjectPostings, text: string, matched: Int32Array, from: number): number {
  let count = from;
  if (ofSubject.texts !== null) count = copy(ofSubject.texts, text, matched, count);
  return ofSubject.prefixes === null ? count : findPrefixes(ofSubject.prefixes, text, matched, count);
}

function copy({ indexes, postings }: TextPostings, text: string, matched: Int32Array, from: number): number {
  const index = indexes.get(text);
  if (index === undefined) return from;
  let count = from;
  const to = postings.offsets[index + 1]!;
  for (let at = postings.offsets[index]!; at < to; at += 1) {
    matched[count] = postings.rules[at]!;
    count += 1;
  }
  return count;
}

interface Entry {
  readonly rule: number;
  /** Whether the rule takes part even while its condition is unknown. */
  readonly isNeededUnknown: boolean;
  readonly indexKeys: readonly IndexKey[];
}

interface WeighedEntry extends Entry {
  /** The index keys, those that hold least often first. */
  readonly indexKeys: readonly IndexKey[];
}

/**
 * Sorts each rule's index keys by how often they hold. The rules themselves are the only source for that
 * estimate.
 */
function weigh(entries: readonly Entry[]): readonly WeighedEntry[] {
  const shareOf = shares(entries);
  return entries.map((entry) => {
    const weighed = entry.indexKeys.map((indexKey) => {
      const mayEscape = entry.isNeededUnknown && indexKey.subject.mayBeUnknown && !indexKey.needsValue;
      const share = shareOf(indexKey);
      return { indexKey, share, weight: mayEscape ? share * unknownWeight : share };
    });
    const selective = weighed.filter(({ share }) => share <= shareMax).sort((a, b) => a.weight - b.weight);
    return { ...entry, indexKeys: selective.map(({ indexKey }) => indexKey) };
  });
}

/**
 * Estimates how often an index key holds: by how many rules name the same texts, or by how many bounds of
 * other rules lie within its bounds.
 */
function shares(entries: readonly Entry[]): (indexKey: IndexKey) => number {
  const texts = new Map<string, Map<string, number>>();
  const ends = new Map<string, number[]>();
  for (const { subject, test } of entries.flatMap(({ indexKeys }) => indexKeys)) {
    if (test.kind === 'bounds') {
      const rangeEnds = ends.get(subject.key) ?? [];
      ends.set(subject.key, rangeEnds);
      for (const end of [test.low, test.high]) if (Number.isFinite(end)) rangeEnds.push(end);
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

/** Returns the subjects under which most rules would be filed. */
function subjectsOf(entries: readonly WeighedEntry[]): readonly IndexSubject[] {
  const counts = new Map<string, { readonly subject: IndexSubject; count: number }>();
  for (const { indexKeys } of entries) {
    for (const [at, { subject }] of indexKeys.entries()) {
      const counted = counts.get(subject.key) ?? { subject, count: 0 };
      counts.set(subject.key, counted);
      // A first choice counts more than a key that is needed only when the first choice is unknown.
      counted.count += at === 0 ? 4 : 1;
    }
  }
  const sorted = [...counts.values()].sort((a, b) => b.count - a.count);
  return sorted.slice(0, subjectsMax).map(({ subject }) => subject);
}

/**
 * Files each rule under its first index key. When the value of that key may be unknown, the rule is also
 * filed in `whenUnknown`, under its next key.
 */
function file(entries: readonly WeighedEntry[], indexes: ReadonlyMap<string, number>): RulePostings {
  const always: number[] = [];
  const filed = new Map<string, IndexEntry[]>();
  for (const entry of entries) {
    const indexKey = firstOf(entry, indexes);
    if (indexKey === null) {
      always.push(entry.rule);
      continue;
    }
    const entries = filed.get(indexKey.subject.key) ?? [];
    filed.set(indexKey.subject.key, entries);
    entries.push({ entry, indexKey });
  }
  const bySubject = [...filed].map(([key, rules]) => createSubjectPostings(key, rules, indexes));
  return { always: Int32Array.from(always), bySubject };
}

/** Returns the key under which the rule is filed; null when the rule is always tried. */
function firstOf({ indexKeys }: WeighedEntry, indexes: ReadonlyMap<string, number>): IndexKey | null {
  return indexKeys.find(({ subject }) => indexes.has(subject.key)) ?? null;
}

interface IndexEntry {
  readonly entry: WeighedEntry;
  readonly indexKey: IndexKey;
}

function createSubjectPostings(
  key: string,
  filed: readonly IndexEntry[],
  indexes: ReadonlyMap<string, number>,
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
    subject: indexes.get(key)!,
    texts: createTextPostings(ofText),
    prefixes: ofPrefix.length === 0 ? null : createPrefixes(ofPrefix),
    segments: ofBounds.length === 0 ? null : createSegments(ofBounds),
    whenUnknown: escaping.length === 0 ? null : file(escaping, indexes),
  };
}

function createTextPostings(filed: readonly { rule: number; text: string }[]): TextPostings | null {
  if (filed.length === 0) return null;
  const indexes = new Map<string, number>();
  const postings = filed.map(({ rule, text }): PrefixPosting => {
    const index = indexes.get(text) ?? indexes.size;
    indexes.set(text, index);
    return { index, rule };
  });
  return { indexes, postings: fileAll(postings, indexes.size) };
}
