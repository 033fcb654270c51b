// Cedar as WebAssembly: policies are parsed once, into a policy set for each action, so that a request is
// evaluated only against the policies of its action.

import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs';
import { type Decided, type Engine, nothingGrants } from '../engine.ts';
import type { BenchRule, BenchTest } from '../workloads.ts';

export const engine: Engine = {
  name: 'Cedar wasm, sliced',
  policiesMax: { actions: 10_000, wild: 1_000 },
  prepare: ({ rules, actions, requests }) => {
    const known = new Set(actions);
    for (const [action, own] of Map.groupBy(rules, (rule) => rule.action)) {
      const staticPolicies = Object.fromEntries(own.map((rule) => [rule.name, policyText(rule)]));
      const answer = preparsePolicySet(action, { staticPolicies });
      if (answer.type === 'failure') throw new Error(answer.errors[0]?.message);
    }
    const calls = requests.map(({ action, payload, tier }) => ({
      principal: { type: 'Agent', id: 'agt-1' },
      action: { type: 'Action', id: action },
      resource: { type: 'Resource', id: 'any' },
      context: { ...payload, tier },
      entities: [],
      preparsedPolicySetId: action,
    }));
    return {
      decide: (at): Decided => {
        const call = calls[at]!;
        if (!known.has(call.preparsedPolicySetId)) return nothingGrants;
        const answer = statefulIsAuthorized(call);
        if (answer.type === 'failure') throw new Error(answer.errors[0]?.message);
        return { outcome: answer.response.decision === 'allow' ? 'ALLOW' : 'DENY', by: null };
      },
    };
  },
};

function policyText({ action, effect, tests }: BenchRule): string {
  const kind = effect === 'allow' ? 'permit' : 'forbid';
  const head = `${kind}(principal, action == Action::${JSON.stringify(action)}, resource)`;
  return `${head} when { ${tests.map(condition).join(' && ')} };`;
}

function condition(test: BenchTest): string {
  switch (test.kind) {
    case 'amount-between':
      return `context.amount >= ${test.low} && context.amount <= ${test.high}`;
    case 'amount-from':
      return `context.amount >= ${test.low}`;
    case 'vendor-in':
      return `${JSON.stringify(test.vendors)}.contains(context.vendor)`;
    case 'vendor-is':
      return `context.vendor == ${JSON.stringify(test.vendor)}`;
    case 'currency-is':
      return `context.currency == ${JSON.stringify(test.currency)}`;
    case 'tier-in':
      return `${JSON.stringify(test.tiers)}.contains(context.tier)`;
    case 'description-contains':
      return `context.description like ${JSON.stringify(`*${test.text}*`)}`;
    case 'description-starts':
      return `context.description like ${JSON.stringify(`${test.text}*`)}`;
  }
}
