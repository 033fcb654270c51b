// json-rules-engine: each action has an engine of its own, so that only the action's rules run.

import { Engine as RulesEngine } from 'json-rules-engine';
import { decideBy, type Engine, nothingGrants } from '../engine.ts';
import type { BenchTest } from '../workloads.ts';

export const engine: Engine = {
  name: 'json-rules-engine, sliced',
  policiesMax: { actions: 10_000, wild: 1_000 },
  prepare: ({ rules, actions, requests }) => {
    const byName = new Map(rules.map((rule) => [rule.name, rule] as const));
    const byAction = Map.groupBy(rules, ({ action }) => action);
    const engines = new Map(
      actions.map((action) => {
        const engine = new RulesEngine();
        engine.addOperator('has', (text: string, part: string) => text.includes(part));
        engine.addOperator('starts', (text: string, part: string) => text.startsWith(part));
        for (const { name, tests } of byAction.get(action) ?? []) {
          engine.addRule({ conditions: { all: tests.flatMap(conditions) }, event: { type: name } });
        }
        return [action, engine] as const;
      }),
    );
    const inputs = requests.map(({ payload, tier }) => ({ ...payload, tier }));
    return {
      decide: async (at) => {
        const engine = engines.get(requests[at]!.action);
        if (engine === undefined) return nothingGrants;
        const { events } = await engine.run(inputs[at]!);
        return decideBy(events.map(({ type }) => byName.get(type)!));
      },
    };
  },
};

interface Condition {
  readonly fact: string;
  readonly operator: string;
  readonly value: unknown;
}

function conditions(test: BenchTest): readonly Condition[] {
  switch (test.kind) {
    case 'amount-between':
      return [
        { fact: 'amount', operator: 'greaterThanInclusive', value: test.low },
        { fact: 'amount', operator: 'lessThanInclusive', value: test.high },
      ];
    case 'amount-from':
      return [{ fact: 'amount', operator: 'greaterThanInclusive', value: test.low }];
    case 'vendor-in':
      return [{ fact: 'vendor', operator: 'in', value: test.vendors }];
    case 'vendor-is':
      return [{ fact: 'vendor', operator: 'equal', value: test.vendor }];
    case 'currency-is':
      return [{ fact: 'currency', operator: 'equal', value: test.currency }];
    case 'tier-in':
      return [{ fact: 'tier', operator: 'in', value: test.tiers }];
    case 'description-contains':
      return [{ fact: 'description', operator: 'has', value: test.text }];
    case 'description-starts':
      return [{ fact: 'description', operator: 'starts', value: test.text }];
  }
}
