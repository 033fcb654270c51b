// Rules by the actions that they speak of: those of one set of actions together, so that what is asked of two sets is
// asked once however many rules speak of them. INVARIANT: rules stand in the order in which they were given.

import { haveSameParts } from '../../logic/same.ts';

/** Something that speaks of actions; the same array for those that speak of the same. */
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
  /** Groups that speak of all these actions. */
  readonly containing: (actions: readonly string[]) => readonly RuleGroup<T>[];
  /** Groups that speak of some of these actions. */
  readonly meeting: (actions: readonly string[]) => readonly RuleGroup<T>[];
  readonly speakingOf: (key: string) => readonly RuleGroup<T>[];
}

export function rulesByActions<T extends OfActions>(rules: readonly T[]): RulesByActions<T> {
  return groupsByActions(groupsOf(rules));
}

/** As `rulesByActions`, where the groups are known. */
export function groupsByActions<T>(groups: readonly RuleGroup<T>[]): RulesByActions<T> {
  const byKey = new Map<string, RuleGroup<T>[]>();
  for (const group of groups) {
    for (const key of group.actions) {
      const known = byKey.get(key);
      if (known === undefined) byKey.set(key, [group]);
      else known.push(group);
    }
  }
  const speakingOf = (key: string): readonly RuleGroup<T>[] => byKey.get(key) ?? [];
  return {
    groups,
    containing: askedOnce((actions) => {
      const [first, ...others] = actions;
      if (first === undefined) return groups;
      return speakingOf(first).filter(
        (group) => group.actions === actions || holdsAll(group.actions, others),
      );
    }),
    meeting: askedOnce((actions) => {
      const [first, ...others] = actions;
      if (first !== undefined && others.length === 0) return speakingOf(first);
      const found = new Set<RuleGroup<T>>();
      for (const key of actions) {
        for (const group of speakingOf(key)) found.add(group);
        if (found.size === groups.length) break;
      }
      return [...found];
    }),
    speakingOf,
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

function askedOnce<T>(find: (actions: readonly string[]) => T): (actions: readonly string[]) => T {
  const found = new Map<readonly string[], T>();
  return (actions) => {
    const known = found.get(actions) ?? find(actions);
    found.set(actions, known);
    return known;
  };
}

const tables = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Whether the actions, among which is the first key of another set, hold the others too. */
function holdsAll(actions: readonly string[], keys: readonly string[]): boolean {
  if (keys.length === 0) return true;
  // Besides the first key; of two sets of one size none holds the other, which would be the same array.
  if (keys.length + 1 >= actions.length) return false;
  let table = tables.get(actions);
  if (table === undefined) {
    table = new Set(actions);
    tables.set(actions, table);
  }
  const held = table;
  return keys.every((key) => held.has(key));
}

/** A rule of a policy; all rules of a policy speak of the same actions. */
interface OfPolicy {
  readonly policy: string;
}

/** The rules of several groups in the order of their policies. */
export function inOrder<T extends OfPolicy>(groups: readonly RuleGroup<T>[]): readonly T[] {
  const [only, ...others] = groups;
  if (only !== undefined && others.length === 0) return only.rules;
  return groups.flatMap(({ rules }) => rules).sort(byPolicy);
}

function byPolicy(a: OfPolicy, b: OfPolicy): number {
  return a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : 0;
}

/** What the files say of one set of actions, and all of it in one group. */
interface MergedGroup<T> {
  readonly parts: readonly RuleGroup<T>[];
  readonly group: RuleGroup<T>;
}

export type MergedGroups<T> = ReadonlyMap<readonly string[], MergedGroup<T>>;

/** The groups of all files joined, each the same as before while its parts are. */
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

/** The rules before with those of changed parts in the places of those that they replace; null where they have other policies. */
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
