// Risk must not run against the grain: a rule that reads risk adds none to it, a guard reads it only as "at least" and
// an `allow` only as "at most", through `not` and `unless` too. Otherwise a new guard's points could silence another.

import { childrenOf } from '../../model/children.ts';
import type { Expression } from '../../model/expression.ts';
import type { Rule } from '../../model/policy.ts';
import type { NameNode } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import { type Polarity, partsWithPolarity } from '../logic/polarity.ts';
import { riskAgainstGrain, riskReadAndRaised } from '../messages/type-errors.ts';
import { letsOf } from './lets.ts';

export interface RiskRead {
  readonly compare: Extract<Expression, { kind: 'compare' }>;
  /** 1: the condition comes true as risk rises; -1: as it falls; 0: neither holds for sure. */
  readonly direction: Polarity;
}

/** Reports what a rule that reads risk may not do. */
export function checkRisk(rule: Rule, reads: readonly RiskRead[], name: NameNode, env: Environment): void {
  const [first] = reads;
  if (first === undefined) return;
  if (rule.points !== 0) env.report(riskReadAndRaised(name, first.compare.span));
  if (rule.effect === 'risk') return;
  const expected = rule.effect === 'allow' ? -1 : 1;
  for (const { compare, direction } of reads) {
    if (direction !== expected) env.report(riskAgainstGrain(compare, rule.effect, name));
  }
}

/** Where the condition reads risk, directly or through a let. */
export function riskReads(condition: Expression, env: Environment): readonly RiskRead[] {
  // Most conditions hold neither.
  if (!mayReadRisk(condition)) return noReads;
  const reads: RiskRead[] = [];
  for (const { node, polarity } of partsWithPolarity(condition, letsOf(env))) {
    if (node.kind !== 'compare' || (node.left.kind !== 'risk' && node.right.kind !== 'risk')) continue;
    reads.push({ compare: node, direction: (polarity * riseOf(node)) as Polarity });
  }
  return reads;
}

const noReads: readonly RiskRead[] = [];

function mayReadRisk(condition: Expression): boolean {
  const pending: Expression[] = [condition];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === 'risk' || node.kind === 'let') return true;
    for (const child of childrenOf(node)) if (child.kind !== 'literal') pending.push(child);
  }
  return false;
}

function riseOf({ operator, left }: RiskRead['compare']): 1 | -1 {
  const isAtLeast = operator === '>' || operator === '>=';
  return isAtLeast === (left.kind === 'risk') ? 1 : -1;
}
