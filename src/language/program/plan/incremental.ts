// Plans and packs policy sets, one after the other. An action is planned and packed again only when something
// that its part is made from has changed. INVARIANT: the result is that of `pack(plan(set))`, except for the
// numbers of texts, whatever sets came before.

import { canonicalMeaning } from '../../model/canonical.ts';
import type { Action, List, PolicySet, Rule, Table } from '../../model/policy.ts';
import { type IndexKey, textsMax } from '../index/index-key.ts';
import { createIndex, type KeysOf, keysBy } from '../index/rule-index.ts';
import { type Assembly, createAssembly, type ProgramParts } from '../packed/assemble.ts';
import {
  type ActionBlock,
  type Block,
  type PackedRules,
  packAction,
  packPart,
  packRules,
} from '../packed/blocks.ts';
import type { PackedProgram } from '../packed/packed.ts';
import type { ActionProgram, Digest, PlannedRule, Program } from '../program.ts';
import { createPlanning, meteringContent, type SetPlan } from './meters.ts';
import { planAction, planStandaloneRule, readByActions, rulesByAction, type StandaloneRule } from './plan.ts';

/** What planning one set leaves for the next set. */
export interface PlanCache {
  readonly digest: Digest;
  readonly actions: Map<string, CachedAction>;
  /** The blocks of lists, tables and hours, by their declaration. */
  readonly parts: WeakMap<object, Block>;
  readonly assembly: Assembly;
}

export function createPlanCache(digest: Digest): PlanCache {
  return { digest, actions: new Map(), parts: new WeakMap(), assembly: createAssembly() };
}

/** An action's blocks, and everything that they were made from. */
interface CachedAction {
  readonly action: Action;
  readonly rules: readonly Rule[];
  /** Each let, list, table and meter that planning has read, as far as it matters to the plan. */
  readonly read: readonly Dependency[];
  readonly block: ActionBlock;
  readonly index: Block | null;
  /** The parts of an action with many rules that can be used again rule by rule; null for other actions. */
  readonly many: ManyRules | null;
}

interface ManyRules {
  readonly alone: ReadonlyMap<Rule, StandaloneRule | null>;
  /** The index keys of each rule. */
  readonly keys: ReadonlyMap<PlannedRule, readonly IndexKey[]>;
  readonly packed: PackedRules;
}

/**
 * A declaration that planning has read. A plan is used again while the form of each declaration is unchanged.
 */
interface Dependency {
  readonly of: (planning: SetPlan) => unknown;
  readonly form: (declaration: unknown) => unknown;
  readonly was: unknown;
}

/**
 * From this number of rules on, an action's index is made with the program, and unchanged rules keep their
 * plans. The rules of a smaller action are all planned again; an index, if it needs one, is made in the
 * thread that serves.
 */
const manyRules = 200;

/** Returns the packed program of a set in which the checker has found no errors. */
export function planPacked(set: PolicySet, cache: PlanCache): PackedProgram {
  const planning = createPlanning(set, cache.digest);
  const rules = rulesByAction(set.policies);
  const earlierActions = new Map(cache.actions);
  cache.actions.clear();
  for (const [key, action] of set.actions) {
    const actionRules = rules.get(key) ?? [];
    const before = earlierActions.get(key);
    const isAsBefore =
      before !== undefined &&
      isUnchanged(before, { planning, action }) &&
      areSameRules(before.rules, actionRules);
    cache.actions.set(
      key,
      isAsBefore
        ? before
        : planKnown({ planning, action, rules: actionRules, digest: cache.digest }, before ?? null),
    );
  }
  const actions = [...cache.actions.values()];
  const blocks = actions.map(({ block }) => block);
  return cache.assembly.assemble({
    actions: new Map(actions.map(({ action, block }) => [action.key, block])),
    indexes: indexesOf(actions.map(({ action, index }) => [action.key, index])),
    lists: partsOf(
      readByActions(set.lists, blocks, ({ lists }) => lists),
      cache,
    ),
    tables: partsOf(
      readByActions(set.tables, blocks, ({ tables }) => tables),
      cache,
    ),
    hours: partsOf(
      readByActions(set.hours, blocks, ({ hours }) => hours),
      cache,
    ),
  });
}

/** Packs a complete program. */
export function pack(program: Program, digest: Digest): PackedProgram {
  const cache = createPlanCache(digest);
  const blocks = [...program.actions].map(([key, action]) => [key, packAction(action, digest)] as const);
  const indexes = [...program.actions].map(
    ([key, action]) => [key, packIndex(action, keysBy(program.lists), digest)] as const,
  );
  const parts: ProgramParts = {
    actions: new Map(blocks),
    indexes: indexesOf(indexes),
    lists: partsOf(program.lists, cache),
    tables: partsOf(program.tables, cache),
    hours: partsOf(program.hours, cache),
  };
  return cache.assembly.assemble(parts);
}

