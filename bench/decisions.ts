// Latency of one decision against the number of policies, beside peers: every engine in a process of its own, decisions
// checked equal before anything is timed, rounds in rotation.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type EngineKey, engineKeys, loadEngine } from './engines.ts';
import { type Figure, figureOf } from './figure.ts';
import type { Answer, Ask } from './process.ts';
import type { WorkloadName } from './workloads.ts';

export interface Measured {
  readonly workload: WorkloadName;
  readonly policies: number;
  readonly engine: EngineKey;
  readonly name: string;
  readonly readyMs: number;
  /** Nanoseconds a decision. */
  readonly figure: Figure;
  /** Of requests; null for engines that answer later. */
  readonly tail: { readonly p50: number; readonly p99: number } | null;
}

export interface DecisionsOptions {
  readonly policies: readonly number[];
  readonly workloads: readonly WorkloadName[];
  readonly rounds: number;
  readonly engines: readonly EngineKey[];
  readonly log: (line: string) => void;
}

export async function measureDecisions(options: DecisionsOptions): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const workload of options.workloads) {
    for (const policies of options.policies) {
      const keys: EngineKey[] = [];
      for (const key of engineKeys.filter((one) => options.engines.includes(one))) {
        if ((await loadEngine(key)).policiesMax[workload] >= policies) keys.push(key);
      }
      measured.push(...(await measureTogether(keys, { workload, policies }, options)));
    }
  }
  return measured;
}

/** Not counted: functions are made and optimised meanwhile. */
const warmUpRounds = 4;

/** Nanoseconds a decision; of slower engines the tail says nothing that is worth the wait. */
const tailTakenMax = 10_000;

interface Size {
  readonly workload: WorkloadName;
  readonly policies: number;
}

interface Running {
  readonly key: EngineKey;
  readonly child: ChildProcess;
  readonly ready: Extract<Answer, { kind: 'ready' }>;
  readonly rounds: number[];
}

async function measureTogether(
  keys: readonly EngineKey[],
  { workload, policies }: Size,
  { rounds, log }: DecisionsOptions,
): Promise<readonly Measured[]> {
  const running: Running[] = [];
  for (const key of keys) {
    const child = fork(new URL('process.ts', import.meta.url), [key, workload, String(policies)]);
    const ready = await answerOf(child);
    if (ready.kind === 'ready') running.push({ key, child, ready, rounds: [] });
    else log(`${key} at ${policies}: ${ready.kind === 'failed' ? ready.message : ready.kind}`);
  }
  try {
    checkEqual(running);
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      for (const one of running) {
        const answer = await ask(one.child, 'round');
        if (round >= 0 && answer.kind === 'round') one.rounds.push(answer.nanoseconds);
      }
    }
    const measured: Measured[] = [];
    for (const { key, child, ready, rounds: figures } of running) {
      const figure = figureOf(figures);
      const answer = figure.median < tailTakenMax ? await ask(child, 'tail') : null;
      const tail = answer?.kind === 'tail' && !Number.isNaN(answer.p50) ? answer : null;
      measured.push({
        workload,
        policies,
        engine: key,
        name: ready.name,
        readyMs: ready.readyMs,
        figure,
        tail,
      });
      log(
        `${workload} ${policies} ${ready.name}: ${Math.round(figure.median)} ns, p99 ${tail?.p99 ?? '-'} ns`,
      );
    }
    return measured;
  } finally {
    for (const { child } of running) child.kill();
  }
}

/** Throws where two engines do not give the same decision; the Map look-up decides nothing. */
function checkEqual(running: readonly Running[]): void {
  const deciding = running.filter(({ key }) => key !== 'map');
  const [first, ...others] = deciding;
  for (const other of others) {
    for (const [at, [outcome, by]] of other.ready.decided.entries()) {
      const [expected, expectedBy] = first!.ready.decided[at]!;
      const isSame = outcome === expected && (by === null || expectedBy === null || by === expectedBy);
      if (!isSame)
        throw new Error(
          `request ${at}: ${first!.key} says ${expected} ${expectedBy}, ${other.key} ${outcome} ${by}`,
        );
    }
  }
}

async function ask(child: ChildProcess, what: Ask): Promise<Answer> {
  child.send(what);
  return answerOf(child);
}

async function answerOf(child: ChildProcess): Promise<Answer> {
  const [answer] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [{ kind: 'failed', message: 'the process ended' }]),
  ]);
  return answer as Answer;
}
