// Finds which of many rules follow from a given rule and are about all its actions. An inverted index has each
// rule by one of its tests (see `emptyIndex`). Only rules whose test the given rule may pass are tried. INVARIANT: the result holds all rules that trying each would find, in one
// order, unless too many would have to be tried; what is kept between checks changes neither.

import { implies, type Statement } from '../../logic/implication.ts';
import {
  emptyIndex,
  type IndexedRules,
  indexQueryOf,
  lookUp,
  termOf,
  updateIndex,
} from './inverted-index.ts';
import type { RuleInPolicy } from './rule-in-policy.ts';
import type { ExaminedRule } from './rule-subjects.ts';
import { type RuleGroup, rulesByActions } from './rules-by-actions.ts';

export interface WithStatement {
  readonly actions: readonly string[];
  readonly statement: Statement;
}

/**
 * Returns the other rules that follow from a rule and are about all its actions; rules that need no listed
 * text come first.
 */
export type FindConsequences<T> = (premise: T) => readonly T[];

/** What is kept from one set of rules to the next. */
export interface IndexCache<T extends object> {
  /** The number of sets so far. */
  generation: number;
  /** Filed rules by set of actions; null when few rules are about the actions. */
  readonly groups: Map<readonly string[], IndexedRules<T> | null>;
  answers: WeakMap<T, Answer<T>>;
}

/** How many filed rules were tried for a premise, and which of them follow. */
interface Answer<T> {
  readonly generation: number;
  /** The number of rules tried; null when there were too many, so that none were tried. */
  readonly tried: number | null;
  readonly matches: readonly T[];
  /** The rules of `found` in order; null until first needed. */
  ordered: readonly T[] | null;
}

export function createIndexCache<T extends object>(): IndexCache<T> {
  return { generation: 0, groups: new Map(), answers: new WeakMap() };
}

/** Returns the index cache for a purpose, which is created on first use. */
export function rememberedIndex(
  purpose: string,
  { indices }: Pick<ExaminedRule, 'indices'>,
): IndexCache<RuleInPolicy> {
  // Only this function stores caches in `indices`.
  const index = indices.get(purpose) as IndexCache<RuleInPolicy> | undefined;
  if (index !== undefined) return index;
  const cache = createIndexCache<RuleInPolicy>();
  indices.set(purpose, cache);
  return cache;
}

/** The most rules about one set of actions that are tried one by one, without filing. */
const fewMax = 8;
/**
 * When more rules than this would have to be tried for a rule, that rule is skipped: a set may hold any
 * number of overlapping rules.
 */
export const triedMax = 256;

export function indexStatements<T extends WithStatement>(
  rules: readonly T[],
  cache: IndexCache<T> = createIndexCache(),
): FindConsequences<T> {
  const { groups, containing } = rulesByActions(rules);
  beginGeneration(groups, cache);
  const filesOf = (group: RuleGroup<T>): IndexedRules<T> => {
    const files = updateIndex(
      cache.groups.get(group.actions) ?? emptyIndex<T>(),
      group.rules,
      cache.generation,
    );
    cache.groups.set(group.actions, files);
    return files;
  };
  let places: ReadonlyMap<T, number> | null = null;
  return (premise) => {
    if (premise.statement.isEmpty) return [];
    const answer = findIn(containing(premise.actions), premise, filesOf, cache);
    if (answer.matches.length === 0) return answer.matches;
    if (answer.ordered === null) {
      places ??= new Map(rules.map((one, at) => [one, at] as const));
      answer.ordered = inOrder(answer.matches, premise.statement, places);
    }
    return answer.ordered;
  };
}

/**
 * Begins a new generation. Answers are kept only while the groups are the same, and the same groups are
 * filed.
 */
function beginGeneration<T extends WithStatement>(
  groups: readonly RuleGroup<T>[],
  cache: IndexCache<T>,
): void {
  cache.generation += 1;
  const { groups: before } = cache;
  const isFiled = ({ rules }: RuleGroup<T>): boolean => rules.length > fewMax;
  const isSame =
    groups.length === before.size &&
    groups.every((group) => {
      const files = before.get(group.actions);
      return files !== undefined && (files !== null) === isFiled(group);
    });
  if (isSame) return;
  cache.answers = new WeakMap();
  const byActions = new Map(before);
  before.clear();
  for (const group of groups) {
    const files = isFiled(group) ? (byActions.get(group.actions) ?? emptyIndex<T>()) : null;
    before.set(group.actions, files);
  }
}

