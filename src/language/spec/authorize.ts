// What a policy set decides: the gate, the conditions of the rules, risk, and how they combine. This file and
// evaluate.ts are the definition; every faster implementation must agree with it.

import {
  type ApprovalRequirement,
  type Decision,
  defaultDenyReason,
  defaultValidForSeconds,
  type Gate,
  type Outcome,
  outcomes,
  type Requirements,
  type ResolvedApprover,
  type ResolvedFallback,
  resolvedApprover,
} from '../model/decision.ts';
import { payloadReason } from '../model/describe.ts';
import type { Approver, Choice, PolicySet, Requirement, Rule, Template } from '../model/policy.ts';
import type { Facts, MetRequirements } from '../model/request.ts';
import { unknown } from '../model/value.ts';
import { cut, escapeControls } from '../value/text.ts';
import { type EvaluationScope, evaluate, evaluateCondition } from './evaluate.ts';
import { checkPayload, resolveFacts } from './payload.ts';
import { showValue } from './show.ts';
import type { SpecTruth } from './truth.ts';

export function authorize(set: PolicySet, facts: Facts): Decision {
  const action = set.actions.get(facts.action);
  if (action === undefined) {
    return refuse('undeclared_action', `Action ${cut(escapeControls(facts.action), 100)} is not declared`);
  }
  const issues = checkPayload(action.shape, facts.payload);
  if (issues.length > 0) return refuse('invalid_payload', payloadReason(issues));
  const verdict = combine(
    judge(set, facts, (rule) => !rule.isShadow),
    facts.satisfied,
  );
  const withShadow = hasShadow(set, facts.action)
    ? combine(
        judge(set, facts, () => true),
        facts.satisfied,
      )
    : verdict;
  return describe(verdict, withShadow.outcome, facts.satisfied);
}

function hasShadow({ policies }: PolicySet, action: string): boolean {
  return policies.some(
    ({ actions, rules }) => actions.includes(action) && rules.some(({ isShadow }) => isShadow),
  );
}

/** A rule with the truth of its condition. */
interface EvaluatedRule {
  readonly rule: Rule;
  readonly truth: SpecTruth;
}

interface Judgement {
  readonly judged: readonly EvaluatedRule[];
  readonly scope: EvaluationScope;
}

/**
 * Evaluates the rules of the request's action that `isTaken` accepts, in the order of their ids; risk is
 * added up first.
 */
export function judge(set: PolicySet, request: Facts, isTaken: (rule: Rule) => boolean): Judgement {
  const facts = resolveFacts(set, request);
  const rules = set.policies
    .filter((policy) => policy.actions.includes(facts.action))
    .flatMap((policy) => policy.rules)
    .filter(isTaken);
  const beforeRisk: EvaluationScope = { set, facts, risk: { low: 0, high: 100 }, variables: new Map() };
  const contributions = rules
    .filter((rule) => rule.points !== 0)
    .map((rule) => contribution(rule, evaluateCondition(rule.condition, beforeRisk)));
  const scope: EvaluationScope = {
    ...beforeRisk,
    risk: {
      low: clamp(contributions.reduce((sum, { low }) => sum + low, 0)),
      high: clamp(contributions.reduce((sum, { high }) => sum + high, 0)),
    },
  };
  return { judged: rules.map((rule) => ({ rule, truth: evaluateCondition(rule.condition, scope) })), scope };
}

interface Verdict extends Judgement {
  readonly outcome: Outcome;
  /** The deciding rule; null when no `allow` is true and no `deny` is true either. */
  readonly decider: EvaluatedRule | null;
  /** The granting `allow`, and the guards that still demand something. */
  readonly demanding: readonly EvaluatedRule[];
}

