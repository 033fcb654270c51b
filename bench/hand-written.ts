// What a programmer would write instead of policies: for each action a function of plain conditions, in a Map.

import { type Engine, nothingGrants, unlimited } from './engine.ts';
import type { BenchRequest, BenchRule, BenchTest } from './workloads.ts';

export const engine: Engine = {
  name: 'hand-written JavaScript',
  policiesMax: unlimited,
  prepare: ({ rules, actions, requests }) => {
    const byAction = Map.groupBy(rules, ({ action }) => action);
    const functions = new Map(
      actions.map((action) => [action, compile(byAction.get(action) ?? [])] as const),
    );
    return {
      decide: (at) => {
        const request = requests[at]!;
        return functions.get(request.action)?.(request) ?? nothingGrants;
      },
    };
  },
};

type Decide = (request: BenchRequest) => { readonly outcome: 'ALLOW' | 'DENY'; readonly by: string };

/** Refusals first, so that the first condition that holds decides. */
function compile(rules: readonly BenchRule[]): Decide {
  const sorted = rules.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const results: unknown[] = [];
  const sets: unknown[] = [];
  const lines = sorted.map((rule) => {
    results.push({ outcome: rule.effect === 'deny' ? 'DENY' : 'ALLOW', by: rule.name });
    const tests = rule.tests.map((test) => code(test, sets)).join(' && ');
    return `if (${tests}) return results[${results.length - 1}];`;
  });
  const text = `return (request) => { const p = request.payload;\n${lines.join('\n')}\n};`;
  return new Function('results', 'sets', text)(results, sets) as Decide;
}

function rank({ effect, name }: BenchRule): string {
  return `${effect === 'deny' ? 0 : 1} ${name}`;
}

function code(test: BenchTest, sets: unknown[]): string {
  switch (test.kind) {
    case 'amount-between':
      return `p.amount >= ${test.low} && p.amount <= ${test.high}`;
    case 'amount-from':
      return `p.amount >= ${test.low}`;
    case 'vendor-in':
      sets.push(new Set(test.vendors));
      return `sets[${sets.length - 1}].has(p.vendor)`;
    case 'vendor-is':
      return `p.vendor === ${JSON.stringify(test.vendor)}`;
    case 'currency-is':
      return `p.currency === ${JSON.stringify(test.currency)}`;
    case 'tier-in':
      return `(${test.tiers.map((tier) => `request.tier === ${JSON.stringify(tier)}`).join(' || ')})`;
    case 'description-contains':
      return `p.description.includes(${JSON.stringify(test.text)})`;
    case 'description-starts':
      return `p.description.startsWith(${JSON.stringify(test.text)})`;
  }
}
