// Rules by the actions that they speak of: those of one set of actions together, so that what is asked of two sets is
// asked once however many rules speak of them. INVARIANT: rules stand in the order in which they were given.

/** Something that speaks of actions; the same array for those that speak of the same. */
interface OfActions {
  readonly actions: readonly string[];
}

/** All rules about one set of actions. */
export interface RuleGroup<T> {
  readonly actions: readonly string[];
  readonly rules: readonly T[];
  /** The places of the rules among all that were given. */
  readonly places: readonly number[];
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
  const groups = groupsOf(rules);
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
  readonly places: number[];
}

function groupsOf<T extends OfActions>(rules: readonly T[]): readonly RuleGroup<T>[] {
  const groups = new Map<readonly string[], OpenGroup<T>>();
  for (const [at, one] of rules.entries()) {
    let group = groups.get(one.actions);
    if (group === undefined) {
      group = { actions: one.actions, rules: [], places: [] };
      groups.set(one.actions, group);
    }
    group.rules.push(one);
    group.places.push(at);
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

/** The rules of several groups, in the order in which they were given. */
export function inOrder<T>(groups: readonly RuleGroup<T>[]): readonly T[] {
  const [only, ...others] = groups;
  if (only !== undefined && others.length === 0) return only.rules;
  return groups
    .flatMap(({ rules, places }) => rules.map((one, index) => ({ one, at: places[index]! })))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
