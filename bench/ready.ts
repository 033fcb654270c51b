// Measures the way from what an operator writes to a decision, and the memory kept: Writ beside its peers.
// Each start runs in a process of its own; the engines take turns, round by round. A start that takes too
// long is ended and reported as over the limit.

import { duration, type Figure, figureOf } from '../src/measure/figure.ts';
import { answerOf, startEngine } from './decisions.ts';
import { type EngineKey, loadEngine } from './engines.ts';
import type { ReadyMode } from './process.ts';
import type { WorkloadName } from './workloads.ts';

export interface ReadyFigures {
  readonly workload: WorkloadName;
  readonly policies: number;
  readonly engine: EngineKey;
  readonly name: string;
  /** Milliseconds; null when a start took longer than the limit. */
  readonly readyMs: Figure | null;
  readonly limitMs: number;
  /** Bytes kept per policy; null when unknown or outside of the heap. */
  readonly bytes: Figure | null;
}

export interface ReadyOptions {
  readonly policies: readonly number[];
  readonly workloads: readonly WorkloadName[];
  readonly engines: readonly EngineKey[];
  readonly rounds: number;
  readonly limitMs: number;
  readonly log: (line: string) => void;
}

/**
 * At this size a start takes long and varies little, so one round is enough, and what a process has only once
 * is nothing beside the policies.
 */
export const manyPolicies = 100_000;

/** Engines that have nothing to prepare, or prepare the same as another engine. */
const withoutText: readonly EngineKey[] = ['map', 'hand-written', 'hand-written-request', 'writ-request'];
/** Engines whose policies live in the memory of WebAssembly. */
const outsideOfHeap: readonly EngineKey[] = ['cedar', 'opa'];

export async function measureReady(options: ReadyOptions): Promise<readonly ReadyFigures[]> {
  const measured: ReadyFigures[] = [];
  for (const policies of options.policies) {
    for (const workload of options.workloads) {
      try {
        measured.push(...(await measureSize({ policies, workload }, options)));
      } catch (error) {
        // The figures of the other sizes are worth keeping.
        options.log(`failed: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      }
    }
  }
  return measured;
}

interface Size {
  readonly policies: number;
  readonly workload: WorkloadName;
}

interface Tried {
  readonly key: EngineKey;
  readonly name: string;
  readonly starts: { readonly readyMs: number; readonly bytes: number | null }[];
  state: 'in time' | 'over' | 'failed';
}

async function measureSize(size: Size, options: ReadyOptions): Promise<readonly ReadyFigures[]> {
  const { workload, policies } = size;
  const tried: Tried[] = [];
  for (const key of options.engines.filter((one) => !withoutText.includes(one))) {
    const { name, policiesMax } = await loadEngine(key);
    if (policiesMax[workload === 'actions' ? 'actions' : 'wild'] < policies) continue;
    tried.push({ key, name, starts: [], state: 'in time' });
  }
  for (let round = 0; round < options.rounds; round += 1) {
    const mode = size.policies >= manyPolicies ? 'kept' : round === 0 ? 'kept again' : 'ready';
    for (const one of tried.filter(({ state }) => state === 'in time'))
      await startOnce(one, { ...size, mode }, options);
  }
  const told = tried.filter(({ state }) => state !== 'failed');
  return told.map(({ key, name, starts, state }): ReadyFigures => {
    const isTold = state === 'in time';
    const readyMs = isTold ? figureOf(starts.map((start) => start.readyMs)) : null;
    const kept = starts.flatMap(({ bytes }) => (bytes === null ? [] : [bytes / policies]));
    const bytes = isTold && !outsideOfHeap.includes(key) ? figureOf(kept) : null;
    return { workload, policies, engine: key, name, readyMs, limitMs: options.limitMs, bytes };
  });
}

/** A process may start its engine twice: see `getReady` in `process.ts`. */
const startsInProcess = 2;

async function startOnce(
  one: Tried,
  size: Size & { readonly mode: ReadyMode },
  { limitMs, log }: ReadyOptions,
): Promise<void> {
  const child = startEngine(one.key, size);
  let isKilled = false;
  const timer = setTimeout(() => {
    isKilled = true;
    child.kill('SIGKILL');
  }, startsInProcess * limitMs);
  const answer = await answerOf(child);
  clearTimeout(timer);
  child.kill();
  const what = `${size.workload} ${size.policies} ${one.name}`;
  if (answer.kind === 'kept') {
    one.starts.push(answer);
    one.state = answer.readyMs <= limitMs ? 'in time' : 'over';
    log(`${what}: ready in ${duration(answer.readyMs * 1e6)}`);
    return;
  }
  one.state = isKilled ? 'over' : 'failed';
  const why = isKilled ? 'not ready in time' : answer.kind === 'failed' ? answer.message : answer.kind;
  if (one.key === 'writ' && !isKilled) throw new Error(`${what}: ${why}`);
  log(`${what}: left out: ${why}`);
}
