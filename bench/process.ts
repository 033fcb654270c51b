// One engine with one workload in a process of its own: prepares, says what it decides, then measures a round whenever it
// is asked to. Time is the thread's own processor time, so that other processes on the machine count as little as can be.

import type { Prepared } from './engine.ts';
import { type EngineKey, loadEngine } from './engines.ts';
import { createWorkload, type WorkloadName } from './workloads.ts';

export type Ask = 'round' | 'tail' | 'end';

export type Answer =
  | {
      readonly kind: 'ready';
      readonly name: string;
      readonly readyMs: number;
      /** By request: the outcome, and the deciding policy where the engine tells. */
      readonly decided: readonly (readonly [outcome: string, by: string | null])[];
    }
  | { readonly kind: 'round'; readonly nanoseconds: number }
  /** Of each request's median. */
  | { readonly kind: 'tail'; readonly p50: number; readonly p99: number }
  | { readonly kind: 'failed'; readonly message: string };

const roundMs = 200;
const tailPasses = 15;
const gates: readonly string[] = ['default_deny', 'undeclared_action', 'invalid_payload'];

const [key, workloadName, policies] = process.argv.slice(2) as [EngineKey, WorkloadName, string];

try {
  await serve();
} catch (error) {
  answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
}

async function serve(): Promise<void> {
  const workload = createWorkload(workloadName, Number(policies));
  const count = workload.requests.length;
  const engine = await loadEngine(key);
  const started = performance.now();
  const prepared: Prepared = await engine.prepare(workload);
  const readyMs = performance.now() - started;
  const decided: (readonly [string, string | null])[] = [];
  for (let at = 0; at < count; at += 1) {
    const { outcome, by } = await prepared.decide(at);
    decided.push([outcome, by === null || gates.includes(by) ? null : (by.split('/')[0] ?? null)]);
  }
  const isLater = prepared.decide(0) instanceof Promise;
  let at = 0;
  const decideSome = async (batch: number): Promise<void> => {
    let allowed = 0;
    if (isLater) {
      for (let i = 0; i < batch; i += 1, at = (at + 1) % count) {
        if ((await prepared.decide(at)).outcome === 'ALLOW') allowed += 1;
      }
    } else {
      for (let i = 0; i < batch; i += 1) {
        if ((prepared.decide(at) as { outcome: string }).outcome === 'ALLOW') allowed += 1;
        at = at + 1 === count ? 0 : at + 1;
      }
    }
    if (allowed < 0) throw new Error('decisions are used');
  };
  const batch = await batchSize(decideSome, count);
  process.on('message', (ask: Ask) => void reply(ask));
  answer({ kind: 'ready', name: engine.name, readyMs, decided });

  async function reply(ask: Ask): Promise<void> {
    if (ask === 'end') process.exit(0);
    if (ask === 'tail') answer(tail(prepared, count, isLater));
    if (ask === 'round') answer({ kind: 'round', nanoseconds: await round(decideSome, batch) });
  }
}

/** As many decisions as take some milliseconds, at most all requests once. */
async function batchSize(decideSome: (batch: number) => Promise<void>, count: number): Promise<number> {
  const started = performance.now();
  await decideSome(5);
  const each = (performance.now() - started) / 5;
  return Math.max(1, Math.min(count, Math.floor(20 / each)));
}

async function round(decideSome: (batch: number) => Promise<void>, batch: number): Promise<number> {
  const started = performance.now();
  const before = process.threadCpuUsage();
  let decisions = 0;
  do {
    await decideSome(batch);
    decisions += batch;
  } while (performance.now() - started < roundMs);
  const { user, system } = process.threadCpuUsage(before);
  return ((user + system) * 1_000) / decisions;
}

/** Each request is timed by itself, a few times; what the clock costs is taken off. */
function tail(prepared: Prepared, count: number, isLater: boolean): Answer {
  if (isLater) return { kind: 'tail', p50: Number.NaN, p99: Number.NaN };
  const clock = median(Array.from({ length: 1_000 }, () => timed(() => {})));
  const times = Array.from({ length: count }, (): number[] => []);
  for (let pass = 0; pass < tailPasses; pass += 1) {
    for (const [at, own] of times.entries()) own.push(timed(() => prepared.decide(at)));
  }
  const medians = times.map((own) => Math.max(1, median(own) - clock));
  const sorted = medians.toSorted((a, b) => a - b);
  return { kind: 'tail', p50: sorted[Math.floor(count / 2)]!, p99: sorted[Math.floor(count * 0.99)]! };
}

function timed(run: () => unknown): number {
  const started = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - started);
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}

function answer(message: Answer): void {
  process.send?.(message);
}
