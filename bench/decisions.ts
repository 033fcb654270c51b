// Measures the latency of one decision against the number of policies, beside peers (other policy engines).
// Every engine runs in a process of its own; the decisions are checked to be equal before anything is timed;
// the engines take turns, round by round.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { duration, type Figure, figureOf, percentilesOf } from '../src/measure/figure.ts';
import { type EngineKey, engineKeys, loadEngine } from './engines.ts';
import type { Answer, Ask, ReadyMode } from './process.ts';
import type { WorkloadName } from './workloads.ts';

export interface Measured {
  readonly workload: WorkloadName;
  readonly policies: number;
  readonly engine: EngineKey;
  readonly name: string;
  /** Nanoseconds per decision. */
  readonly figure: Figure;
  /** Nanoseconds of single requests; null for asynchronous and slow engines. */
  readonly tail: { readonly p50: number; readonly p99: number; readonly byRequest: readonly number[] } | null;
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
        const { policiesMax } = await loadEngine(key);
        if (policiesMax[workload === 'actions' ? 'actions' : 'wild'] >= policies) keys.push(key);
      }
      measured.push(...(await measureTogether(keys, { workload, policies }, options)));
    }
  }
  return measured;
}

/** Rounds that are run but not counted: meanwhile functions are compiled and optimised. */
const warmUpRounds = 3;

/** How many engines prepare at the same time. Preparing is not timed here. */
const preparedTogether = 2;

/**
 * Nanoseconds a decision from which on no tail is measured: the tail of a slower engine is not worth the
 * wait.
 */
const tailTakenMax = 10_000;

interface Size {
  readonly workload: WorkloadName;
  readonly policies: number;
}

/**
 * Starts an engine in a process of its own, from the benchmarks of another revision when `bench` is given.
 */
export function startEngine(
  key: EngineKey,
  {
    workload,
    policies,
    mode,
    bench = import.meta.url,
  }: Size & { readonly mode?: ReadyMode; readonly bench?: string },
): ChildProcess {
  const args = [key, workload, String(policies), ...(mode === undefined ? [] : [mode])];
  return fork(new URL('process.ts', bench), args, { execArgv: ['--max-old-space-size=8192'] });
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
  const started: Running[] = [];
  try {
    await startAll(keys, { workload, policies }, { started, log });
    const running = started.toSorted((a, b) => keys.indexOf(a.key) - keys.indexOf(b.key));
    checkEqual(running);
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      for (const one of running) {
        const answer = await ask(one.child, 'round');
        if (answer.kind === 'failed')
          throw new Error(`${one.key}, ${workload}, ${policies}: ${answer.message}`);
        if (round >= 0 && answer.kind === 'round') one.rounds.push(answer.nanoseconds);
      }
    }
    const measured: Measured[] = [];
    for (const { key, child, ready, rounds: figures } of running) {
      const figure = figureOf(figures);
      const answer = figure.median < tailTakenMax ? await ask(child, 'tail') : null;
      const tail = answer?.kind === 'tail' && answer.byRequest.length > 0 ? tailOf(answer.byRequest) : null;
      measured.push({ workload, policies, engine: key, name: ready.name, figure, tail });
      log(
        `${workload} ${policies} ${ready.name}: ${duration(figure.median)}, p99 ${tail === null ? '-' : duration(tail.p99)}`,
      );
    }
    return measured;
  } finally {
    for (const { child } of started) child.kill();
  }
}

/** Adds each engine to `started` once it is ready. An engine that cannot decide so many policies is left out. */
async function startAll(
  keys: readonly EngineKey[],
  { workload, policies }: Size,
  { started, log }: { readonly started: Running[]; readonly log: DecisionsOptions['log'] },
): Promise<void> {
  const waiting = keys.values();
  const startOneByOne = async (): Promise<void> => {
    for (const key of waiting) {
      const child = startEngine(key, { workload, policies });
      const ready = await answerOf(child);
      if (ready.kind === 'ready') {
        started.push({ key, child, ready, rounds: [] });
        continue;
      }
      const why = ready.kind === 'failed' ? ready.message : ready.kind;
      if (key === 'writ' || key === 'writ-request')
        throw new Error(`Writ itself, ${workload}, ${policies}: ${why}`);
      log(`${key}, ${workload}, ${policies}: left out: ${why}`);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: preparedTogether }, startOneByOne));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

function tailOf(byRequest: readonly number[]): NonNullable<Measured['tail']> {
  const { p50, p99 } = percentilesOf(byRequest);
  return { p50, p99, byRequest };
}

/**
 * Throws when two engines do not give the same decision. The Map look-up is left out, because it decides
 * nothing.
 */
export function checkEqual(running: readonly Pick<Running, 'key' | 'ready'>[]): void {
  const deciding = running.filter(({ key }) => key !== 'map');
  const [first, ...others] = deciding;
  for (const other of others) {
    // A slow engine has decided fewer requests.
    const both = Math.min(first!.ready.decided.length, other.ready.decided.length);
    for (let at = 0; at < both; at += 1) {
      const [outcome, by] = other.ready.decided[at]!;
      const [expected, expectedBy] = first!.ready.decided[at]!;
      const isSame = outcome === expected && (by === null || expectedBy === null || by === expectedBy);
      if (!isSame)
        throw new Error(
          `request ${at}: ${first!.key} says ${expected} ${expectedBy}, ${other.key} ${outcome} ${by}`,
        );
    }
  }
}

export async function ask(child: ChildProcess, what: Ask): Promise<Answer> {
  if (!child.connected) return { kind: 'failed', message: 'the process ended' };
  child.send(what);
  return answerOf(child);
}

export async function answerOf(child: ChildProcess): Promise<Answer> {
  const heard = new AbortController();
  const { signal } = heard;
  try {
    const [answer] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(() => [{ kind: 'failed', message: 'the process ended' }]),
    ]);
    return answer as Answer;
  } finally {
    // Stops waiting for the event that did not happen.
    heard.abort();
  }
}
