// Runs one engine with one workload in a process of its own: prepares the engine, answers with its decisions,
// then measures a round on each request of the parent. Rounds count the thread's own processor time, so that
// other processes on the machine matter as little as possible. With a `ReadyMode` after the workload's size,
// the process only prepares, the whole way from what an operator writes, and answers with the time and the
// memory kept.

import { threadMicroseconds, timeCalls, timeEach } from '../src/measure/clock.ts';
import { heapBytes } from '../src/measure/measure.ts';
import type { Engine, Prepared } from './engine.ts';
import { type EngineKey, loadEngine } from './engines.ts';
import { createWorkload, type Workload, type WorkloadName } from './workloads.ts';

/**
 * Requests of the parent. A slice is a short round, for figures of which only the ratio counts: two
 * successive slices run at the same speed of the machine.
 */
export type Ask = 'round' | 'slice' | 'tail' | 'end';

export type Answer =
  | {
      readonly kind: 'ready';
      readonly name: string;
      /**
       * For each of the first requests the outcome and the deciding policy; null when the engine does not tell
       * the policy.
       */
      readonly decided: readonly (readonly [outcome: string, by: string | null])[];
    }
  | { readonly kind: 'round'; readonly nanoseconds: number }
  /** The median of each request in nanoseconds; empty for asynchronous engines. */
  | { readonly kind: 'tail'; readonly byRequest: readonly number[] }
  | { readonly kind: 'kept'; readonly name: string; readonly readyMs: number; readonly bytes: number | null }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * What a process that only prepares measures beside the time of its first start: no memory (`ready`), the
 * memory of that start, with all that a process has only once (`kept`), or of a second (`kept again`).
 */
export type ReadyMode = 'ready' | 'kept' | 'kept again';

const roundMs = 100;
const sliceMs = 10;
const tailMs = 150;
/** Decisions that are timed to find out how many fit into a batch. */
const probes = 5;
/**
 * Milliseconds of deciding one request after the other before anything is timed, to compare the engines'
 * decisions. An engine that needs longer than that for all of them decides at least `checkedMin`.
 */
const checkedMs = 1_000;
const checkedMin = 50;
const gates: readonly string[] = ['default_deny', 'undeclared_action', 'invalid_payload'];
/** Few requests, because they are kept in memory beside the policies. */
const requestsWhenReady = 100;

const [key, workloadName, policies, mode] = process.argv.slice(2) as [
  EngineKey,
  WorkloadName,
  string,
  ReadyMode?,
];

try {
  const workload = createWorkload(workloadName, Number(policies));
  const engine = await loadEngine(key);
  await (mode === undefined ? serve(engine, workload) : getReady(engine, workload, mode));
} catch (error) {
  answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
}

async function getReady(engine: Engine, { requests, ...rest }: Workload, mode: ReadyMode): Promise<void> {
  const workload = { ...rest, requests: requests.slice(0, requestsWhenReady) };
  const start = async (): Promise<Prepared> => {
    const prepared = await (engine.prepareFromText?.(workload) ?? engine.prepare(workload));
    for (let at = 0; at < workload.requests.length; at += 1) await prepared.decide(at);
    return prepared;
  };
  let before = mode === 'kept' ? heapBytes() : 0;
  const started = performance.now();
  const all = [await start()];
  const readyMs = performance.now() - started;
  if (mode === 'kept again') {
    before = heapBytes();
    all.push(await start());
  }
  const bytes = mode === 'ready' ? null : heapBytes() - before;
  // Uses the engines once more, so that the garbage collector cannot have freed them before the heap was
  // measured.
  for (const prepared of all) await prepared.decide(0);
  answer({ kind: 'kept', name: engine.name, readyMs, bytes });
}

async function serve(engine: Engine, workload: Workload): Promise<void> {
  const count = workload.requests.length;
  const prepared: Prepared = await engine.prepare(workload);
  const decided: (readonly [string, string | null])[] = [];
  const until = performance.now() + checkedMs;
  for (let at = 0; at < count && (at < checkedMin || performance.now() < until); at += 1) {
    const { outcome, by } = await prepared.decide(at);
    decided.push([outcome, by === null || gates.includes(by) ? null : (by.split('/')[0] ?? null)]);
  }
  const isLater = prepared.decide(0) instanceof Promise;
  const round = isLater ? createLaterRound(prepared, count) : createRound(prepared, count);
  process.on('message', (ask: Ask) => void reply(ask));
  answer({ kind: 'ready', name: engine.name, decided });

  async function reply(ask: Ask): Promise<void> {
    if (ask === 'end') process.exit(0);
    if (ask === 'round') answer({ kind: 'round', nanoseconds: await round() });
    if (ask === 'slice') answer({ kind: 'round', nanoseconds: await round(sliceMs) });
    if (ask === 'tail') {
      const times = isLater ? [] : timeEach((at) => prepared.decide(at), count, tailMs);
      answer({ kind: 'tail', byRequest: [...times].map(Math.round) });
    }
  }
}

/** Returns a function that measures the nanoseconds per decision over the next stretch of requests. */
function createRound(prepared: Prepared, count: number): (ms?: number) => number {
  let at = 0;
  let allowed = 0;
  const decideSome = (batch: number): void => {
    for (let i = 0; i < batch; i += 1) {
      if ((prepared.decide(at) as { readonly outcome: string }).outcome === 'ALLOW') allowed += 1;
      at = at + 1 === count ? 0 : at + 1;
    }
  };
  const batch = batchSize(
    timeOf(() => decideSome(probes)),
    count,
  );
  return (ms) => {
    const nanoseconds = timeCalls(() => decideSome(batch), batch, ms);
    if (allowed < 0) throw new Error('decisions are used');
    return nanoseconds;
  };
}

/** Like `createRound`, for asynchronous engines. */
function createLaterRound(prepared: Prepared, count: number): (ms?: number) => Promise<number> {
  let at = 0;
  return async (ms = roundMs) => {
    const started = performance.now();
    const before = threadMicroseconds();
    let decisions = 0;
    do {
      await prepared.decide(at);
      at = at + 1 === count ? 0 : at + 1;
      decisions += 1;
    } while (performance.now() - started < ms);
    return ((threadMicroseconds() - before) * 1_000) / decisions;
  };
}

/** Returns how many decisions take about 20 ms: at least one, at most as many as there are requests. */
function batchSize(probedMs: number, count: number): number {
  return Math.max(1, Math.min(count, Math.floor((20 * probes) / probedMs)));
}

function timeOf(run: () => void): number {
  const started = performance.now();
  run();
  return performance.now() - started;
}

function answer(message: Answer): void {
  process.send?.(message);
}
