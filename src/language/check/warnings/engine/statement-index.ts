// Which of many rules follow from a given one and speak of all its actions. Each rule is filed under one of its tests, a
// text that a value must be or a range in which it must lie, so that only those are tried whose test the given one may
// pass. INVARIANT: none is left out that trying all of them would find, unless too many would have to be tried, and
// they come in one order; what is remembered changes neither.

import { implies, type Statement } from '../../logic/implication.ts';
import type { ExaminedRule } from './examined.ts';
import type { RuleInPolicy } from './rule-in-policy.ts';
import { type RuleGroup, rulesByActions } from './rules-by-actions.ts';
import { emptyFiles, type Files, filedUnder, readingOf, refile, statementMark } from './statement-files.ts';

export interface WithStatement {
  readonly actions: readonly string[];
  readonly statement: Statement;
}

/** The other rules about all actions of one that follow from it, those that anything may lead to first. */
export type Following<T> = (premise: T) => readonly T[];

/** What is remembered from one set of rules to the next. */
export interface IndexCache<T extends object> {
  /** How many sets there have been. */
  generation: number;
  /** By set of actions; null where there are few rules about it. */
  readonly groups: Map<readonly string[], Files<T> | null>;
  answers: WeakMap<T, Answer<T>>;
}

/** What of the filed rules was tried for one, and what followed from it. */
interface Answer<T> {
  readonly generation: number;
  /** How many were tried; null: too many, so that none were. */
  readonly tried: number | null;
  readonly found: readonly T[];
  /** In their order, once that has been asked for. */
  ordered: readonly T[] | null;
}

export function createIndexCache<T extends object>(): IndexCache<T> {
  return { generation: 0, groups: new Map(), answers: new WeakMap() };
}

/** The cache of an index that is asked for this. */
export function rememberedIndex(
  purpose: string,
  { indices }: Pick<ExaminedRule, 'indices'>,
): IndexCache<RuleInPolicy> {
  // What is kept for a purpose is always made here.
  const known = indices.get(purpose) as IndexCache<RuleInPolicy> | undefined;
  if (known !== undefined) return known;
  const cache = createIndexCache<RuleInPolicy>();
  indices.set(purpose, cache);
  return cache;
}

/** Rules of one set of actions that are tried one by one. */
const fewMax = 8;
/** A rule for which more would have to be tried is not looked at: a set may hold as many as it likes of those that overlap. */
export const triedMax = 256;

export function indexStatements<T extends WithStatement>(
  rules: readonly T[],
  cache: IndexCache<T> = createIndexCache(),
): Following<T> {
  const { groups, containing } = rulesByActions(rules);
  beginGeneration(groups, cache);
  const filesOf = (group: RuleGroup<T>): Files<T> => {
    const files = refile(cache.groups.get(group.actions) ?? emptyFiles<T>(), group.rules, cache.generation);
    cache.groups.set(group.actions, files);
    return files;
  };
  let places: ReadonlyMap<T, number> | null = null;
  return (premise) => {
    if (premise.statement.isEmpty) return [];
    const answer = findIn(containing(premise.actions), premise, filesOf, cache);
    if (answer.found.length === 0) return answer.found;
    if (answer.ordered === null) {
      places ??= new Map(rules.map((one, at) => [one, at] as const));
      answer.ordered = inOrder(answer.found, premise.statement, places);
    }
    return answer.ordered;
  };
}

/** Answers hold only beside the same groups, filed or not as before. */
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
  const known = new Map(before);
  before.clear();
  for (const group of groups) {
    const files = isFiled(group) ? (known.get(group.actions) ?? emptyFiles<T>()) : null;
    before.set(group.actions, files);
  }
}

function findIn<T extends WithStatement>(
  groups: readonly RuleGroup<T>[],
  premise: T,
  filesOf: (group: RuleGroup<T>) => Files<T>,
  cache: IndexCache<T>,
): Answer<T> {
  const { generation } = cache;
  const found: T[] = [];
  const filed: Files<T>[] = [];
  let tried = 0;
  for (const group of groups) {
    if (group.rules.length > fewMax) {
      filed.push(filesOf(group));
      continue;
    }
    tried += group.rules.length;
    if (tried > triedMax) return tooMany(generation);
    for (const one of group.rules) {
      if (one !== premise && implies(premise.statement, one.statement)) found.push(one);
    }
  }
  if (filed.length === 0) return { generation, tried, found, ordered: null };
  const answer = answerOf(filed, premise, cache);
  if (answer.tried === null || answer.tried + tried > triedMax) return tooMany(generation);
  return found.length === 0 ? answer : { ...answer, found: [...found, ...answer.found], ordered: null };
}

