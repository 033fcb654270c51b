// Warns of conditions that are true for every request or for none: constants, bounds outside of a field's
// declared range, parts that exclude each other. The smallest such part is reported.

import type { Span } from '../../../diagnostic/span.ts';
import { childrenOf } from '../../../model/children.ts';
import type { Expression } from '../../../model/expression.ts';
import { isAlwaysTrue, isNeverTrue } from '../../logic/domains.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function constantConditions(examined: ConditionScope): void {
  const { conditions, enforced } = examined;
  const search: Search = { examined, unwritten: new Set(enforced.map(({ name }) => name)), lets: new Map() };
  for (const condition of conditions) reportIn(condition, search);
}

interface Search {
  readonly examined: ConditionScope;
  /**
   * Places of rules without a condition. Their condition `true` is not written by anybody, so it is not
   * reported.
   */
  readonly unwritten: ReadonlySet<Span>;
  /** Lets that have been searched, with whether something was reported in them. */
  readonly lets: Map<string, boolean>;
}

/** Reports the smallest constant parts of the expression; returns whether any was reported. */
function reportIn(node: Expression, search: Search): boolean {
  if (node.kind === 'let') return reportInLet(node.id, search);
  const isInside = conditionsWithin(node).map((part) => reportIn(part, search));
  if (isInside.includes(true)) return true;
  if (node.type.kind !== 'boolean' || search.unwritten.has(node.span)) return false;
  const { env, valueOfLet } = search.examined;
  if (isNeverTrue(node, valueOfLet)) {
    env.report(
      warning('never-true', node.span, 'this is never true', {
        help: 'it contradicts itself, or the declared payload: remove it or fix it',
      }),
    );
    return true;
  }
  if (!isAlwaysTrue(node, valueOfLet)) return false;
  env.report(
    warning('always-true', node.span, 'this is always true', {
      help: 'the declared payload, or a part of the condition, already makes it true: remove it or fix it',
    }),
  );
  return true;
}

function reportInLet(id: string, search: Search): boolean {
  const cached = search.lets.get(id);
  if (cached !== undefined) return cached;
  const { examined } = search;
  const value = examined.valueOfLet(id);
  // A let of `true` or `false` is a constant condition that people change on purpose. A let with several variants may not
  // be constant in another variant.
  const isApart = value == null || value.kind === 'literal' || examined.env.query('isLetOfSeveralWays', id);
  const isReported = !isApart && reportIn(value, search);
  search.lets.set(id, isReported);
  return isReported;
}

/**
 * Returns the parts that are conditions themselves. A `not` and its operand count as one when they are
 * written as one, as in `not in`.
 */
function conditionsWithin(node: Expression): readonly Expression[] {
  if (node.kind === 'not' && node.span === node.operand.span) return conditionsWithin(node.operand);
  if (node.kind === 'and' || node.kind === 'or' || node.kind === 'not') return childrenOf(node);
  return node.kind === 'quantify' && node.quantifier !== 'sum' ? [node.body] : [];
}
