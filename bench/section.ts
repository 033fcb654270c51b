// Runs one measurement that needs no peers in a process of its own. The command line names the measurement;
// the result is sent to the parent.

import type { ChangedFigures, ModelFigures } from './compile.ts';
import type { DegradedFigures } from './degraded.ts';
import type { HardFigures } from './hardest.ts';
import type { MeterFigures } from './meters.ts';
import type { MetersAtStart } from './meters-at-start.ts';
import type { PackFigures } from './packs.ts';
import type { ReloadPause } from './reload-pause.ts';
import type { RequestFigures } from './request.ts';
import type { TriedFigures } from './selected-rules.ts';
import type { PromiseStep } from './service/promises.ts';
import type { MeasuredStart } from './warm-start.ts';
import type { WorkloadName } from './workloads.ts';
import type { WorstFigures } from './worst.ts';

/** The arguments (`ask`) and the result (`answer`) of each measurement. */
export interface Sections {
  readonly request: { readonly ask: Sized; readonly answer: RequestFigures };
  readonly degraded: { readonly ask: Sized; readonly answer: DegradedFigures };
  readonly tried: { readonly ask: { readonly policies: number }; readonly answer: TriedFigures };
  readonly packs: { readonly ask: { readonly rounds: number }; readonly answer: readonly PackFigures[] };
  readonly model: { readonly ask: Named; readonly answer: ModelFigures };
  readonly start: { readonly ask: Named & { readonly folder: string }; readonly answer: MeasuredStart };
  readonly changed: { readonly ask: Named & Sized; readonly answer: ChangedFigures };
  readonly reload: { readonly ask: Named & Sized; readonly answer: readonly ReloadPause[] };
  readonly hardest: {
    readonly ask: { readonly sizes: readonly number[]; readonly rounds: number };
    readonly answer: readonly HardFigures[];
  };
  readonly meters: {
    readonly ask: { readonly sizes: readonly number[]; readonly rounds: number };
    readonly answer: readonly MeterFigures[];
  };
  readonly starts: { readonly ask: { readonly requests: number }; readonly answer: readonly MetersAtStart[] };
  readonly worst: {
    readonly ask: { readonly rounds: number };
    readonly answer: readonly WorstFigures[];
  };
  readonly promises: { readonly ask: { readonly rounds: number }; readonly answer: readonly PromiseStep[] };
}

interface Sized {
  readonly policies: number;
  readonly rounds: number;
}

interface Named {
  readonly workload: WorkloadName;
  readonly policies: number;
}

type Measure<S extends keyof Sections> = (ask: Sections[S]['ask']) => Promise<Sections[S]['answer']>;

/**
 * Each measurement imports only the files that it needs, because another revision may lack what one of them
 * measures.
 */
const sections: { readonly [S in keyof Sections]: Measure<S> } = {
  request: async ({ policies, rounds }) => (await import('./request.ts')).measureRequest(policies, rounds),
  degraded: async ({ policies, rounds }) => (await import('./degraded.ts')).measureDegraded(policies, rounds),
  tried: async ({ policies }) => (await import('./selected-rules.ts')).measureTried(policies),
  packs: async ({ rounds }) => (await import('./packs.ts')).measurePacks(rounds),
  model: async ({ workload, policies }) => (await import('./compile.ts')).measureModel(workload, policies),
  start: async ({ folder, workload, policies }) =>
    (await import('./warm-start.ts')).measureStart(folder, workload, policies),
  changed: async ({ workload, policies, rounds }) =>
    (await import('./compile.ts')).measureChanged(workload, policies, rounds),
  reload: async (options) => (await import('./reload-pause.ts')).measureReloadPauses(options),
  hardest: async ({ sizes, rounds }) => (await import('./hardest.ts')).measureHardest(sizes, rounds),
  meters: async ({ sizes, rounds }) => (await import('./meters.ts')).measureMeters(sizes, rounds),
  starts: async ({ requests }) => (await import('./meters-at-start.ts')).measureMetersAtStart(requests),
  worst: async ({ rounds }) => (await import('./worst.ts')).measureWorst(rounds),
  promises: async ({ rounds }) => (await import('./service/promises.ts')).measurePromises(rounds),
};

if (process.send !== undefined) {
  const [name, ask] = process.argv.slice(2) as [keyof Sections, string];
  const measure = sections[name] as (ask: unknown) => Promise<unknown>;
  try {
    process.send({ answer: await measure(JSON.parse(ask)) }, () => process.exit(0));
  } catch (error) {
    process.send({ failed: error instanceof Error ? error.message : String(error) }, () => process.exit(1));
  }
}