function findIn<T extends WithStatement>(
  groups: readonly RuleGroup<T>[],
  premise: T,
  filesOf: (group: RuleGroup<T>) => IndexedRules<T>,
  cache: IndexCache<T>,
): Answer<T> {
  const { generation } = cache;
  const matches: T[] = [];
  const filed: IndexedRules<T>[] = [];
  let tried = 0;
  for (const group of groups) {
    if (group.rules.length > fewMax) {
      filed.push(filesOf(group));
      continue;
    }
    tried += group.rules.length;
    if (tried > triedMax) return tooMany(generation);
    for (const one of group.rules) {
      if (one !== premise && implies(premise.statement, one.statement)) matches.push(one);
    }
  }
  if (filed.length === 0) return { generation, tried, matches, ordered: null };
  const answer = answerOf(filed, premise, cache);
  if (answer.tried === null || answer.tried + tried > triedMax) return tooMany(generation);
  return matches.length === 0
    ? answer
    : { ...answer, matches: [...matches, ...answer.matches], ordered: null };
}

function tooMany(generation: number): Answer<never> {
  return { generation, tried: null, matches: [], ordered: null };
}

/**
 * Returns the previous answer, updated if each group's files changed at most once since; otherwise a new
 * answer.
 */
function answerOf<T extends WithStatement>(
  filed: readonly IndexedRules<T>[],
  premise: T,
  { answers, generation }: IndexCache<T>,
): Answer<T> {
  const before = answers.get(premise);
  const isFollowed =
    before !== undefined &&
    before.tried !== null &&
    filed.every(
      ({ changedAt, previousChangeAt }) => before.generation >= Math.min(changedAt, previousChangeAt),
    );
  const answer = isFollowed
    ? broughtUpToDate(before, filed, premise, generation)
    : newAnswer(filed, premise, generation);
  answers.set(premise, answer);
  return answer;
}

function newAnswer<T extends WithStatement>(
  filed: readonly IndexedRules<T>[],
  premise: T,
  generation: number,
): Answer<T> {
  const reading = indexQueryOf(premise.statement);
  const candidates: T[] = [];
  for (const { index } of filed) {
    if (!lookUp(index, reading, candidates, triedMax)) return tooMany(generation);
  }
  return { generation, tried: candidates.length, matches: followingOf(candidates, premise), ordered: null };
}

function broughtUpToDate<T extends WithStatement>(
  before: Answer<T>,
  filed: readonly IndexedRules<T>[],
  premise: T,
  generation: number,
): Answer<T> {
  const changed = filed.filter((files) => files.changedAt > before.generation);
  if (changed.length === 0 || before.tried === null) return { ...before, generation };
  const reading = indexQueryOf(premise.statement);
  const moved: T[] = [];
  for (const files of changed) lookUp(files.delta, reading, moved, Number.POSITIVE_INFINITY);
  if (moved.length === 0) return { ...before, generation };
  const gone = moved.filter((one) => changed.some((files) => files.removed.has(one)));
  const added = moved.filter((one) => !gone.includes(one));
  const tried = before.tried + added.length - gone.length;
  if (tried > triedMax) return tooMany(generation);
  const left = gone.length === 0 ? before.matches : before.matches.filter((one) => !gone.includes(one));
  const more = followingOf(added, premise);
  if (left === before.matches && more.length === 0) return { ...before, generation, tried };
  return { generation, tried, matches: [...left, ...more], ordered: null };
}

function followingOf<T extends WithStatement>(candidates: readonly T[], premise: T): readonly T[] {
  return candidates.filter((one) => one !== premise && implies(premise.statement, one.statement));
}

/**
 * Sorts the rules that follow. If the premise has no `or`, a rule whose first test is one of texts follows
 * only when the premise names such a text. Rules without such a test come first, the others in the order in
 * which the premise names their texts.
 */
function inOrder<T extends WithStatement>(
  matches: readonly T[],
  premise: Statement,
  places: ReadonlyMap<T, number>,
): readonly T[] {
  const positionOf = (one: T): number => places.get(one) ?? 0;
  if (premise.branches.length > 0) return matches.toSorted((a, b) => positionOf(a) - positionOf(b));
  const named = new Map<string, number>();
  for (const [key, values] of premise.left) {
    const [text] = values.kind === 'texts' && !values.isComplement ? values.texts : [];
    if (text !== undefined) named.set(termOf(key, text), named.size);
  }
  return matches
    .flatMap((one) => {
      const marks = firstTexts(one.statement);
      const mark = marks.find((each) => named.has(each));
      if (marks.length > 0 && mark === undefined) return [];
      return [{ one, rank: mark === undefined ? -1 : named.get(mark)! }];
    })
    .sort((a, b) => a.rank - b.rank || positionOf(a.one) - positionOf(b.one))
    .map(({ one }) => one);
}

/**
 * Returns marks of the texts of one value, of which a premise must name one for the statement to follow;
 * empty when the statement needs no listed text.
 */
function firstTexts({ goals }: Statement): readonly string[] {
  for (const { denial, ways } of goals) {
    const [only, ...others] = denial;
    if (only === undefined || others.length > 0 || ways.length > 0 || only.values.kind !== 'texts') continue;
    const { key, values } = only;
    if (values.isComplement) return [...values.texts].map((text) => termOf(key, text));
  }
  return [];
}
