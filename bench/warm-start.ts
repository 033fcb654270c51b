// Measures a start of the policy host, from the call to active policies: from the directory alone, and with
// what an earlier start has kept. Run by itself: `node warm-start.ts actions|wild COUNT`.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPolicies } from '../src/service/policies/policy-host.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import { createWorkload, type WorkloadName, workloadNames } from './workloads.ts';

export interface WarmStart {
  readonly coldMs: number;
  readonly warmMs: number;
}

/** Milliseconds of rest after writing: a directory that has just been written counts as unsettled. */
const restMs = 1_500;

export async function measureWarmStart(workload: WorkloadName, policies: number): Promise<WarmStart> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    const drawn = createWorkload(workload, policies);
    const directory = join(folder, 'policies');
    mkdirSync(directory);
    for (const { path, text } of policyFiles(drawn)) writeFileSync(join(directory, path), text);
    await pause(restMs);
    const facts = drawn.requests.map(toFacts);
    const start = async (): Promise<{ readonly ms: number; readonly decided: string }> => {
      const started = performance.now();
      const host = await openPolicies({
        directory,
        keptIn: join(folder, 'compiled.writ'),
        timeoutMs: 600_000,
      });
      const ms = performance.now() - started;
      const decided = JSON.stringify(facts.map((one) => host.current().decide(one)));
      while (!existsSync(join(folder, 'compiled.writ'))) await pause(20);
      await host.close();
      return { ms, decided };
    };
    const [cold, warm] = [await start(), await start()];
    if (cold.decided !== warm.decided) throw new Error('what was kept decides something else');
    return { coldMs: cold.ms, warmMs: warm.ms };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const workload = workloadNames.find((name) => name === process.argv[2]);
  if (workload === undefined) throw new Error(`name one of ${workloadNames.join(', ')}`);
  const measured = await measureWarmStart(workload, Number(process.argv[3] ?? 10_000));
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}
