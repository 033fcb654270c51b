// Which of many rules follow from a given one and speak of all its actions. Each rule is filed under its rarest test, a
// text that a value must be or a range in which it must lie, so that only those are tried whose test the given one may
// pass. INVARIANT: none is left out that trying all of them would find, and they come in one order.

import type { Atom, End, Values } from '../domains.ts';
import { intersection, isEmpty } from '../domains.ts';
import { type Goal, implies, type Known, type Statement } from '../implication.ts';
import { createRanges, type Ranges } from './ranges.ts';
import { type RuleGroup, rulesByActions } from './rules-by-actions.ts';

/** A rule and its place among all. */
interface Placed<T> {
  readonly one: T;
  readonly at: number;
}

interface WithStatement {
  readonly actions: readonly string[];
  readonly statement: Statement;
}

/** The other rules about all actions of one that follow from it, those that anything may lead to first. */
export type Following<T> = (premise: T) => readonly T[];

/** Texts under which one rule is filed, at most. */
const textsMax = 16;
/** A text with fewer rules than this is rare enough. */
const rareMax = 8;

export function indexStatements<T extends WithStatement>(rules: readonly T[]): Following<T> {
  const { containing } = rulesByActions(rules);
  const files = new Map<RuleGroup<T>, Files>();
  const filesOf = (group: RuleGroup<T>): Files => {
    const known = files.get(group) ?? fileRules(group.rules);
    files.set(group, known);
    return known;
  };
  return (premise) => {
    const { actions, statement } = premise;
    if (statement.isEmpty) return [];
    const found: Placed<T>[] = [];
    for (const group of containing(actions)) {
      const isSmall = group.rules.length <= rareMax;
      for (const index of isSmall ? group.rules.keys() : filedUnder(filesOf(group), statement)) {
        const one = group.rules[index]!;
        if (one !== premise && implies(statement, one.statement))
          found.push({ one, at: group.places[index]! });
      }
    }
    return found.length === 0 ? [] : inOrder(found, statement).map(({ one }) => one);
  };
}

/** The rules about one set of actions by their places in it, each filed once. */
interface Files {
  readonly byText: ReadonlyMap<string, readonly number[]>;
  readonly byRange: ReadonlyMap<string, Ranges<number>>;
  readonly rest: readonly number[];
  readonly all: readonly number[];
}

function fileRules(rules: readonly WithStatement[]): Files {
  const tests = rules.map(({ statement }, index) => ({ index, ...testsOf(statement) }));
  const counts = new Map<string, number>();
  for (const { texts } of tests) {
    for (const text of texts.flat()) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const byText = new Map<string, number[]>();
  const byRange = new Map<string, { readonly item: number; readonly range: Range }[]>();
  const rest: number[] = [];
  for (const { index, texts, ranges } of tests) {
    const [rarest, count] = rarestOf(texts, counts);
    const band = ranges.find(({ range }) => range.low !== null && range.high !== null);
    const range = count <= rareMax ? undefined : (band ?? (rarest === null ? ranges[0] : undefined));
    if (range !== undefined) pushTo(byRange, range.key, { item: index, range: range.range });
    else if (rarest === null) rest.push(index);
    else for (const text of rarest) pushTo(byText, text, index);
  }
  const ordered = new Map([...byRange].map(([key, items]) => [key, createRanges(items)] as const));
  return { byText, byRange: ordered, rest, all: [...rules.keys()] };
}

function rarestOf(
  choices: readonly (readonly string[])[],
  counts: ReadonlyMap<string, number>,
): readonly [readonly string[] | null, number] {
  let [rarest, fewest]: [readonly string[] | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const texts of choices) {
    const count = texts.reduce((sum, text) => sum + (counts.get(text) ?? 0), 0);
    if (count < fewest) [rarest, fewest] = [texts, count];
  }
  return [rarest, fewest];
}

function pushTo<T>(map: Map<string, T[]>, key: string, item: T): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [item]);
  else known.push(item);
}

type Range = Extract<Values, { kind: 'range' }>;

interface Tests {
  /** Of each test for texts, those that pass it. */
  readonly texts: readonly (readonly string[])[];
  /** Of each value that must lie in a range, both ends together. */
  readonly ranges: readonly { readonly key: string; readonly range: Range }[];
}

/** Tests of one value that what the rule follows from must pass; those that everything passes say nothing. */
function testsOf({ goals }: Statement): Tests {
  const texts: (readonly string[])[] = [];
  const ranges = new Map<string, Range>();
  for (const goal of goals.flatMap(goalsBehindLet)) {
    const atom = testOf(goal);
    if (atom === null) continue;
    const { key, values, all } = atom;
    if (values.kind === 'texts') {
      const passing = passingTexts(values, all);
      if (passing !== null) texts.push(passing.map((text) => markOf(key, text)));
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

function testOf({ isTest, denial, ways }: Goal): Atom | null {
  const [only, ...others] = denial;
  if (!isTest || only === undefined || others.length > 0 || ways.length > 0) return null;
  return isEmpty(intersection(only.all, only.values)) ? null : only;
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

function filedUnder(files: Files, premise: Statement): Iterable<number> {
  const contexts = contextsOf(premise);
  if (contexts === null) return files.all;
  const found = new Set(files.rest);
  for (const { left } of contexts) {
    for (const [key, values] of left) {
      if (values.kind === 'range') files.byRange.get(key)?.containing(values, (one) => void found.add(one));
      else if (!values.isComplement) {
        const [text] = values.texts;
        if (text !== undefined) for (const one of files.byText.get(markOf(key, text)) ?? []) found.add(one);
      }
    }
  }
  return found;
}

/** What is known of the premise, and in one alternative of each choice; null where an alternative is impossible. */
function contextsOf(premise: Statement): readonly Known[] | null {
  const contexts: Known[] = [premise];
  for (const alternatives of premise.branches) {
    const possible = alternatives.find(({ left }) => ![...left.values()].some(isEmpty));
    if (possible === undefined) return null;
    contexts.push(possible);
  }
  return contexts;
}

/**
 * Without choices in the premise, a rule whose first test is one for texts follows only where the premise names such a
 * text; those without come first, the others in the order in which the premise names their texts.
 */
function inOrder<T extends WithStatement>(
  found: readonly Placed<T>[],
  premise: Statement,
): readonly Placed<T>[] {
  if (premise.branches.length > 0) return found.toSorted((a, b) => a.at - b.at);
  const named = new Map<string, number>();
  for (const [key, values] of premise.left) {
    const [text] = values.kind === 'texts' && !values.isComplement ? values.texts : [];
    if (text !== undefined) named.set(markOf(key, text), named.size);
  }
  return found
    .flatMap((placed) => {
      const marks = firstTexts(placed.one.statement);
      const mark = marks.find((each) => named.has(each));
      if (marks.length > 0 && mark === undefined) return [];
      return [{ placed, rank: mark === undefined ? -1 : named.get(mark)! }];
    })
    .sort((a, b) => a.rank - b.rank || a.placed.at - b.placed.at)
    .map(({ placed }) => placed);
}

/** Texts of one key, one of which a premise must name for the statement to follow; none where it is open. */
function firstTexts({ goals }: Statement): readonly string[] {
  for (const { denial, ways } of goals) {
    const [only, ...others] = denial;
    if (only === undefined || others.length > 0 || ways.length > 0 || only.values.kind !== 'texts') continue;
    const { key, values } = only;
    if (values.isComplement) return [...values.texts].map((text) => markOf(key, text));
  }
  return [];
}

function markOf(key: string, text: string): string {
  return `${key}\n${text}`;
}
