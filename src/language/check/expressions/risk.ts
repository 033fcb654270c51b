// Checks rules that read risk. Such a rule adds no points; a guard reads risk only as "at least" and an
// `allow` only as "at most", also through `not` and `unless`. Otherwise the points of a new guard could stop
// another guard from matching.

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
  /** 1 when the condition becomes true as risk rises, -1 when as risk falls, 0 when neither is certain. */
  readonly direction: Polarity;
}

/** Reports points in a rule that reads risk, and comparisons in the wrong direction. */
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

/** Returns the places where the condition reads risk, directly or through a let. */
export function riskReads(condition: Expression, env: Environment): readonly RiskRead[] {
  // Most conditions read neither risk nor a let.
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
    for (const child of childrenOf(node)) if (!isConstant(child)) pending.push(child);
  }
  return false;
}

function isConstant({ kind }: Expression): boolean {
  return kind === 'literal' || kind === 'text-list';
}

function riseOf({ operator, left }: RiskRead['compare']): 1 | -1 {
  const isAtLeast = operator === '>' || operator === '>=';
  return isAtLeast === (left.kind === 'risk') ? 1 : -1;
}
