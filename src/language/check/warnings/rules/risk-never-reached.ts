// Warns of a risk threshold that the points of all rules together do not reach: a guard with this threshold
// never stops anything, and an `allow` below it excludes nothing. Rules that read risk add none, so the sum
// of the other rules is the most possible.

import type { Compare } from '../../../model/expression.ts';
import { riskMax } from '../../../model/policy.ts';
import { unknown } from '../../../model/value.ts';
import { type Decimal, toNumber } from '../../../value/decimal.ts';
import { constantValue } from '../../logic/constants.ts';
import { warning } from '../../messages/problem.ts';
import type { ExaminedRule } from '../engine/rule-subjects.ts';

export function riskNeverReached({
  riskReaders,
  rulesByAction: grouped,
  env,
  valueOfLet,
}: ExaminedRule): void {
  if (riskReaders.length === 0) return;
  const mostOf = mostPoints(grouped);
  const mostByActions = new Map<readonly string[], number>();
  const most = new Map<string, RiskTest>();
  for (const { riskTests, actions } of riskReaders) {
    const here = mostByActions.get(actions) ?? mostOf(actions);
    mostByActions.set(actions, here);
    for (const node of riskTests) {
      const key = JSON.stringify(node.span);
      // Several rules may read one place through a let.
      most.set(key, { node, most: Math.max(here, most.get(key)?.most ?? 0) });
    }
  }
  for (const reading of most.values()) {
    const bound = constantValue(boundOf(reading.node), valueOfLet);
    // The checker has verified that the bound is a number.
    if (bound === null || bound === unknown || isReached(reading, bound as Decimal)) continue;
    const { node, most: points } = reading;
    env.report(
      warning('risk-never-reached', node.span, messageOf(points), {
        help: 'lower the number, or give rules of these actions more `risk +N`',
      }),
    );
  }
}

/**
 * Returns a function that gives the most points that the rules of any one of the actions add up to, at most
 * 100.
 */
function mostPoints({ groups }: ExaminedRule['rulesByAction']): (actions: readonly string[]) => number {
  const byAction = new Map<string, number>();
  for (const { actions, rules } of groups) {
    const points = rules.reduce((sum, { rule }) => sum + Math.max(0, rule.points), 0);
    if (points > 0) for (const key of actions) byAction.set(key, (byAction.get(key) ?? 0) + points);
  }
  return (actions) =>
    actions.reduce((most, key) => Math.max(most, Math.min(riskMax, byAction.get(key) ?? 0)), 0);
}

interface RiskTest {
  readonly node: Compare;
  readonly most: number;
}

function messageOf(points: number): string {
  return points === 0
    ? 'no rule raises the risk of these actions, so that it is always 0'
    : `the risk of these actions is never more than ${points}`;
}

function boundOf({ left, right }: Compare): Compare['left'] {
  return left.kind === 'risk' ? right : left;
}

/** Whether some possible risk lies beyond the bound. */
function isReached({ node, most }: RiskTest, bound: Decimal): boolean {
  const number = toNumber(bound);
  const isStrict = node.operator === '<' || node.operator === '>';
  const isAtLeast = (node.operator === '>' || node.operator === '>=') === (node.left.kind === 'risk');
  // `risk < 50` changes at 50 itself, `risk <= 50` only above 50.
  return isAtLeast === isStrict ? most > number : most >= number;
}
