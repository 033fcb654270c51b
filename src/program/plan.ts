// Turns a policy set into the program that decides its requests: for each action the rules that speak of it, their
// conditions resolved against its shape, and what they share. INVARIANT: an action's part depends on nothing but the
// declarations that its rules read, so that a change elsewhere leaves it equal.

import type { Action, Policy, PolicySet, Rule } from '../model/policy.ts';
import type { ActionProgram, PlannedRule, Program, Term } from './program.ts';
import { createTranslation, type Translation } from './translate.ts';

/** The program of a set that the checker has found free of errors. */
export function plan(set: PolicySet): Program {
  const rules = rulesByAction(set.policies);
  const keys = [...set.actions.keys()].sort();
  const actions = new Map(
    keys.map((key) => [key, planAction(set, set.actions.get(key)!, rules.get(key) ?? [])] as const),
  );
  return {
    actions,
    lists: used(set.lists, [...actions.values()], (action) => action.lists),
    hours: used(set.hours, [...actions.values()], (action) => action.hours),
  };
}

function planAction(set: PolicySet, action: Action, rules: readonly Rule[]): ActionProgram {
  const translation = createTranslation(set, action);
  const planned = rules.map((rule) => planRule(rule, translation)).sort((a, b) => byText(a.id, b.id));
  return {
    action: action.key,
    shape: action.shape,
    rules: planned,
    lets: translation.lets,
    lists: [...translation.lists].sort(),
    hours: [...translation.hours].sort(),
    meters: [...translation.meters].sort(),
  };
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
    requirement: rule.requirement,
  };
}

function planReason(rule: Rule, translation: Translation): readonly (string | Term)[] {
  if (rule.reason === null) return [inWords(rule.name)];
  const parts = rule.reason.map((part) => (typeof part === 'string' ? part : translation.term(part)));
  return parts.length === 0 ? [''] : parts;
}

/** `large_payment` as `Large payment`. */
function inWords(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}

function rulesByAction(policies: readonly Policy[]): ReadonlyMap<string, readonly Rule[]> {
  const rules = new Map<string, Rule[]>();
  for (const policy of policies) {
    for (const key of policy.actions) {
      const known = rules.get(key) ?? [];
      rules.set(key, known);
      for (const rule of policy.rules) known.push(rule);
    }
  }
  return rules;
}

function used<T>(
  declared: ReadonlyMap<string, T>,
  actions: readonly ActionProgram[],
  namesOf: (action: ActionProgram) => readonly string[],
): ReadonlyMap<string, T> {
  const names = [...new Set(actions.flatMap(namesOf))].sort();
  return new Map(names.map((name) => [name, declared.get(name)!]));
}

/** Names and ids are ASCII, where code units and code points order alike. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
