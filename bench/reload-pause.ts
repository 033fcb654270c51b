// Measures how long a reload keeps requests waiting. Policies are changed on disk while requests are decided;
// the result is the longest stretch of the serving thread's own processor time between two requests. Time in
// which other processes or threads held the processor does not count. Run by itself: `node reload-pause.ts
// actions|wild COUNT ROUNDS`.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises';
import type { Facts } from '../src/language/model/request.ts';
import { threadMicroseconds } from '../src/measure/clock.ts';
import { openPolicies, type PolicyHost } from '../src/service/policies/policy-host.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import { createWorkload, type WorkloadName, workloadNames } from './workloads.ts';

/** The figures of one reload. */
export interface ReloadPause {
  /** The longest stretch of processor time between two requests, from the change until well after it is active. */
  readonly longestPauseMs: number;
  /** The longest stretch while nothing changes: deciding itself, and garbage collection. */
  readonly usualPauseMs: number;
  /** Milliseconds from the change of one file to a decision by the new set. */
  readonly reloadMs: number;
  readonly decisionsDuring: number;
}

/** Milliseconds of deciding with the new set: what the set prepares at first use is part of the reload. */
const afterwardsMs = 1_000;
const settleMs = 2_000;
/** Decides with a trace, as the service does. */
const decide = (host: PolicyHost, facts: Facts): unknown => host.current().decideTraced(facts);

export interface ReloadOptions {
  readonly workload: WorkloadName;
  readonly policies: number;
  /** How many reloads of one service are measured, one after the other. */
  readonly rounds: number;
}

export async function measureReloadPauses({
  workload,
  policies,
  rounds,
}: ReloadOptions): Promise<readonly ReloadPause[]> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    const drawn = createWorkload(workload, policies);
    const files = policyFiles(drawn);
    for (const { path, text } of files) writeFileSync(join(directory, path), text);
    const host = await openPolicies({ directory });
    try {
      const requests = drawn.requests.map(toFacts);
      for (const facts of requests) decide(host, facts);
      // Waits until the watch of the directory and the optimiser have come to rest.
      await decideFor(host, requests, settleMs);
      const { longestPauseMs: usualPauseMs } = await decideFor(host, requests, afterwardsMs);
      const { path, text } = files.at(-1)!;
      const pauses: ReloadPause[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const changed = `${text}policy round_${round} on ${actionIn(text)} { deny r when agent.name == "nobody" }\n`;
        pauses.push({ usualPauseMs, ...(await reload(host, requests, join(directory, path), changed)) });
      }
      return pauses;
    } finally {
      await host.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

type Reload = Omit<ReloadPause, 'usualPauseMs'>;

async function reload(
  host: PolicyHost,
  requests: readonly Facts[],
  path: string,
  changed: string,
): Promise<Reload> {
  const before = host.current().digest;
  writeFileSync(`${path}.new`, changed);
  // Waits for longer than a tick of the file system's clock, so that the rename is seen as a change.
  await pause(20);
  const started = performance.now();
  renameSync(`${path}.new`, path);
  const until = decideUntil(host, requests, () => host.current().digest !== before);
  const during = await until;
  const reloadMs = performance.now() - started;
  const after = await decideFor(host, requests, afterwardsMs);
  return {
    longestPauseMs: Math.max(during.longestPauseMs, after.longestPauseMs),
    reloadMs,
    decisionsDuring: during.decisions,
  };
}

interface Stretch {
  readonly longestPauseMs: number;
  readonly decisions: number;
}

function decideFor(host: PolicyHost, requests: readonly Facts[], milliseconds: number): Promise<Stretch> {
  const end = performance.now() + milliseconds;
  return decideUntil(host, requests, () => performance.now() > end);
}

/**
 * Decides one request per turn of the event loop, so that all other work of the thread lies between two
 * requests.
 */
async function decideUntil(
  host: PolicyHost,
  requests: readonly Facts[],
  isOver: () => boolean,
): Promise<Stretch> {
  let [longest, decisions] = [0, 0];
  let before = threadMicroseconds();
  while (!isOver()) {
    decide(host, requests[decisions % requests.length]!);
    decisions += 1;
    await nextTick();
    const now = threadMicroseconds();
    longest = Math.max(longest, now - before);
    before = now;
  }
  return { longestPauseMs: longest / 1_000, decisions };
}

function actionIn(text: string): string {
  return / on (\S+) \{/.exec(text)![1]!;
}

if (import.meta.main) {
  const workload = workloadNames.find((name) => name === process.argv[2]);
  if (workload === undefined) throw new Error(`name one of ${workloadNames.join(', ')}`);
  const [policies, rounds] = [Number(process.argv[3] ?? 10_000), Number(process.argv[4] ?? 3)];
  for (const pause of await measureReloadPauses({ workload, policies, rounds }))
    process.stdout.write(`${JSON.stringify(pause)}\n`);
}