function combine(judgement: Judgement, satisfied: MetRequirements): Verdict {
  const { judged } = judgement;
  const allows = judged.filter(({ rule, truth }) => rule.effect === 'allow' && truth === true);
  if (allows.length === 0) {
    const denies = judged.filter(({ rule, truth }) => rule.effect === 'deny' && truth === true);
    return { ...judgement, outcome: 'DENY', decider: first(denies), demanding: [] };
  }
  const demand = ({ rule }: EvaluatedRule): Outcome => demandOf(rule, satisfied);
  const order = preference(satisfied);
  const grant = allows.toSorted((a, b) => order(a.rule, b.rule))[0] as EvaluatedRule;
  const guards = judged.filter(
    ({ rule, truth }) => isGuard(rule) && truth !== false && demandOf(rule, satisfied) !== 'ALLOW',
  );
  const demanding = [grant, ...guards];
  const outcome = outcomes[Math.max(...demanding.map((one) => strictness(demand(one))))] as Outcome;
  return {
    ...judgement,
    outcome,
    decider: first(demanding.filter((one) => demand(one) === outcome)),
    demanding,
  };
}

/** Returns what a rule demands while its requirement has not been met; ALLOW once it has. */
function demandOf(rule: Rule, satisfied: MetRequirements): Outcome {
  if (rule.effect === 'deny') return 'DENY';
  if (rule.requirement === null) return 'ALLOW';
  const isApproval = rule.requirement.kind === 'approval';
  const met = isApproval ? satisfied.escalate : satisfied.reauth;
  if (met.includes(rule.id)) return 'ALLOW';
  return isApproval ? 'ESCALATE' : 'REAUTH_REQUIRED';
}

/** Returns the first candidate: definite before unknown, then the most own points, then the smallest id. */
function first(candidates: readonly EvaluatedRule[]): EvaluatedRule | null {
  const sorted = candidates.toSorted(
    (a, b) =>
      Number(a.truth === unknown) - Number(b.truth === unknown) ||
      b.rule.points - a.rule.points ||
      compareText(a.rule.id, b.rule.id),
  );
  return sorted[0] ?? null;
}

function describe(verdict: Verdict, withShadow: Outcome, satisfied: MetRequirements): Decision {
  const { outcome, decider, judged, scope } = verdict;
  const isPending = outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED';
  const unmet = verdict.demanding
    .map(({ rule }) => rule)
    .filter((rule) => demandOf(rule, satisfied) !== 'ALLOW');
  return {
    outcome,
    by: decider === null ? 'default_deny' : decider.rule.id,
    matchedPolicy: decider === null ? 'default_deny' : decider.rule.policy,
    reason: decider === null ? defaultDenyReason : reasonOf(decider.rule, scope),
    risk: scope.risk,
    validForSeconds: outcome === 'ALLOW' ? validFor(judged) : null,
    requires: isPending
      ? merge(
          unmet.flatMap(({ requirement }) => requirement ?? []),
          scope,
        )
      : null,
    rules: judged
      .filter(tookPart)
      .map(({ rule }) => rule.id)
      .toSorted(compareText),
    withShadow,
  };
}

function refuse(gate: Gate, reason: string): Decision {
  return {
    outcome: 'DENY',
    by: gate,
    matchedPolicy: gate,
    reason,
    risk: { low: 100, high: 100 },
    validForSeconds: null,
    requires: null,
    rules: [],
    withShadow: 'DENY',
  };
}

function contribution({ points }: Rule, truth: SpecTruth): { low: number; high: number } {
  if (truth === unknown) return { low: Math.min(0, points), high: Math.max(0, points) };
  return truth ? { low: points, high: points } : { low: 0, high: 0 };
}

function clamp(points: number): number {
  return Math.min(100, Math.max(0, points));
}

function validFor(judged: readonly EvaluatedRule[]): number {
  const validities = judged.flatMap(({ rule, truth }) =>
    rule.effect === 'allow' && truth === true && rule.validForSeconds !== null ? [rule.validForSeconds] : [],
  );
  return validities.length === 0 ? defaultValidForSeconds : Math.min(...validities);
}