/** An action of a set, and the rules for the action. */
interface ActionPlan {
  readonly planning: SetPlan;
  readonly action: Action;
  readonly rules: readonly Rule[];
  readonly digest: Digest;
}

function planKnown(now: ActionPlan, before: CachedAction | null): CachedAction {
  const { planning, action, rules, digest } = now;
  const { set } = planning;
  const many = rules.length < manyRules ? null : aloneOf(now, before);
  const { program, letIds } = planAction(planning, action, rules, (rule) => many?.alone.get(rule) ?? null);
  const read: Dependency[] = [];
  const depend = ({ of, form }: Omit<Dependency, 'was'>): void =>
    void read.push({ of, form, was: of(planning) });
  for (const name of program.lists) depend({ of: (now) => now.set.lists.get(name), form: listForm });
  for (const name of program.tables) depend({ of: (now) => now.set.tables.get(name), form: columnsForm });
  for (const name of program.meters)
    depend({ of: (now) => now.set.meters.get(name)?.currency, form: itself });
  depend({ of: (now) => meteringContent(now, action.key, program.meters), form: itself });
  for (const id of letIds) depend({ of: (now) => now.set.lets.get(id), form: itself });
  if (many === null)
    return { action, rules, read, block: packAction(program, digest), index: null, many: null };
  const keysOf = keysBy(set.lists);
  const keys = new Map(
    program.rules.map((rule) => [rule, many.known?.keys.get(rule) ?? keysOf(rule)] as const),
  );
  const index = packIndex(program, (rule) => keys.get(rule)!, digest);
  const { block, packed } = packRules(program, many.known?.packed ?? null, digest);
  return { action, rules, read, block, index, many: { alone: many.alone, keys, packed } };
}

/**
 * Plans each rule by itself. Returns the previous plans of rules when nothing that they are made from has
 * changed, and new plans of the others.
 */
function aloneOf(
  now: ActionPlan,
  before: CachedAction | null,
): { readonly alone: ManyRules['alone']; readonly known: ManyRules | null } {
  const reusable = before?.many != null && isUnchanged(before, now) ? before.many : null;
  const alone = new Map<Rule, StandaloneRule | null>();
  for (const rule of now.rules) {
    const planned = reusable?.alone.get(rule);
    alone.set(rule, planned === undefined ? planStandaloneRule(now.planning.set, now.action, rule) : planned);
  }
  return { alone, known: reusable };
}

/**
 * The entries of a list that matter to a plan. Longer lists are in no index, so nothing depends on their
 * entries.
 */
const entriesMax = textsMax + 1;

function listForm(declaration: unknown): unknown {
  const list = declaration as List;
  return { ...list, entries: list.entries.slice(0, entriesMax) };
}

/**
 * Returns the part of a table that a plan depends on: whether its rows are pushed, and the places of cells in
 * a row.
 */
function columnsForm(declaration: unknown): unknown {
  const { columns, pushed } = declaration as Table;
  return [pushed !== null, ...columns.map(({ name }) => name)];
}

function itself(declaration: unknown): unknown {
  return declaration;
}

/** Whether everything that the rules are planned from, except the rules themselves, is unchanged. */
function isUnchanged(
  cached: CachedAction,
  { planning, action }: Pick<ActionPlan, 'planning' | 'action'>,
): boolean {
  return (
    isSame(cached.action, action, shapeOf) &&
    cached.read.every(({ of, was, form }) => isSame(was, of(planning), form))
  );
}

function areSameRules(a: readonly Rule[], b: readonly Rule[]): boolean {
  return a.length === b.length && a.every((rule, at) => rule === b[at]);
}

function shapeOf(action: Action): unknown {
  return [action.shape, action.result];
}

function isSame<T>(a: T, b: T, form: (part: T) => unknown): boolean {
  return a === b || (b !== undefined && canonicalMeaning(form(a)) === canonicalMeaning(form(b)));
}

function packIndex({ rules }: ActionProgram, keysOf: KeysOf, digest: Digest): Block | null {
  return rules.length < manyRules ? null : packPart(createIndex(rules, keysOf), digest);
}

function indexesOf(all: readonly (readonly [string, Block | null])[]): ReadonlyMap<string, Block> {
  return new Map(all.flatMap(([key, index]) => (index === null ? [] : [[key, index] as const])));
}

function partsOf(
  declarations: ReadonlyMap<string, object>,
  { parts, digest }: PlanCache,
): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>();
  for (const [name, declaration] of declarations) {
    const block = parts.get(declaration) ?? packPart(declaration, digest);
    parts.set(declaration, block);
    blocks.set(name, block);
  }
  return blocks;
}
