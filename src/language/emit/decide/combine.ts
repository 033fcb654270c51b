// Combines the truths of an action's rules into an outcome: `allow` opens, guards narrow, the strictest wins.
// A rule is identified by its index in an order sorted by id, so among equals the smaller index has the
// smaller id.

import {
  type ApprovalRequirement,
  defaultValidForSeconds,
  type Outcome,
  outcomes,
  type Requirements,
  type ResolvedFallback,
} from '../../model/decision.ts';
import type { Choice } from '../../model/policy.ts';
import type { MetRequirements } from '../../model/request.ts';
import type { RuleHead, Term } from '../../program/program.ts';

/** The rules of an action with their truths: 0 for false, 1 for unknown, 2 for true. */
export interface RuleTruths {
  /** All rules of the action, or only those that are not false, sorted by id. */
  readonly rules: readonly RuleHead[];
  readonly truths: ArrayLike<number>;
  readonly satisfied: MetRequirements;
  /** Whether shadow rules count as if they were enforced. */
  readonly withShadow: boolean;
}

export interface CombinedOutcome {
  readonly outcome: Outcome;
  /** The index of the deciding rule; -1 when no allow grants and no deny is true. */
  readonly by: number;
  /** The index of the granting allow; -1 when there is none. */
  readonly granting: number;
}

const none = -1;
const levels = { allow: 0, risk: 0, escalate: 1, reauth: 2, deny: 3 } as const;

/**
 * Returns the strictest outcome of the mildest grant and of all guards that are neither false nor satisfied.
 * DENY when no allow grants.
 */
export function weigh(ballot: RuleTruths): CombinedOutcome {
  const { rules, truths } = ballot;
  let granting = none;
  let trueDeny = none;
  let level = 0;
  for (let at = 0; at < rules.length; at += 1) {
    if (!takesPart(ballot, at)) continue;
    const rule = rules[at]!;
    if (rule.effect === 'allow') {
      if (truths[at] === 2 && (granting === none || isMilder(ballot, at, granting))) granting = at;
      continue;
    }
    if (isRequirementSatisfied(rule, ballot.satisfied)) continue;
    level = Math.max(level, levels[rule.effect]);
    if (rule.effect === 'deny' && truths[at] === 2 && isWeightier(ballot, at, trueDeny)) trueDeny = at;
  }
  if (granting === none) return { outcome: 'DENY', by: trueDeny, granting };
  level = Math.max(level, grantLevel(rules[granting]!, ballot.satisfied));
  return { outcome: outcomes[level]!, by: decider(ballot, granting, level), granting };
}

/**
 * Returns the low and the high end of the risk. An unknown rule with negative points lowers the low end; one
 * with positive points raises the high end. Each end is clamped to 0 to 100 after all rules are added.
 */
export function riskOf({ rules, truths, withShadow }: RuleTruths): {
  readonly low: number;
  readonly high: number;
} {
  let [low, high] = [0, 0];
  for (let at = 0; at < rules.length; at += 1) {
    const rule = rules[at]!;
    const truth = truths[at];
    if (rule.points === 0 || truth === 0 || (rule.isShadow && !withShadow)) continue;
    if (truth === 2 || rule.points < 0) low += rule.points;
    if (truth === 2 || rule.points > 0) high += rule.points;
  }
  return { low: clamp(low), high: clamp(high) };
}

/**
 * Returns how many seconds an ALLOW holds: the shortest validity of a true allow, or the default when none
 * has one.
 */
export function validity(ballot: RuleTruths): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let at = 0; at < ballot.rules.length; at += 1) {
    const { effect, validForSeconds } = ballot.rules[at]!;
    if (effect !== 'allow' || validForSeconds === null || ballot.truths[at] !== 2) continue;
    if (takesPart(ballot, at)) shortest = Math.min(shortest, validForSeconds);
  }
  return shortest === Number.POSITIVE_INFINITY ? defaultValidForSeconds : shortest;
}

/** Returns the merged requirements of the unsatisfied guards and of the granting allow. */
export function requirements(ballot: RuleTruths, granting: number): Requirements {
  const approvals = new Map<string, ApprovalRequirement>();
  let reauth: Requirements['reauth'] = null;
  for (const [at, rule] of ballot.rules.entries()) {
    const { requirement } = rule;
    if (requirement === null || !isAsking(ballot, at, granting)) continue;
    if (requirement.kind === 'reauth') reauth = stricterReauth(reauth, requirement);
    else
      for (const group of requirement.groups) {
        const fallbacks = requirement.choices?.find(({ text }) => text === group)?.fallbacks;
        const own = { ...requirement, group, ...(fallbacks && { fallbacks: fallbacks.map(withoutNames) }) };
        approvals.set(group, stricterApproval(approvals.get(group), own));
      }
  }
  const sorted = [...approvals.values()].sort((a, b) => (a.group < b.group ? -1 : 1));
  return { approvals: sorted, reauth };
}

/** Whether the rule at a place still asks for something: a guard, or the granting allow. */
function isAsking(ballot: RuleTruths, at: number, granting: number): boolean {
  const rule = ballot.rules[at]!;
  const takes = rule.effect === 'allow' ? at === granting : takesPart(ballot, at);
  return takes && !isRequirementSatisfied(rule, ballot.satisfied);
}