function merge(requirements: readonly Requirement[], scope: EvaluationScope): Requirements {
  const groups = new Map<string, MergedApproval>();
  for (const requirement of requirements) {
    if (requirement.kind !== 'approval') continue;
    const { needs, withinSeconds, except, choices = [] } = requirement;
    for (const group of requirement.groups) {
      const choice = choices.find(({ text }) => text === group) ?? null;
      const fallbackSeconds = (choice?.fallbacks ?? []).map(({ afterSeconds }) => afterSeconds);
      const merged = groups.get(group) ?? { group, choice, fallbackSeconds, needs, withinSeconds, except };
      groups.set(group, {
        group,
        choice,
        // Rules that ask the same approvers in the same order may differ in the times: the longest holds.
        fallbackSeconds: fallbackSeconds.map((one, at) => Math.max(one, merged.fallbackSeconds[at]!)),
        needs: Math.max(merged.needs, needs),
        withinSeconds: Math.min(merged.withinSeconds, withinSeconds),
        except: [...new Set([...merged.except, ...except])].toSorted(compareText),
      });
    }
  }
  const stepUps = requirements
    .filter((requirement) => requirement.kind === 'reauth')
    .map((r) => r.withinSeconds);
  return {
    approvals: [...groups.values()]
      .toSorted((a, b) => compareText(a.group, b.group))
      .map((one) => shown(one, scope)),
    reauth: stepUps.length === 0 ? null : { withinSeconds: shortest(stepUps) },
  };
}

/** What all rules together ask of a group, or of whoever a choice names. */
interface MergedApproval extends Pick<ApprovalRequirement, 'group' | 'needs' | 'withinSeconds'> {
  readonly choice: Choice | null;
  readonly fallbackSeconds: readonly number[];
  readonly except: readonly string[];
}

function shown(
  { group, choice, fallbackSeconds, needs, withinSeconds, except }: MergedApproval,
  scope: EvaluationScope,
): ApprovalRequirement {
  const anyOf = choice?.anyOf.map((one) => resolve(one, scope));
  const fallbacks = choice?.fallbacks?.map(
    (fallback, at): ResolvedFallback => ({
      afterSeconds: fallbackSeconds[at]!,
      anyOf: fallback.anyOf.map((one) => resolve(one, scope)),
    }),
  );
  return {
    group,
    needs,
    withinSeconds,
    ...(except.length > 0 && { except }),
    ...(anyOf && { anyOf }),
    ...(fallbacks && { fallbacks }),
  };
}

function resolve(approver: Approver, scope: EvaluationScope): ResolvedApprover {
  if (approver.kind === 'group') return { group: approver.group };
  return resolvedApprover(approver, evaluate(approver.value, scope), () => fill(approver.missing, scope));
}

/** Returns the shortest time; null, a step-up for this very request, is shorter than any time. */
function shortest(times: readonly (number | null)[]): number | null {
  return times.includes(null) ? null : Math.min(...(times as readonly number[]));
}

function tookPart({ rule, truth }: EvaluatedRule): boolean {
  return isGuard(rule) ? truth !== false : truth === true;
}

function isGuard(rule: Rule): boolean {
  return rule.effect === 'deny' || rule.effect === 'escalate' || rule.effect === 'reauth';
}

/** The order in which true allows grant: the least demand first, then the fewest people, then by id. */
export function preference(satisfied: MetRequirements): (a: Rule, b: Rule) => number {
  const demand = (rule: Rule): number => strictness(demandOf(rule, satisfied));
  return (a, b) => demand(a) - demand(b) || peopleOf(a) - peopleOf(b) || compareText(a.id, b.id);
}

function peopleOf({ requirement }: Rule): number {
  return requirement?.kind === 'approval' ? requirement.needs * requirement.groups.length : 0;
}

function strictness(outcome: Outcome): number {
  return outcomes.indexOf(outcome);
}

function reasonOf(rule: Rule, scope: EvaluationScope): string {
  return rule.reason === null ? inWords(rule.name) : fill(rule.reason, scope);
}

/** Turns `large_payment` into `Large payment`. */
function inWords(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function fill(template: Template, scope: EvaluationScope): string {
  return template
    .map((part) => (typeof part === 'string' ? part : showValue(part.type, evaluate(part, scope))))
    .join('');
}

/**
 * Orders by UTF-16 unit, which differs from the order of code points only beyond the basic plane; ids are
 * ASCII.
 */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
