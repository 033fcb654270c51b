// One measurement without peers in a process of its own: named on the command line, its result sent to the parent.

import { type ModelFigures, measureModel, measureText, type TextFigures } from './compile.ts';
import { type DegradedFigures, measureDegraded } from './degraded.ts';
import { measurePacks, type PackFigures } from './packs.ts';
import { measureRequest, type RequestFigures } from './request.ts';
import type { Results } from './targets.ts';
import { measureTried } from './tried.ts';
import { workloadNames } from './workloads.ts';

export interface Section {
  readonly request: RequestFigures;
  readonly degraded: DegradedFigures;
  readonly tried: Results['tried'];
  readonly packs: readonly PackFigures[];
  readonly models: readonly ModelFigures[];
  readonly texts: readonly TextFigures[];
}

const sections = {
  request: (policies, rounds) => measureRequest(policies, rounds),
  degraded: (policies, rounds) => measureDegraded(policies, rounds),
  tried: (policies) => measureTried(policies),
  packs: (rounds) => measurePacks(rounds),
  models: (largest) => upTo(largest, [1_000, 10_000, 100_000], measureModel),
  texts: (largest) => upTo(largest, [300, 1_000, 10_000, 100_000], measureText),
} as const satisfies {
  [S in keyof Section]: (first: number, second: number) => Section[S] | Promise<Section[S]>;
};

function upTo<T>(
  largest: number,
  sizes: readonly number[],
  measure: (workload: (typeof workloadNames)[number], policies: number) => T,
): readonly T[] {
  const tried = sizes.filter((size) => size <= largest);
  return tried.flatMap((size) => workloadNames.map((workload) => measure(workload, size)));
}

if (process.send !== undefined) {
  const [name, ...args] = process.argv.slice(2) as [keyof Section, ...string[]];
  const [first, second] = args.map(Number);
  process.send(await sections[name](first!, second!), () => process.exit(0));
}
