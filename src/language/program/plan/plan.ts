// Turns a policy set into the program that decides its requests: for each action its rules, their conditions
// resolved against its shape, and what they share. INVARIANT: an action's part depends only on the
// declarations that its rules read, so a change elsewhere leaves it equal.

import { mapChoices } from '../../model/approvers.ts';
import type { Action, Policy, PolicySet, Requirement, Rule } from '../../model/policy.ts';
import type { ActionProgram, Digest, PlannedRule, Program, Term } from '../program.ts';
import { createPlanning, planMetering, type SetPlan } from './meters.ts';
import { createTranslation, type Translation } from './translate.ts';

/** Returns the program of a set in which the checker has found no errors. */
export function plan(set: PolicySet, digest: Digest): Program {
  const planning = createPlanning(set, digest);
  const rules = rulesByAction(set.policies);
  const keys = [...set.actions.keys()].sort();
  const actions = new Map(
    keys.map(
      (key) => [key, planAction(planning, set.actions.get(key)!, rules.get(key) ?? []).program] as const,
    ),
  );
  return {
    actions,
    lists: readByActions(set.lists, [...actions.values()], (action) => action.lists),
    tables: readByActions(set.tables, [...actions.values()], (action) => action.tables),
    hours: readByActions(set.hours, [...actions.values()], (action) => action.hours),
  };
}

/** The part of one action, and the lets from which it was made. */
export interface PlannedAction {
  readonly program: ActionProgram;
  readonly letIds: ReadonlySet<string>;
}

/** The plan of a rule that shares nothing with other rules, so that the plan can be used again. */
export interface StandaloneRule extends Names {
  readonly rule: PlannedRule;
}

/**
 * Plans one action. `rules` are the rules for the action; `alone` returns the plan of a rule that has been
 * planned already, or null.
 */
export function planAction(
  planning: SetPlan,
  action: Action,
  rules: readonly Rule[],
  alone: (rule: Rule) => StandaloneRule | null = () => null,
): PlannedAction {
  const translation = createTranslation(planning.set, action);
  const read = {
    lists: new Set<string>(),
    tables: new Set<string>(),
    hours: new Set<string>(),
    meters: new Set<string>(),
  };
  const planned = rules.map((rule) => {
    const one = alone(rule);
    if (one === null) return planRule(rule, translation);
    addAll(read, one);
    return one.rule;
  });
  addAll(read, translation);
  const meters = [...read.meters].sort();
  const metered = planMetering(planning, action, meters);
  if (metered !== null) addAll(read, metered.translation);
  const letIds =
    metered === null ? translation.letIds : new Set([...translation.letIds, ...metered.translation.letIds]);
  const program: ActionProgram = {
    action: action.key,
    shape: action.shape,
    result: action.result,
    rules: planned.sort((a, b) => byText(a.id, b.id)),
    lets: translation.lets,
    lists: [...read.lists].sort(),
    tables: [...read.tables].sort(),
    hours: [...read.hours].sort(),
    meters,
    metering: metered?.metering ?? null,
  };
  return { program, letIds };
}

/** Plans a rule by itself; null when the rule reads lets, because rules share those. */
export function planStandaloneRule(set: PolicySet, action: Action, rule: Rule): StandaloneRule | null {
  const translation = createTranslation(set, action);
  const planned = planRule(rule, translation);
  const { lists, tables, hours, meters, letIds } = translation;
  return letIds.size > 0 ? null : { rule: planned, lists, tables, hours, meters };
}

type Names = Pick<Translation, 'lists' | 'tables' | 'hours' | 'meters'>;

function addAll(into: Record<keyof Names, Set<string>>, from: Names): void {
  for (const name of from.lists) into.lists.add(name);
  for (const name of from.tables) into.tables.add(name);
  for (const name of from.hours) into.hours.add(name);
  for (const name of from.meters) into.meters.add(name);
}

function planRule(rule: Rule, translation: Translation): PlannedRule {
  return {
    id: rule.id,
    policy: rule.policy,
    effect: rule.effect,
    isShadow: rule.isShadow,
    condition: translation.condition(rule.condition),
    points: rule.points,
    readsRisk: rule.readsRisk,
    reason: planReason(rule, translation),
    validForSeconds: rule.validForSeconds,
    requirement: planRequirement(rule.requirement, translation),
  };
}

function planRequirement(requirement: Requirement | null, { term }: Translation): PlannedRule['requirement'] {
  if (requirement?.kind !== 'approval' || requirement.choices === undefined)
    return requirement as PlannedRule['requirement'];
  return { ...requirement, choices: mapChoices(requirement.choices, term) };
}

function planReason(rule: Rule, translation: Translation): readonly (string | Term)[] {
  if (rule.reason === null) return [inWords(rule.name)];
  const parts = rule.reason.map((part) => (typeof part === 'string' ? part : translation.term(part)));
  return parts.length === 0 ? [''] : parts;
}

/** Turns `large_payment` into `Large payment`. */
function inWords(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}

/** Returns the rules for each action, in the order of their policies. */
export function rulesByAction(policies: readonly Policy[]): ReadonlyMap<string, readonly Rule[]> {
  const rules = new Map<string, Rule[]>();
  for (const policy of policies) {
    for (const key of policy.actions) {
      const actionRules = rules.get(key) ?? [];
      rules.set(key, actionRules);
      for (const rule of policy.rules) actionRules.push(rule);
    }
  }
  return rules;
}

/** Returns the declarations that some action reads, by name. */
export function readByActions<T, A>(
  declared: ReadonlyMap<string, T>,
  actions: readonly A[],
  namesOf: (action: A) => readonly string[],
): ReadonlyMap<string, T> {
  const names = [...new Set(actions.flatMap(namesOf))].sort();
  return new Map(names.map((name) => [name, declared.get(name)!]));
}

/** Orders names and ids, which are ASCII, so code units and code points order alike. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
