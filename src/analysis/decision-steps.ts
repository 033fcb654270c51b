// Turns a decision into steps, in the order in which the language defines it: the gate, each rule that may
// grant with each part of its condition, what is granted, each guard, and the decision. INVARIANT: each truth
// and the decision are the definition's own; a walk computes none.

import { position, type SourceOf } from '../language/diagnostic/render.ts';
import type { Span } from '../language/diagnostic/span.ts';
import { type Decision, isRefusedByGate } from '../language/model/decision.ts';
import type { PolicySet, Rule } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import type { Truth } from '../language/model/trace.ts';
import type { ExplainedRule } from '../language/spec/explain-rule.ts';
import type { UnknownFact } from '../reasoning/counterfactual/unknown-facts.ts';
import { allConditionLines } from './condition-lines.ts';

export interface DecisionStep {
  readonly kind: 'gate' | 'rule' | 'condition' | 'outcome' | 'grant' | 'decision';
  /** Level of indentation: how deep the step is nested in the steps before it. */
  readonly depth: number;
  readonly text: string;
  /** Null for a step that is neither true nor false. */
  readonly truth: Truth | null;
  /** The value of a condition's part in shown form; null for a step without a value. */
  readonly value: string | null;
  /** Why the part is unknown; null when it is known, or when the reason is not. */
  readonly why: string | null;
  /** `policy/rule` with its place; null for a step that belongs to no rule. */
  readonly rule: { readonly id: string; readonly file: string; readonly line: number } | null;
  /** Where the step's text is written; null when it is written nowhere. */
  readonly location: WrittenAt | null;
}

/** Lines and columns count from 1, columns in code points. */
export interface WrittenAt {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export interface SteppedDecision {
  readonly set: PolicySet;
  readonly facts: Facts;
  readonly decision: Decision;
  readonly rules: readonly ExplainedRule[];
  readonly unknown: readonly UnknownFact[];
}

export function decisionSteps(walked: SteppedDecision, sourceOf: SourceOf): readonly DecisionStep[] {
  const { decision, rules } = walked;
  const end = step('decision', `${decision.outcome} by ${decision.by}: ${decision.reason}`);
  if (isRefusedByGate(decision)) return [step('gate', `The gate refuses: ${decision.reason}.`), end];
  const allows = rules.filter(({ effect }) => effect === 'allow');
  const others = rules.filter(({ effect }) => effect !== 'allow');
  const stepsOf = (some: readonly ExplainedRule[]): readonly DecisionStep[] =>
    some.flatMap((rule) => ruleSteps(rule, walked, sourceOf));
  return [
    step(
      'gate',
      `The gate opens: \`${walked.facts.action}\` is declared, and the payload matches its shape.`,
    ),
    ...stepsOf(allows),
    step('grant', grantText(allows)),
    ...stepsOf(others),
    end,
  ];
}

function step(kind: DecisionStep['kind'], text: string): DecisionStep {
  return { kind, depth: 0, text, truth: null, value: null, why: null, rule: null, location: null };
}

function sourceLocation({ file, start, end }: Span, sourceOf: SourceOf): WrittenAt {
  const text = sourceOf(file) ?? '';
  const [from, to] = [position(text, start), position(text, end)];
  return { file, ...from, endLine: to.line, endColumn: to.column };
}

function ruleSteps(
  explained: ExplainedRule,
  walked: SteppedDecision,
  sourceOf: SourceOf,
): readonly DecisionStep[] {
  const { set, facts, unknown } = walked;
  const decidingRule = set.policies.flatMap(({ rules }) => rules).find(({ id }) => id === explained.rule);
  if (decidingRule === undefined) throw new Error(`the set has no rule ${explained.rule}`);
  const { file, start } = decidingRule.span;
  const rule = { id: decidingRule.id, file, line: position(sourceOf(file) ?? '', start).line };
  const location = sourceLocation(decidingRule.span, sourceOf);
  const shadow = decidingRule.isShadow ? ', in shadow' : '';
  const lines = allConditionLines(explained.explanation, sourceOf);
  return [
    { ...step('rule', `${decidingRule.effect} ${decidingRule.id}${shadow}`), rule, location },
    ...lines.map(({ depth, text, value, truth, span }): DecisionStep => {
      const why = isUnknownPart({ truth, value }) ? whyUnknown(text, unknown) : null;
      return {
        kind: 'condition',
        depth: depth + 1,
        text,
        truth,
        value: truth === null ? value : null,
        why,
        rule,
        location: sourceLocation(span, sourceOf),
      };
    }),
    {
      ...step('outcome', outcomeText(decidingRule, explained.truth, facts)),
      depth: 1,
      truth: explained.truth,
      rule,
      location,
    },
  ];
}

/** Whether a part of a condition has neither a truth nor a value. */
export function isUnknownPart({ truth, value }: Pick<DecisionStep, 'truth' | 'value'>): boolean {
  return truth === 'unknown' || (truth === null && value === 'unknown');
}

/** The reasons of all unknown facts that the text names; null when it names none. */
function whyUnknown(text: string, unknown: readonly UnknownFact[]): string | null {
  const named = unknown.filter(({ name }) => text.includes(name.replace(/^meters\./, '')));
  return named.length === 0 ? null : named.map(({ name, why }) => `${name}: ${why}`).join('; ');
}

function outcomeText(rule: Rule, truth: Truth, { satisfied }: Facts): string {
  if (rule.isShadow) return `It is ${truth}, but not enforced.`;
  switch (rule.effect) {
    case 'allow':
      if (truth === 'true') return `It is true, so it may grant${conditionOf(rule, satisfied)}.`;
      return truth === 'false'
        ? 'It is false, so it grants nothing.'
        : 'It is unknown, so it grants nothing: an `allow` must be true.';
    case 'risk':
      return truth === 'false'
        ? 'It is false, so it adds nothing.'
        : `It is ${truth}, so it ${truth === 'true' ? 'adds' : 'may add'} ${rule.points} to the risk.`;
    default:
      if (truth === 'false') return 'It is false, so it does not act.';
      return `It is ${truth}, so ${actText(rule, satisfied)}${truth === 'true' ? '' : ': a guard acts unless it is false'}.`;
  }
}

function conditionOf(rule: Rule, satisfied: Facts['satisfied']): string {
  if (rule.requirement === null) return '';
  return isMet(rule, satisfied) ? `: ${askedOf(rule)} has been given` : ` after ${askedOf(rule)}`;
}

function actText(rule: Rule, satisfied: Facts['satisfied']): string {
  if (rule.effect === 'deny') return 'the request is refused';
  return isMet(rule, satisfied)
    ? `it asks for ${askedOf(rule)}, which has been given`
    : `it asks for ${askedOf(rule)}`;
}

function isMet({ id, requirement }: Rule, { escalate, reauth }: Facts['satisfied']): boolean {
  return (requirement?.kind === 'approval' ? escalate : reauth).includes(id);
}

function askedOf({ requirement }: Rule): string {
  if (requirement?.kind !== 'approval') return 'a step-up';
  const { groups, needs } = requirement;
  return `approval by ${groups.map((group) => `${needs === 1 ? '' : `${needs} of `}${group}`).join(' and ')}`;
}

function grantText(allows: readonly ExplainedRule[]): string {
  const granting = allows
    .filter(({ truth, isShadow }) => truth === 'true' && !isShadow)
    .map(({ rule }) => rule);
  if (granting.length === 0) return 'No `allow` is true, so nothing is granted.';
  const most = granting.length === 1 ? '' : '; the least demanding one grants';
  return `True: ${granting.join(', ')}${most}.`;
}
