// json-logic-engine: each policy is compiled by itself; the policies of the action are evaluated in turn.

import { LogicEngine } from 'json-logic-engine';
import { decideBy, type Engine, nothingGrants, unlimited } from '../engine.ts';
import type { BenchTest } from '../workloads.ts';

export const engine: Engine = {
  name: 'json-logic-engine',
  policiesMax: { ...unlimited, wild: 10_000 },
  prepare: ({ rules, actions, requests }) => {
    const engine = new LogicEngine();
    const compiled = rules.map((rule) => ({ rule, holds: engine.build({ and: rule.tests.map(logic) }) }));
    const byAction = Map.groupBy(compiled, ({ rule }) => rule.action);
    const known = new Map(actions.map((action) => [action, byAction.get(action) ?? []] as const));
    const inputs = requests.map(({ payload, tier }) => ({ ...payload, tier }));
    return {
      decide: (at) => {
        const candidates = known.get(requests[at]!.action);
        if (candidates === undefined) return nothingGrants;
        return decideBy(candidates.filter(({ holds }) => holds(inputs[at])).map(({ rule }) => rule));
      },
    };
  },
};

function logic(test: BenchTest): unknown {
  switch (test.kind) {
    case 'amount-between':
      return { '<=': [test.low, { var: 'amount' }, test.high] };
    case 'amount-from':
      return { '>=': [{ var: 'amount' }, test.low] };
    case 'vendor-in':
      return { in: [{ var: 'vendor' }, test.vendors] };
    case 'vendor-is':
      return { '===': [{ var: 'vendor' }, test.vendor] };
    case 'currency-is':
      return { '===': [{ var: 'currency' }, test.currency] };
    case 'tier-in':
      return { in: [{ var: 'tier' }, test.tiers] };
    case 'description-contains':
      return { in: [test.text, { var: 'description' }] };
    case 'description-starts':
      return { '===': [{ substr: [{ var: 'description' }, 0, test.text.length] }, test.text] };
  }
}