function tooMany(generation: number): Answer<never> {
  return { generation, tried: null, found: [], ordered: null };
}

/** The previous answer, brought up to date where the files have changed once since; else a new one. */
function answerOf<T extends WithStatement>(
  filed: readonly Files<T>[],
  premise: T,
  { answers, generation }: IndexCache<T>,
): Answer<T> {
  const before = answers.get(premise);
  const isFollowed =
    before !== undefined &&
    before.tried !== null &&
    filed.every(({ changed, changedBefore }) => before.generation >= Math.min(changed, changedBefore));
  const answer = isFollowed
    ? broughtUpToDate(before, filed, premise, generation)
    : newAnswer(filed, premise, generation);
  answers.set(premise, answer);
  return answer;
}

function newAnswer<T extends WithStatement>(
  filed: readonly Files<T>[],
  premise: T,
  generation: number,
): Answer<T> {
  const reading = readingOf(premise.statement);
  const candidates: T[] = [];
  for (const { filing } of filed) {
    if (!filedUnder(filing, reading, candidates, triedMax)) return tooMany(generation);
  }
  return { generation, tried: candidates.length, found: followingOf(candidates, premise), ordered: null };
}

function broughtUpToDate<T extends WithStatement>(
  before: Answer<T>,
  filed: readonly Files<T>[],
  premise: T,
  generation: number,
): Answer<T> {
  const changed = filed.filter((files) => files.changed > before.generation);
  if (changed.length === 0 || before.tried === null) return { ...before, generation };
  const reading = readingOf(premise.statement);
  const moved: T[] = [];
  for (const files of changed) filedUnder(files.moved, reading, moved, Number.POSITIVE_INFINITY);
  if (moved.length === 0) return { ...before, generation };
  const gone = moved.filter((one) => changed.some((files) => files.gone.has(one)));
  const added = moved.filter((one) => !gone.includes(one));
  const tried = before.tried + added.length - gone.length;
  if (tried > triedMax) return tooMany(generation);
  const left = gone.length === 0 ? before.found : before.found.filter((one) => !gone.includes(one));
  const more = followingOf(added, premise);
  if (left === before.found && more.length === 0) return { ...before, generation, tried };
  return { generation, tried, found: [...left, ...more], ordered: null };
}

function followingOf<T extends WithStatement>(candidates: readonly T[], premise: T): readonly T[] {
  return candidates.filter((one) => one !== premise && implies(premise.statement, one.statement));
}

/**
 * Without choices in the premise, a rule whose first test is one for texts follows only where the premise names such a
 * text; those without come first, the others in the order in which the premise names their texts.
 */
function inOrder<T extends WithStatement>(
  found: readonly T[],
  premise: Statement,
  places: ReadonlyMap<T, number>,
): readonly T[] {
  const placeOf = (one: T): number => places.get(one) ?? 0;
  if (premise.branches.length > 0) return found.toSorted((a, b) => placeOf(a) - placeOf(b));
  const named = new Map<string, number>();
  for (const [key, values] of premise.left) {
    const [text] = values.kind === 'texts' && !values.isComplement ? values.texts : [];
    if (text !== undefined) named.set(statementMark(key, text), named.size);
  }
  return found
    .flatMap((one) => {
      const marks = firstTexts(one.statement);
      const mark = marks.find((each) => named.has(each));
      if (marks.length > 0 && mark === undefined) return [];
      return [{ one, rank: mark === undefined ? -1 : named.get(mark)! }];
    })
    .sort((a, b) => a.rank - b.rank || placeOf(a.one) - placeOf(b.one))
    .map(({ one }) => one);
}

/** Texts of one key, one of which a premise must name for the statement to follow; none where it is open. */
function firstTexts({ goals }: Statement): readonly string[] {
  for (const { denial, ways } of goals) {
    const [only, ...others] = denial;
    if (only === undefined || others.length > 0 || ways.length > 0 || only.values.kind !== 'texts') continue;
    const { key, values } = only;
    if (values.isComplement) return [...values.texts].map((text) => statementMark(key, text));
  }
  return [];
}
