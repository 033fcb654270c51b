// Chooses the rules that a comparison of an action with many rules includes in its formula. Rules that do
// nothing where a change makes a difference are left out. Of many remaining rules, the comparison first
// includes those that changed, those that add risk, and a few of each kind. All others are open: their truth
// is a guess that both sides share, so that a proof holds whatever the open rules are. When a request shows
// that a guess was wrong, its rule is included, too.

import { namingValues } from '../../language/model/approvers.ts';
import { isSameMeaning } from '../../language/model/canonical.ts';
import type { Expression } from '../../language/model/expression.ts';
import { type Approver, isGuard, type PolicySet, type Rule } from '../../language/model/policy.ts';
import { booleanType } from '../../language/model/type.ts';
import { memo } from '../../language/value/memo.ts';
import { enforcedOf, quickRules } from '../prove/problem.ts';
import { expressionMeaning, mapOperands } from '../prove/rewrite.ts';
import { mayAffectChange } from './affected-rules.ts';
import { isAlike, readsChanged, ruleReadsChanged } from './declarations.ts';
import { createChangedProblem } from './joint-problem.ts';
import { type BothSides, type DiffSide, type JointSet, sides } from './joint-set.ts';

/** Ids of rules. */
export type RuleIds = ReadonlySet<string>;

const noRules: RuleIds = new Set();

/** The rules of an action on both sides. */
export interface JointRules {
  readonly joint: JointSet;
  readonly action: string;
  /** Ids of unchanged rules that are left open: their truth is guessed. */
  readonly open: RuleIds;
  /** Ids of unchanged rules that do nothing where a change makes a difference. */
  readonly out: RuleIds;
}

const manyByDefault = 100;
const takenAtOnce = 8;
const costlyAtOnce = 2;

/**
 * All rules of the action. From `manyRules` rules on, without those that do nothing where something has
 * changed.
 */
export function jointRulesOf(joint: JointSet, action: string, manyRules = manyByDefault): JointRules {
  const all = { joint, action, open: noRules, out: noRules };
  const { before, after } = joint.original;
  if (enforcedOf(after, action).length < manyRules) return all;
  if (!isAlike(before.actions.get(action)?.shape, after.actions.get(action)?.shape)) return all;
  const unchanged = unchangedRules(joint, action);
  const open = new Set(unchanged.map(({ id }) => id));
  const changes = { ...all, open };
  const acts = mayAffectChange(createChangedProblem(changes, writtenRules(changes)));
  return { ...all, out: new Set(unchanged.flatMap((rule) => (acts(rule) ? [] : [rule.id]))) };
}

/** The joint rules with all but a few of each kind left open, when at least `manyRules` rules remain. */
export function closeFewRules(all: JointRules, manyRules = manyByDefault): JointRules {
  const rules = enforcedOf(all.joint.original.after, all.action).filter(({ id }) => !all.out.has(id));
  if (rules.length < manyRules) return all;
  const open = unchangedRules(all.joint, all.action).filter(({ id }) => !all.out.has(id));
  return { ...all, open: withoutFirst(open, new Set(open.map(kindOf))) };
}

/** The joint rules with the needed rules asked, and a few more of their kinds. */
export function withMoreClosed(of: JointRules, needed: RuleIds): JointRules {
  const rules = enforcedOf(of.joint.original.after, of.action).filter(({ id }) => of.open.has(id));
  const kinds = new Set(rules.filter(({ id }) => needed.has(id)).map(kindOf));
  const left = rules.filter(({ id }) => !needed.has(id));
  return { ...of, open: withoutFirst(left, kinds) };
}

/** The ids of the given rules except the first few of each of the kinds. */
function withoutFirst(rules: readonly Rule[], kinds: ReadonlySet<string>): RuleIds {
  const taken = [...Map.groupBy(rules, kindOf)].flatMap(([kind, own]) => (kinds.has(kind) ? fewOf(own) : []));
  const ids = new Set(taken.map(({ id }) => id));
  return new Set(rules.flatMap(({ id }) => (ids.has(id) ? [] : [id])));
}

function fewOf(rules: readonly Rule[]): readonly Rule[] {
  const quick = quickRules(rules, takenAtOnce);
  return quick.length > 0 ? quick : rules.slice(0, costlyAtOnce);
}

/** Equal for rules that do the same when they hold. */
function kindOf({ effect, requirement, validForSeconds }: Rule): string {
  return JSON.stringify([effect, requirement, validForSeconds]);
}

/**
 * Rules that are the same on both sides. A rule that reads risk counts only if all that adds to risk is the
 * same, too.
 */
function unchangedRules(joint: JointSet, action: string): readonly Rule[] {
  const pairs = rulePairs(joint, action);
  const isRiskAlike = pairs.every((rule) => rule.isAlike || !addsToRisk(rule));
  return pairs.flatMap(({ after, isAlike: isSame }) =>
    after !== null && isSame && after.points === 0 && (isRiskAlike || !after.readsRisk) ? [after] : [],
  );
}

function addsToRisk(rule: RulePair): boolean {
  return sides.some((side) => (rule[side]?.points ?? 0) !== 0);
}

/**
 * Rules whose conditions are not read: their truth is guessed. Guards with the same demand share one guess,
 * since a decision depends on nothing else of them. The guess is false when all of them are false and true
 * when one of them is true.
 */