/** Returns the choices of the rules that still ask, those of the granting allow first; null when there are none. */
export function askedChoices(ballot: RuleTruths, granting: number): readonly Choice<Term>[] | null {
  const choices: Choice<Term>[] = [];
  for (const [at, { requirement }] of ballot.rules.entries()) {
    if (requirement?.kind !== 'approval' || requirement.choices === undefined) continue;
    if (!isAsking(ballot, at, granting)) continue;
    if (at === granting) choices.unshift(...requirement.choices);
    else choices.push(...requirement.choices);
  }
  return choices.length === 0 ? null : choices;
}

/**
 * Returns the ids of true allow and risk rules, and of guards that are not false, satisfied guards included.
 * Shadow rules are left out.
 */
export function firing({ rules, truths }: RuleTruths): string[] {
  const ids: string[] = [];
  for (let at = 0; at < rules.length; at += 1) {
    const rule = rules[at]!;
    if (truths[at] === 0 || rule.isShadow) continue;
    if (truths[at] === 2 || levels[rule.effect] > 0) ids.push(rule.id);
  }
  return ids;
}

/** Whether the requirement of a rule has been met. */
export function isRequirementSatisfied(rule: RuleHead, satisfied: MetRequirements): boolean {
  if (rule.requirement === null) return false;
  const ids = rule.requirement.kind === 'approval' ? satisfied.escalate : satisfied.reauth;
  return ids.length > 0 && ids.includes(rule.id);
}

function takesPart({ rules, truths, withShadow }: RuleTruths, at: number): boolean {
  return truths[at] !== 0 && (withShadow || !rules[at]!.isShadow);
}

/** The level of the outcome when only this allow counts. */
function grantLevel(rule: RuleHead, satisfied: MetRequirements): number {
  if (rule.requirement === null || isRequirementSatisfied(rule, satisfied)) return levels.allow;
  return rule.requirement.kind === 'approval' ? levels.escalate : levels.reauth;
}

/** Whether an allow asks for less than another allow with a smaller id. */
function isMilder({ rules, satisfied }: RuleTruths, at: number, other: number): boolean {
  const [rule, rival] = [rules[at]!, rules[other]!];
  const difference = grantLevel(rule, satisfied) - grantLevel(rival, satisfied);
  return difference < 0 || (difference === 0 && peopleOf(rule) < peopleOf(rival));
}

function peopleOf({ requirement }: RuleHead): number {
  return requirement?.kind === 'approval' ? requirement.needs * requirement.groups.length : 0;
}

/**
 * Returns the deciding rule among those with the winning level: true before unknown, then the most points,
 * then the smallest id.
 */
function decider(ballot: RuleTruths, granting: number, level: number): number {
  const { rules, satisfied } = ballot;
  if (level === 0) return granting;
  let best = none;
  for (let at = 0; at < rules.length; at += 1) {
    const rule = rules[at]!;
    const isCandidate =
      rule.effect === 'allow'
        ? at === granting && grantLevel(rule, satisfied) === level
        : takesPart(ballot, at) && levels[rule.effect] === level && !isRequirementSatisfied(rule, satisfied);
    if (isCandidate && isWeightier(ballot, at, best)) best = at;
  }
  return best;
}

/** Whether a rule goes before another rule with a smaller id. */
function isWeightier({ rules, truths }: RuleTruths, at: number, other: number): boolean {
  if (other === none) return true;
  if (truths[at] !== truths[other]) return truths[at]! > truths[other]!;
  return rules[at]!.points > rules[other]!.points;
}

function stricterReauth(
  before: Requirements['reauth'],
  { withinSeconds }: { readonly withinSeconds: number | null },
): Requirements['reauth'] {
  if (before === null) return { withinSeconds };
  if (before.withinSeconds === null || withinSeconds === null) return { withinSeconds: null };
  return { withinSeconds: Math.min(before.withinSeconds, withinSeconds) };
}

/** A fallback whose approvers are named later, because that takes the values of the request. */
function withoutNames({ afterSeconds }: { readonly afterSeconds: number }): ResolvedFallback {
  return { afterSeconds, anyOf: [] };
}

function stricterApproval(
  before: ApprovalRequirement | undefined,
  {
    group,
    needs,
    withinSeconds,
    fallbacks,
    except: own,
  }: Omit<ApprovalRequirement, 'anyOf'> & Required<Pick<ApprovalRequirement, 'except'>>,
): ApprovalRequirement {
  const requirement = {
    group,
    needs: Math.max(before?.needs ?? 0, needs),
    withinSeconds: Math.min(before?.withinSeconds ?? Number.POSITIVE_INFINITY, withinSeconds),
    ...(fallbacks && {
      fallbacks: fallbacks.map(({ afterSeconds, anyOf }, at) => ({
        afterSeconds: Math.max(afterSeconds, before?.fallbacks?.[at]?.afterSeconds ?? 0),
        anyOf,
      })),
    }),
  };
  const except = before?.except === undefined ? own : [...new Set([...before.except, ...own])].sort();
  return except.length === 0 ? requirement : { ...requirement, except };
}

function clamp(risk: number): number {
  return Math.min(Math.max(risk, 0), 100);
}
