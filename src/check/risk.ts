// Risk must not run against the grain: a rule that reads risk adds none to it, a guard reads it only as "at least" and
// an `allow` only as "at most", through `not` and `unless` too. Otherwise a new guard's points could silence another.

import type { Expression } from '../model/expression.ts';
import type { Rule } from '../model/policy.ts';
import type { Name } from '../syntax/tree.ts';
import { letsOf } from './constants.ts';
import type { Environment } from './environment.ts';
import { type Polarity, partsWithPolarity } from './polarity.ts';
import { riskAgainstGrain, riskReadAndRaised } from './type-errors.ts';

interface RiskRead {
  readonly compare: Extract<Expression, { kind: 'compare' }>;
  /** 1: the condition comes true as risk rises; -1: as it falls; 0: neither holds for sure. */
  readonly direction: Polarity;
}

/** Whether the condition reads risk, directly or through a let. */
export function readsRisk(condition: Expression, env: Environment): boolean {
  return riskReads(condition, env).length > 0;
}

/** Reports what a rule that reads risk may not do. */
export function checkRisk(rule: Rule, name: Name, env: Environment): void {
  const reads = riskReads(rule.condition, env);
  if (reads.length === 0) return;
  if (rule.points !== 0) env.report(riskReadAndRaised(name, reads[0]!.compare.span));
  if (rule.effect === 'risk') return;
  const expected = rule.effect === 'allow' ? -1 : 1;
  for (const { compare, direction } of reads) {
    if (direction !== expected) env.report(riskAgainstGrain(compare, rule.effect, name));
  }
}

function riskReads(condition: Expression, env: Environment): readonly RiskRead[] {
  const parts = partsWithPolarity(condition, letsOf(env));
  return parts.flatMap(({ node, polarity }) => {
    const isRead = node.kind === 'compare' && (node.left.kind === 'risk' || node.right.kind === 'risk');
    return isRead ? [{ compare: node, direction: (polarity * riseOf(node)) as Polarity }] : [];
  });
}

function riseOf({ operator, left }: RiskRead['compare']): 1 | -1 {
  const isAtLeast = operator === '>' || operator === '>=';
  return isAtLeast === (left.kind === 'risk') ? 1 : -1;
}