export interface OpenRules {
  /** The rules as the new set has them. */
  readonly rules: readonly Rule[];
  /** The expression that replaces the rules' conditions in the formula; it reads nothing. */
  readonly standIn: Expression;
}

export interface WrittenRules {
  /** Rules in the names of the joint set, with one rule for each group of open rules that share a guess. */
  readonly rules: BothSides<readonly Rule[]>;
  readonly open: readonly OpenRules[];
  /** Whether rules are left out that do nothing where a change makes a difference. */
  readonly isPart: boolean;
}

/**
 * The rules to ask, written for the formula. A condition that is alike on both sides becomes one object, so
 * that its formula is made once.
 */
export function writtenRules({ joint, action, open: left, out }: JointRules): WrittenRules {
  const { original, written } = joint;
  const sideRules = (side: DiffSide): readonly Rule[] =>
    enforcedOf(original[side], action).filter(({ id }) => !left.has(id) && !out.has(id));
  const byRule = new Map<string, Expression>();
  const writtenOf = (side: DiffSide): readonly Rule[] =>
    sideRules(side).map((rule) => {
      const [before, now] = [byRule.get(rule.id), written[side](rule.condition)];
      const condition = before !== undefined && isSameMeaning(before, now) ? before : now;
      byRule.set(rule.id, condition);
      return { ...rule, condition, requirement: writtenRequirement(rule, side, joint) };
    });
  const rules = { before: writtenOf('before'), after: writtenOf('after') };
  const open = together(
    enforcedOf(original.after, action).filter(({ id }) => left.has(id)),
    [...byRule.keys()],
  );
  const standIns = open.map(({ rules: [first], standIn }) => ({ ...first!, condition: standIn }));
  return {
    rules: { before: [...rules.before, ...standIns], after: [...rules.after, ...standIns] },
    open,
    isPart: out.size > 0,
  };
}

/**
 * The requirement, with the texts of approvers from data replaced by what their expressions mean, also apart for
 * the two sides where the same expression may name somebody else. Only the texts of approvers are read from it.
 */
function writtenRequirement(
  { requirement }: Rule,
  side: DiffSide,
  { changed, original }: JointSet,
): Rule['requirement'] {
  if (requirement?.kind !== 'approval') return requirement;
  if (namingValues(requirement).length === 0) return requirement;
  const nameOf = (one: Approver): Approver => {
    if (one.kind !== 'named') return one;
    const value = withoutLets(original[side], one.value);
    const isApart = readsChanged(value, changed);
    return { ...one, text: `${expressionMeaning(value)}${isApart ? ` (${side})` : ''}` };
  };
  const choices = requirement.choices?.map(({ text, anyOf, fallbacks }) => ({
    text,
    anyOf: anyOf.map(nameOf),
    ...(fallbacks && {
      fallbacks: fallbacks.map((fallback) => ({ ...fallback, anyOf: fallback.anyOf.map(nameOf) })),
    }),
  }));
  return { ...requirement, ...(choices && { choices }) };
}

/** The expression with every let written out. */
function withoutLets(set: PolicySet, expression: Expression): Expression {
  const declared = expression.kind === 'let' ? set.lets.get(expression.id) : undefined;
  if (declared !== undefined) return withoutLets(set, declared.expression);
  return mapOperands(expression, (operand) => withoutLets(set, operand));
}

/**
 * Groups open guards that share a guess. A decision names rules in the order of ids, so a group has no asked
 * rule between its ids.
 */
function together(left: readonly Rule[], others: readonly string[]): readonly OpenRules[] {
  const order = [...left.map(({ id }) => id), ...others].sort();
  const isLeft = new Set(left.map(({ id }) => id));
  const indexById = new Map<string, number>();
  let passed = 0;
  for (const id of order) {
    if (isLeft.has(id)) indexById.set(id, passed);
    else passed += 1;
  }
  const sorted = left.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const groups = Map.groupBy(sorted, (rule) =>
    isGuard(rule) ? `${kindOf(rule)} ${indexById.get(rule.id)}` : rule.id,
  );
  return [...groups.values()].map((rules) => ({ rules, standIn: standInFor(rules[0]!) }));
}

function standInFor({ span }: Rule): Expression {
  return { kind: 'literal', value: true, type: booleanType, span };
}

// ---- pairs of rules from both sides, compared once

export interface RulePair extends BothSides<Rule | null> {
  /** Whether the rule, and everything it reads except risk, is the same on both sides. */
  readonly isAlike: boolean;
}

const knownPairs = new WeakMap<JointSet, Map<string, readonly RulePair[]>>();

/** Pairs in the order of the new set, then the rules that are gone. */
export function rulePairs(joint: JointSet, action: string): readonly RulePair[] {
  const ofSet = memo(knownPairs, joint, () => new Map<string, readonly RulePair[]>());
  return memo(ofSet, action, () => pairsOf(joint, action));
}

function pairsOf({ original, changed }: JointSet, action: string): readonly RulePair[] {
  const left = new Map(enforcedOf(original.before, action).map((rule) => [rule.id, rule]));
  const pairs = enforcedOf(original.after, action).map((after): RulePair => {
    const before = left.get(after.id) ?? null;
    left.delete(after.id);
    const areSame = before !== null && isAlike(before, after) && !ruleReadsChanged(after, changed);
    return { before, after, isAlike: areSame };
  });
  const gone = [...left.values()].map((before): RulePair => ({ before, after: null, isAlike: false }));
  return [...pairs, ...gone];
}
