// Draws the plots of a run: how decision times, time until ready and memory grow with the number of policies,
// how worst cases grow with the payload, and how latencies are distributed.

import { type Chart, type ChartLine, drawChart } from '../src/measure/chart.ts';
import { drawDistribution } from '../src/measure/distribution.ts';
import { duration, type Figure, size } from '../src/measure/figure.ts';
import type { ReadyFigures } from './ready.ts';
import type { Results } from './targets.ts';
import { type WorkloadName, workloadNames } from './workloads.ts';

/** Returns the plots by file name, without those that have no measurements. */
export function plotsOf(results: Results): ReadonlyMap<string, string> {
  const all: readonly (readonly [string, string | null])[] = [
    ...workloadNames.map((name) => [name, decisionPlot(results, name)] as const),
    ['latency', latencyPlot(results)],
    ['ready', readyPlot(results, 'ready', ({ readyMs }) => readyMs)],
    ['memory', readyPlot(results, 'memory', ({ bytes }) => bytes)],
    ['worst', worstPlot(results)],
    ['hardest', hardestPlot(results)],
  ];
  return new Map(all.filter((one): one is readonly [string, string] => one[1] !== null));
}

const policyAxis = {
  label: 'policies',
  kind: 'logarithmic',
  format: (value: number) => value.toLocaleString('en'),
} as const;
const timeAxis = { label: 'time per decision', kind: 'logarithmic', format: duration } as const;

const titles = {
  actions: 'Policies spread over many actions',
  wild: 'All policies on one pattern',
  same: 'All policies on one value: no index helps',
} as const satisfies Record<WorkloadName, string>;

function decisionPlot({ decisions }: Results, workload: WorkloadName): string | null {
  const own = Map.groupBy(
    decisions.filter((one) => one.workload === workload),
    ({ name }) => name,
  );
  const lines = [...own].map(([name, all]): ChartLine => {
    return {
      name,
      isOwn: isOwn(name),
      points: all.map(({ policies, figure }) => [policies, figure.median]),
    };
  });
  return plotted({ title: titles[workload], x: policyAxis, y: timeAxis, lines });
}

/** Whether a line belongs to Writ itself: a whole request, or the bare decision. */
function isOwn(name: string): boolean {
  return name.startsWith('Writ');
}

const latencyPolicies = 1_000;

function latencyPlot({ decisions }: Results): string | null {
  const all = decisions.filter(
    ({ workload, policies, engine, tail }) =>
      workload === 'actions' && policies === latencyPolicies && tail !== null && engine !== 'map',
  );
  if (all.length === 0) return null;
  return drawDistribution(
    `Latency of single decisions, ${latencyPolicies.toLocaleString('en')} policies over many actions`,
    all.map(({ name, tail }) => ({ name, isOwn: isOwn(name), nanoseconds: tail!.byRequest })),
  );
}

/** Plots the time until ready or the memory, for policies over many actions. */
function readyPlot(
  { ready }: Results,
  what: 'ready' | 'memory',
  pick: (one: ReadyFigures) => Figure | null,
): string | null {
  const told = ready.filter((one) => one.workload === 'actions' && pick(one) !== null);
  const lines = [...Map.groupBy(told, ({ name }) => name)].map(([name, all]): ChartLine => {
    const points = all.map((one) => [one.policies, pick(one)!.median] as const);
    return { name, isOwn: name === 'Writ', points };
  });
  const y =
    what === 'ready'
      ? {
          label: 'from text to ready',
          kind: 'logarithmic' as const,
          format: (ms: number) => duration(ms * 1e6),
        }
      : { label: 'kept a policy', kind: 'logarithmic' as const, format: size };
  const title = what === 'ready' ? 'Time until policies are active' : 'Memory kept a policy';
  return plotted({ title, x: policyAxis, y, lines });
}

/** How many worst cases are drawn: those slowest at the largest payload. The flat ones show nothing. */
const worstDrawn = 10;

function worstPlot({ worst }: Results): string | null {
  const lines = worst
    .toSorted((a, b) => b.points.at(-1)!.min - a.points.at(-1)!.min)
    .slice(0, worstDrawn)
    .map(
      ({ name, points }): ChartLine => ({
        name,
        isOwn: false,
        points: points.map(({ bytes, min }) => [bytes, min]),
      }),
    );
  const x = { label: 'size of the payload', kind: 'logarithmic', format: size } as const;
  return plotted({ title: 'The slowest worst cases', x, y: timeAxis, lines });
}

function hardestPlot({ hardest }: Results): string | null {
  const lines = hardest.map(({ name, points }): ChartLine => {
    return { name, isOwn: false, points: points.map(({ rules, figure }) => [rules, figure.median]) };
  });
  return plotted({
    title: 'Policies made to be slow',
    x: { ...policyAxis, label: 'rules' },
    y: timeAxis,
    lines,
  });
}

function plotted(chart: Chart): string | null {
  const lines = chart.lines.filter(({ points }) => points.length > 0);
  return lines.length === 0 ? null : drawChart({ ...chart, lines });
}
