// OPA as WebAssembly: the workload is written as Rego and compiled by the `opa` program that one of the
// packages contains.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as opaWasm from '@open-policy-agent/opa-wasm';
import { decideBy, type Engine, nothingGrants } from '../engine.ts';
import { opaProgram, regoText } from '../rego.ts';
import type { Workload } from '../workloads.ts';

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
