// Measures a start of the policy host, from the call to active policies: the first start in a folder from the
// directory alone, later starts with what the start before has kept. Each start is measured in a process of
// its own.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPolicies } from '../src/service/policies/policy-host.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import { createWorkload, type WorkloadName } from './workloads.ts';

export interface MeasuredStart {
  readonly ms: number;
  /** The decisions of the workload's requests; the same for each start. */
  readonly decided: string;
}

/** Milliseconds of rest after writing: a directory that has just been written counts as unsettled. */
const restMs = 1_500;

/** Starts with the policies in a folder. Writes them first if they are not there. */
export async function measureStart(
  folder: string,
  workload: WorkloadName,
  policies: number,
): Promise<MeasuredStart> {
  const drawn = createWorkload(workload, policies);
  const directory = join(folder, 'policies');
  const keptIn = join(folder, 'compiled.writ');
  if (!existsSync(directory)) {
    mkdirSync(directory);
    for (const { path, text } of policyFiles(drawn)) writeFileSync(join(directory, path), text);
    await pause(restMs);
  }
  const facts = drawn.requests.map(toFacts);
  const started = performance.now();
  const host = await openPolicies({ directory, keptIn, timeoutMs: 600_000 });
  const ms = performance.now() - started;
  const decided = JSON.stringify(facts.map((one) => host.current().decide(one)));
  while (!existsSync(keptIn)) await pause(20);
  await host.close();
  return { ms, decided };
}
