// Risk must not run against the grain: a rule that reads risk adds none to it, a guard reads it only as "at least" and
// an `allow` only as "at most", through `not` and `unless` too. Otherwise a new guard's points could silence another.

import type { Expression } from '../model/expression.ts';
import type { Rule } from '../model/policy.ts';
import type { Name } from '../syntax/tree.ts';
import type { Environment } from './environment.ts';
import { partsOf } from './model-parts.ts';
import { riskAgainstGrain, riskReadAndRaised } from './type-errors.ts';

/** How a condition depends on a part of it: grows with it, falls with it, or neither. */
type Polarity = 1 | -1 | 0;

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

/** All comparisons of risk in a condition; a let that is read at several places is walked once for each direction. */
function riskReads(condition: Expression, env: Environment): readonly RiskRead[] {
  const reads: RiskRead[] = [];
  const seen = new Set<string>();
  const pending: { readonly node: Expression; readonly polarity: Polarity }[] = [
    { node: condition, polarity: 1 },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, polarity } = next;
    if (node.kind === 'compare' && (node.left.kind === 'risk' || node.right.kind === 'risk')) {
      reads.push({ compare: node, direction: (polarity * riseOf(node)) as Polarity });
      continue;
    }
    if (node.kind === 'let') {
      const key = `${polarity} ${node.id}`;
      const value = env.letVariants.get(node.id)?.inferred.expression;
      if (!seen.has(key) && value !== null && value !== undefined) pending.push({ node: value, polarity });
      seen.add(key);
      continue;
    }
    for (const part of partsOf(node)) pending.push({ node: part, polarity: polarityWithin(node, polarity) });
  }
  return reads;
}

function polarityWithin(node: Expression, polarity: Polarity): Polarity {
  switch (node.kind) {
    case 'and':
    case 'or':
      return polarity;
    case 'not':
      return -polarity as Polarity;
    case 'quantify':
      return node.quantifier === 'some' || node.quantifier === 'every' ? polarity : 0;
    default:
      return 0;
  }
}

function riseOf({ operator, left }: RiskRead['compare']): 1 | -1 {
  const isAtLeast = operator === '>' || operator === '>=';
  return isAtLeast === (left.kind === 'risk') ? 1 : -1;
}
