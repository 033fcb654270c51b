// What Writ must reach, and what it has reached: one row a target, with the spread of its figure and the peers beside it.

import type { ModelFigures, TextFigures } from './compile.ts';
import type { Measured } from './decisions.ts';
import type { DegradedFigures } from './degraded.ts';
import type { EngineKey } from './engines.ts';
import { digits, duration, type Figure } from './figure.ts';
import type { RequestFigures } from './request.ts';
import type { WorkloadName } from './workloads.ts';

export interface Results {
  readonly decisions: readonly Measured[];
  readonly request: RequestFigures;
  readonly degraded: DegradedFigures;
  readonly models: readonly ModelFigures[];
  readonly texts: readonly TextFigures[];
  /** The most rules tried by 99 of 100 requests of `wild`, and at how many policies. */
  readonly tried: { readonly policies: number; readonly p99: number };
}

export interface Target {
  readonly what: string;
  readonly must: string;
  readonly figure: string;
  readonly beside: string;
  /** Null where this run has not measured it. */
  readonly isMet: boolean | null;
}

export function targets(results: Results): readonly Target[] {
  return [
    ...decisionTargets(results.decisions),
    ...wildTargets(results),
    ...requestTargets(results),
    ...compileTargets(results),
  ];
}

type Find = (workload: WorkloadName, policies: number, engine: EngineKey) => Measured | null;

function finder(decisions: readonly Measured[]): Find {
  return (workload, policies, engine) =>
    decisions.find(
      (one) => one.workload === workload && one.policies === policies && one.engine === engine,
    ) ?? null;
}

function decisionTargets(decisions: readonly Measured[]): readonly Target[] {
  const find = finder(decisions);
  const own = (policies: number): Measured | null => find('actions', policies, 'writ');
  const slower = (policies: number, most: number): Target =>
    ratio(
      `actions, ${count(policies)}: to hand-written`,
      own(policies),
      find('actions', policies, 'hand-written'),
      {
        most,
      },
    );
  const fastest = decisions
    .filter((one) => one.workload === 'actions' && one.policies === 1_000 && isPeer(one.engine))
    .toSorted((a, b) => a.figure.median - b.figure.median)[0];
  const faster = (name: string, peer: Measured | null, least: number): Target =>
    ratio(`actions, 1,000: ${name} to Writ`, peer, own(1_000), { least });
  return [
    slower(1_000, 2),
    faster('fastest peer', fastest ?? null, 5),
    faster('CASL', find('actions', 1_000, 'casl'), 10),
    faster('OPA wasm', find('actions', 1_000, 'opa'), 100),
    faster('Cedar, sliced', find('actions', 1_000, 'cedar'), 500),
    slower(10_000, 1),
    slower(100_000, 1),
    ratio('actions: growth from 1,000 to 100,000', own(100_000), own(1_000), { most: 2 }),
    ...[10_000, 100_000].map((policies) => tailTarget(own(policies), policies)),
  ];
}

function tailTarget(own: Measured | null, policies: number): Target {
  const what = `actions, ${count(policies)}: p99 to median`;
  const tail = own?.tail ?? null;
  if (tail === null) return missing(what, '≤ 4x');
  const factor = tail.p99 / tail.p50;
  return {
    what,
    must: '≤ 4x',
    figure: `${digits(factor)}x`,
    beside: `${duration(tail.p99)} to ${duration(tail.p50)}, one by one`,
    isMet: factor <= 4,
  };
}

function wildTargets({ decisions, tried }: Results): readonly Target[] {
  const find = finder(decisions);
  const own = (policies: number): Measured | null => find('wild', policies, 'writ');
  const best = decisions
    .filter((one) => one.workload === 'wild' && one.policies === 10_000 && isPeer(one.engine))
    .toSorted((a, b) => a.figure.median - b.figure.median)[0];
  const largest = own(100_000);
  return [
    ratio('wild: growth from 10 to 100,000', largest, own(10), { most: 5 }),
    largest === null
      ? missing('wild, 100,000', '< 1 µs')
      : {
          what: 'wild, 100,000',
          must: '< 1 µs',
          figure: withSpread(largest.figure),
          beside: '',
          isMet: largest.figure.median < 1_000,
        },
    ratio('wild, 10,000: best peer to Writ', best ?? null, own(10_000), { least: 1_000 }),
    {
      what: `wild, ${count(tried.policies)}: rules tried, p99`,
      must: '≤ 16',
      figure: String(tried.p99),
      beside: '',
      isMet: tried.p99 <= 16,
    },
  ];
}

