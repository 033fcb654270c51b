// Changes of rules that change no decision: the words of reasons, points of risk, and rules in shadow. They
// are read from the rules, in the order of their ids, without looking for a request.

import type { Span } from '../../language/diagnostic/span.ts';
import { isSameMeaning } from '../../language/model/canonical.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import { type ChangedDeclarations, isAlike, ruleReadsChanged } from './declarations.ts';
import type { BothSides, DiffSide } from './joint-set.ts';

export interface DiffRemark {
  /**
   * `reason`: the rule's words. `risk`: the points that the rule adds, or when it adds them. `shadow`: what a
   * shadow rule would have decided.
   */
  readonly kind: 'reason' | 'risk' | 'shadow';
  readonly change: 'new' | 'gone' | 'changed';
  /** The rule's id. */
  readonly rule: string;
  readonly span: Span;
  readonly side: DiffSide;
  /** Points on the two sides; null when they are equal. */
  readonly points: BothSides<number> | null;
}

export function remarksOf(
  { before, after }: BothSides<PolicySet>,
  changed: ChangedDeclarations,
): readonly DiffRemark[] {
  const [old, now] = [rulesById(before), rulesById(after)];
  const ids = [...new Set([...old.keys(), ...now.keys()])].filter(
    (id) => old.get(id) !== now.get(id) || mayRead(now.get(id)!),
  );
  return ids.toSorted().flatMap((id) => remarksOn({ before: old.get(id), after: now.get(id) }, changed));
}

/**
 * A rule that is the same object on both sides may still read a declaration that changed; only risk and
 * shadow rules matter then.
 */
function mayRead({ isShadow, points }: Rule): boolean {
  return isShadow || points !== 0;
}

function rulesById({ policies }: PolicySet): ReadonlyMap<string, Rule> {
  return new Map(policies.flatMap(({ rules }) => rules.map((rule) => [rule.id, rule] as const)));
}

type RuleOnSides = BothSides<Rule | undefined>;

function remarksOn(rule: RuleOnSides, changed: ChangedDeclarations): readonly DiffRemark[] {
  const { before, after } = rule;
  const isInShadow = before?.isShadow === true || after?.isShadow === true;
  if (isInShadow) return isAsBefore(rule, changed, meaningOf) ? [] : [remark('shadow', rule)];
  const remarks: DiffRemark[] = [];
  if (!isAsBefore(rule, changed, riskOf)) remarks.push(remark('risk', rule));
  const isReasonOther =
    before !== undefined && after !== undefined && !isSameMeaning(before.reason, after.reason);
  return isReasonOther ? [...remarks, remark('reason', rule)] : remarks;
}

/**
 * Whether the part of the rule that `of` picks is the same on both sides, and everything that the rule's
 * condition reads.
 */
function isAsBefore(
  { before, after }: RuleOnSides,
  changed: ChangedDeclarations,
  of: (rule: Rule) => object | null,
): boolean {
  const [old, now] = [before, after].map((one) => (one === undefined ? null : of(one)));
  if (old === null || now === null) return old === now;
  return isAlike(old!, now!) && before !== undefined && !ruleReadsChanged(before, changed);
}

function meaningOf({ span: _span, doc: _doc, ...rule }: Rule): object {
  return rule;
}

/** The points and their condition; null when the rule adds no points. */
function riskOf({ points, condition }: Rule): object | null {
  return points === 0 ? null : { points, condition };
}

function remark(kind: DiffRemark['kind'], { before, after }: RuleOnSides): DiffRemark {
  const side: DiffSide = after === undefined ? 'before' : 'after';
  const rule = (after ?? before)!;
  const points = { before: before?.points ?? 0, after: after?.points ?? 0 };
  return {
    kind,
    change: before === undefined ? 'new' : after === undefined ? 'gone' : 'changed',
    rule: rule.id,
    span: rule.span,
    side,
    points: points.before === points.after ? null : points,
  };
}
