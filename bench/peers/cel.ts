// @marcbachmann/cel-js: each policy is a parsed CEL expression; the expressions of the action are evaluated in turn.

import { parse } from '@marcbachmann/cel-js';
import { decideBy, type Engine, nothingGrants, unlimited } from '../engine.ts';
import type { BenchTest } from '../workloads.ts';

export const engine: Engine = {
  name: '@marcbachmann/cel-js',
  policiesMax: { ...unlimited, wild: 10_000 },
  prepare: ({ rules, actions, requests }) => {
    const parsed = rules.map((rule) => ({ rule, holds: parse(rule.tests.map(expression).join(' && ')) }));
    const byAction = Map.groupBy(parsed, ({ rule }) => rule.action);
    const known = new Map(actions.map((action) => [action, byAction.get(action) ?? []] as const));
    // cel-js represents whole numbers as bigints.
    const inputs = requests.map(({ payload, tier }) => ({
      ...payload,
      amount: BigInt(payload.amount),
      tier,
    }));
    return {
      decide: (at) => {
        const candidates = known.get(requests[at]!.action);
        if (candidates === undefined) return nothingGrants;
        const holding = candidates.filter(({ holds }) => holds(inputs[at]) === true);
        return decideBy(holding.map(({ rule }) => rule));
      },
    };
  },
};

function expression(test: BenchTest): string {
  switch (test.kind) {
    case 'amount-between':
      return `amount >= ${test.low} && amount <= ${test.high}`;
    case 'amount-from':
      return `amount >= ${test.low}`;
    case 'vendor-in':
      return `vendor in ${JSON.stringify(test.vendors)}`;
    case 'vendor-is':
      return `vendor == ${JSON.stringify(test.vendor)}`;
    case 'currency-is':
      return `currency == ${JSON.stringify(test.currency)}`;
    case 'tier-in':
      return `tier in ${JSON.stringify(test.tiers)}`;
    case 'description-contains':
      return `description.contains(${JSON.stringify(test.text)})`;
    case 'description-starts':
      return `description.startsWith(${JSON.stringify(test.text)})`;
  }
}
