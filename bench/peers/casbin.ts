// casbin: each rule is one policy line, with its condition as text that the matcher evaluates.

import { newEnforcer, newModelFromString } from 'casbin';
import type { Engine } from '../engine.ts';
import type { BenchRule, BenchTest } from '../workloads.ts';

const model = `
[request_definition]
r = act, ctx

[policy_definition]
p = act, rule, eft

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = r.act == p.act && eval(p.rule)
`;

export const engine: Engine = {
  name: 'casbin',
  policiesMax: { actions: 1_000, wild: 1_000 },
  prepare: async ({ rules, requests }) => {
    const enforcer = await newEnforcer(newModelFromString(model));
    const sets: ReadonlySet<string>[] = [];
    await enforcer.addFunction('isIn', (value: string, set: number) => sets[set]!.has(value));
    await enforcer.addFunction('has', (text: string, part: string) => text.includes(part));
    await enforcer.addFunction('starts', (text: string, part: string) => text.startsWith(part));
    await enforcer.addPolicies(rules.map((rule) => line(rule, sets)));
    const inputs = requests.map(({ payload, tier }) => ({ ...payload, tier }));
    return {
      decide: (at) => ({
        outcome: enforcer.enforceSync(requests[at]!.action, inputs[at]) ? 'ALLOW' : 'DENY',
        by: null,
      }),
    };
  },
};

function line({ action, effect, tests }: BenchRule, sets: ReadonlySet<string>[]): string[] {
  return [action, tests.map((test) => condition(test, sets)).join(' && '), effect];
}

function condition(test: BenchTest, sets: ReadonlySet<string>[]): string {
  switch (test.kind) {
    case 'amount-between':
      return `r.ctx.amount >= ${test.low} && r.ctx.amount <= ${test.high}`;
    case 'amount-from':
      return `r.ctx.amount >= ${test.low}`;
    case 'vendor-in':
      return `isIn(r.ctx.vendor, ${sets.push(new Set(test.vendors)) - 1})`;
    case 'vendor-is':
      return `r.ctx.vendor == "${test.vendor}"`;
    case 'currency-is':
      return `r.ctx.currency == "${test.currency}"`;
    case 'tier-in':
      return `isIn(r.ctx.tier, ${sets.push(new Set(test.tiers)) - 1})`;
    case 'description-contains':
      return `has(r.ctx.description, "${test.text}")`;
    case 'description-starts':
      return `starts(r.ctx.description, "${test.text}")`;
  }
}
