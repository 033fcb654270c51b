// CASL: each policy is a rule with MongoDB-like conditions; every rule of the action is matched.

import { createMongoAbility, subject } from '@casl/ability';
import { decideBy, type Engine, nothingGrants, unlimited } from '../engine.ts';
import type { BenchRule, BenchTest } from '../workloads.ts';

export const engine: Engine = {
  name: 'CASL',
  policiesMax: { ...unlimited, wild: 10_000 },
  prepare: ({ rules, actions, requests }) => {
    const names = new Map(rules.map((rule) => [rule.name, rule] as const));
    const ability = createMongoAbility(rules.map(toRule));
    const known = new Set(actions);
    const inputs = requests.map(({ payload, tier }) => subject('Request', { ...payload, tier }));
    return {
      decide: (at) => {
        const { action } = requests[at]!;
        if (!known.has(action)) return nothingGrants;
        const holding: BenchRule[] = [];
        for (const rule of ability.rulesFor(action, 'Request')) {
          if (rule.matchesConditions(inputs[at])) holding.push(names.get(rule.reason!)!);
        }
        return decideBy(holding);
      },
    };
  },
};

function toRule({ name, action, effect, tests }: BenchRule) {
  const conditions = Object.assign({}, ...tests.filter(({ kind }) => !isOnDescription(kind)).map(condition));
  const patterns = tests.filter(({ kind }) => isOnDescription(kind)).map(lookahead);
  if (patterns.length > 0) conditions.description = { $regex: `^${patterns.join('')}` };
  return { action, subject: 'Request', conditions, inverted: effect === 'deny', reason: name };
}

function isOnDescription(kind: BenchTest['kind']): boolean {
  return kind === 'description-contains' || kind === 'description-starts';
}

function lookahead(test: BenchTest): string {
  if (test.kind === 'description-starts') return `(?=${test.text})`;
  return test.kind === 'description-contains' ? `(?=.*${test.text})` : '';
}

function condition(test: BenchTest): object {
  switch (test.kind) {
    case 'amount-between':
      return { amount: { $gte: test.low, $lte: test.high } };
    case 'amount-from':
      return { amount: { $gte: test.low } };
    case 'vendor-in':
      return { vendor: { $in: test.vendors } };
    case 'vendor-is':
      return { vendor: test.vendor };
    case 'currency-is':
      return { currency: test.currency };
    case 'tier-in':
      return { tier: { $in: test.tiers } };
    case 'description-contains':
    case 'description-starts':
      return {};
  }
}
