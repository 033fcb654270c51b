// Groups rules by the actions that they are about, so that a question about two sets of actions is answered
// once, however many rules are about them. INVARIANT: rules stand in the order in which they were given.

import { haveSameParts } from '../../logic/same.ts';

/** Something about actions; the same actions are always the same array. */
interface OfActions {
  readonly actions: readonly string[];
}

/** All rules about one set of actions. */
export interface RuleGroup<T> {
  readonly actions: readonly string[];
  readonly rules: readonly T[];
}

export interface RulesByActions<T> {
  readonly groups: readonly RuleGroup<T>[];
  /** Returns the groups about all of these actions. */
  readonly containing: (actions: readonly string[]) => readonly RuleGroup<T>[];
  /** Returns the groups about at least one of these actions. */
  readonly overlapping: (actions: readonly string[]) => readonly RuleGroup<T>[];
  readonly about: (key: string) => readonly RuleGroup<T>[];
}

export function rulesByActions<T extends OfActions>(rules: readonly T[]): RulesByActions<T> {
  return groupsByActions(groupsOf(rules));
}

/** As `rulesByActions`, for rules that are grouped already. */
export function groupsByActions<T>(groups: readonly RuleGroup<T>[]): RulesByActions<T> {
  const byKey = new Map<string, RuleGroup<T>[]>();
  for (const group of groups) {
    for (const key of group.actions) {
      const cached = byKey.get(key);
      if (cached === undefined) byKey.set(key, [group]);
      else cached.push(group);
    }
  }
  const about = (key: string): readonly RuleGroup<T>[] => byKey.get(key) ?? [];
  return {
    groups,
    containing: memoizedByActions((actions) => {
      const [first, ...others] = actions;
      if (first === undefined) return groups;
      return about(first).filter((group) => group.actions === actions || holdsAll(group.actions, others));
    }),
    overlapping: memoizedByActions((actions) => {
      const [first, ...others] = actions;
      if (first !== undefined && others.length === 0) return about(first);
      const ruleGroups = new Set<RuleGroup<T>>();
      for (const key of actions) {
        for (const group of about(key)) ruleGroups.add(group);
        if (ruleGroups.size === groups.length) break;
      }
      return [...ruleGroups];
    }),
    about,
  };
}

interface OpenGroup<T> {
  readonly actions: readonly string[];
  readonly rules: T[];
}

export function groupsOf<T extends OfActions>(rules: readonly T[]): readonly RuleGroup<T>[] {
  const groups = new Map<readonly string[], OpenGroup<T>>();
  for (const one of rules) {
    let group = groups.get(one.actions);
    if (group === undefined) {
      group = { actions: one.actions, rules: [] };
      groups.set(one.actions, group);
    }
    group.rules.push(one);
  }
  return [...groups.values()];
}

function memoizedByActions<T>(find: (actions: readonly string[]) => T): (actions: readonly string[]) => T {
  const byActions = new Map<readonly string[], T>();
  return (actions) => {
    const value = byActions.get(actions) ?? find(actions);
    byActions.set(actions, value);
    return value;
  };
}

const tables = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Whether `actions`, which hold the first key of another set, hold the set's other `keys` too. */
function holdsAll(actions: readonly string[], keys: readonly string[]): boolean {
  if (keys.length === 0) return true;
  // `keys` lacks the first key. Of two sets of equal size none contains the other: equal sets would be the
  // same array.
  if (keys.length + 1 >= actions.length) return false;
  let table = tables.get(actions);
  if (table === undefined) {
    table = new Set(actions);
    tables.set(actions, table);
  }
  const held = table;
  return keys.every((key) => held.has(key));
}

/** A rule of a policy; all rules of a policy are about the same actions. */
interface OfPolicy {
  readonly policy: string;
}

/** Returns the rules of several groups, sorted by the names of their policies. */
export function inOrder<T extends OfPolicy>(groups: readonly RuleGroup<T>[]): readonly T[] {
  const [only, ...others] = groups;
  if (only !== undefined && others.length === 0) return only.rules;
  return groups.flatMap(({ rules }) => rules).sort(byPolicy);
}

function byPolicy(a: OfPolicy, b: OfPolicy): number {
  return a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : 0;
}

/** The rules about one set of actions: by file, and merged into one group. */
interface MergedGroup<T> {
  readonly parts: readonly RuleGroup<T>[];
  readonly group: RuleGroup<T>;
}

export type MergedGroups<T> = ReadonlyMap<readonly string[], MergedGroup<T>>;

/** Merges the groups of all files; a merged group stays the same object while its parts do. */
export function mergeGroups<T extends OfPolicy>(
  byFile: readonly (readonly RuleGroup<T>[])[],
  before: MergedGroups<T>,
): MergedGroups<T> {
  const parts = Map.groupBy(byFile.flat(), ({ actions }) => actions);
  return new Map([...parts].map(([actions, some]) => [actions, merged(some, before.get(actions))] as const));
}

function merged<T extends OfPolicy>(
  parts: readonly RuleGroup<T>[],
  before: MergedGroup<T> | undefined,
): MergedGroup<T> {
  if (before !== undefined && haveSameParts(parts, before.parts)) return before;
  const [first, ...others] = parts;
  if (first !== undefined && others.length === 0) return { parts, group: first };
  const rules = before === undefined ? null : replaced(parts, before);
  return { parts, group: { actions: first!.actions, rules: rules ?? inOrder(parts) } };
}

/**
 * Puts the rules of changed parts in the places of the rules that they replace; null when the policies are
 * not the same ones.
 */
function replaced<T extends OfPolicy>(
  parts: readonly RuleGroup<T>[],
  before: MergedGroup<T>,
): readonly T[] | null {
  if (parts.length !== before.parts.length) return null;
  const changed = new Map<T, T>();
  for (const [at, { rules }] of parts.entries()) {
    const then = before.parts[at]!.rules;
    if (then === rules) continue;
    if (then.length !== rules.length || rules.some(({ policy }, index) => policy !== then[index]!.policy))
      return null;
    for (const [index, rule] of rules.entries()) changed.set(then[index]!, rule);
  }
  return before.group.rules.map((one) => changed.get(one) ?? one);
}