function requestTargets({ request, degraded }: Results): readonly Target[] {
  const { parse, decide, trace } = request;
  const kinds = ['withheld', 'mistyped', 'unknown'] as const;
  return [
    factor('with payload check, from fresh texts, to JSON.parse', decide, parse, { most: 1 }),
    factor('with a full trace, to that', trace, decide, { most: 3 }),
    ...kinds.map((kind) =>
      factor(`wild, 10,000: ${kind}, to a normal request`, degraded[kind], degraded.normal, { most: 10 }),
    ),
  ];
}

function compileTargets({ models, texts }: Results): readonly Target[] {
  const text = (policies: number, most: number): readonly Target[] => {
    const own = texts.filter((one) => one.policies === policies);
    const what = `text to ready, ${count(policies)}`;
    if (own.length === 0) return [missing(what, `≤ ${most} s`)];
    return own.map(({ workload, readyMs, textBytes }) => ({
      what: `${what}, ${workload}`,
      must: `≤ ${most} s`,
      figure: duration(readyMs * 1e6),
      beside: `${digits(textBytes / 1e6)} MB of text`,
      isMet: readyMs <= most * 1_000,
    }));
  };
  const changed = texts.filter(({ policies }) => policies === 10_000);
  return [
    ...text(10_000, 1),
    ...text(100_000, 10),
    ...(changed.length === 0
      ? [missing('one changed file among 10,000 policies', '≤ 150 ms')]
      : changed.map(({ workload, changedMs }) => ({
          what: `one changed file among 10,000 policies, ${workload}`,
          must: '≤ 150 ms',
          figure: duration(changedMs * 1e6),
          beside: '',
          isMet: changedMs <= 150,
        }))),
    ...models
      .filter(({ policies }) => policies === 100_000)
      .map(({ workload, bytesPerPolicy, linkedBytesPerPolicy }) => ({
        what: `bytes kept a policy, 100,000, ${workload}`,
        must: '≤ 400',
        figure: String(Math.round(bytesPerPolicy)),
        beside: `of these ${Math.round(linkedBytesPerPolicy)} beside the program as data`,
        isMet: bytesPerPolicy <= 400,
      })),
  ];
}

type Limit = { readonly most: number } | { readonly least: number };

/** How many times the one figure is the other. */
function ratio(what: string, upper: Measured | null, lower: Measured | null, limit: Limit): Target {
  if (upper === null || lower === null) return missing(what, must(limit));
  const target = factor(what, upper.figure, lower.figure, limit);
  return {
    ...target,
    beside: `${upper.name} ${withSpread(upper.figure)}; ${lower.name} ${withSpread(lower.figure)}`,
  };
}

function factor(what: string, upper: Figure, lower: Figure, limit: Limit): Target {
  const times = upper.median / lower.median;
  return {
    what,
    must: must(limit),
    figure: `${times < 10 ? times.toFixed(2) : Math.round(times)}x`,
    beside: `${withSpread(upper)}; ${withSpread(lower)}`,
    isMet: 'most' in limit ? times <= limit.most : times >= limit.least,
  };
}

function must(limit: Limit): string {
  return 'most' in limit ? `≤ ${limit.most}x` : `≥ ${limit.least}x`;
}

function missing(what: string, must: string): Target {
  return { what, must, figure: 'not measured', beside: '', isMet: null };
}

export function withSpread({ median, min, max }: Figure): string {
  return `${duration(median)} (${duration(min)}..${duration(max)})`;
}

function isPeer(engine: EngineKey): boolean {
  return engine !== 'writ' && engine !== 'map' && engine !== 'hand-written';
}

function count(policies: number): string {
  return policies.toLocaleString('en');
}
