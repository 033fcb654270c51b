// Compares what Writ has reached with what it must reach: one row for each target, with the spread of its
// figure and with the peers.

import { digits, duration, type Figure, size, times } from '../src/measure/figure.ts';
import type { Measured } from './decisions.ts';
import type { DegradedFigures } from './degraded.ts';
import type { EngineKey } from './engines.ts';
import type { HardFigures } from './hardest.ts';
import type { MeterFigures } from './meters.ts';
import type { MetersAtStart } from './meters-at-start.ts';
import type { PackFigures } from './packs.ts';
import type { ReadyFigures } from './ready.ts';
import type { RequestFigures } from './request.ts';
import type { TriedFigures } from './selected-rules.ts';
import type { PromiseStep } from './service/promises.ts';
import type { ServedFigures } from './service/served.ts';
import type { WorkloadName } from './workloads.ts';
import type { WorstFigures } from './worst.ts';

/** All measurements; null or empty when a section has not run. */
export interface Results {
  readonly decisions: readonly Measured[];
  readonly ready: readonly ReadyFigures[];
  readonly changed: readonly (Sized & { readonly files: number; readonly changedMs: Figure })[];
  readonly warm: readonly (Sized & Readonly<Record<'coldMs' | 'warmMs', Figure>>)[];
  readonly models: readonly ModelResult[];
  readonly reload: readonly (Sized &
    Readonly<Record<'longestPauseMs' | 'usualPauseMs' | 'reloadMs' | 'decisionsDuring', Figure>>)[];
  readonly request: RequestFigures | null;
  readonly degraded: (DegradedFigures & { readonly policies: number }) | null;
  readonly tried: TriedFigures | null;
  readonly packs: readonly PackFigures[];
  readonly hardest: readonly HardFigures[];
  readonly meters: readonly MeterFigures[];
  readonly starts: readonly MetersAtStart[];
  readonly worst: readonly WorstFigures[];
  readonly promises: readonly PromiseStep[];
  readonly served: ServedFigures | null;
}

interface Sized {
  readonly workload: WorkloadName;
  readonly policies: number;
}

export interface ModelResult extends Sized {
  readonly planMs: Figure;
  readonly linkMs: Figure;
  readonly bytesPerPolicy: Figure;
  readonly linkedBytesPerPolicy: Figure;
}

export interface Target {
  readonly what: string;
  readonly must: string;
  readonly figure: string;
  readonly beside: string;
  /** Null when this run has not measured the target's figure. */
  readonly isMet: boolean | null;
}

export function targets(results: Results): readonly Target[] {
  return [
    ...actionTargets(results.decisions),
    ...wildTargets(results),
    ...requestTargets(results),
    ...readyTargets(results),
    ...startTargets(results),
    ...memoryTargets(results),
    ...growthTargets(results),
  ];
}

type Find = (workload: WorkloadName, policies: number, engine: EngineKey) => Measured | null;

function finder(decisions: readonly Measured[]): Find {
  return (workload, policies, engine) =>
    decisions.find(
      (one) => one.workload === workload && one.policies === policies && one.engine === engine,
    ) ?? null;
}

function fastestPeer(
  decisions: readonly Measured[],
  workload: WorkloadName,
  policies: number,
): Measured | null {
  const peers = decisions.filter(
    (one) => one.workload === workload && one.policies === policies && isPeer(one.engine),
  );
  return peers.toSorted((a, b) => a.figure.median - b.figure.median)[0] ?? null;
}

function actionTargets(decisions: readonly Measured[]): readonly Target[] {
  const find = finder(decisions);
  const own = (policies: number): Measured | null => find('actions', policies, 'writ');
  const asked = (policies: number): Measured | null => find('actions', policies, 'writ-request');
  const toHandWritten = (policies: number, most: number): Target => {
    const byHand = find('actions', policies, 'hand-written');
    return ratio(`actions, ${count(policies)}: to hand-written`, own(policies), byHand, { most });
  };
  const faster = (name: string, peer: Measured | null, least: number): Target =>
    ratio(`actions, 1,000: ${name} to Writ`, peer, own(1_000), { least });
  return [
    toHandWritten(1_000, 2),
    ratio(
      'actions, 1,000, a request: to hand-written',
      asked(1_000),
      find('actions', 1_000, 'hand-written-request'),
      { most: 2.5 },
    ),
    ratio('actions, a request: growth from 1,000 to 100,000', asked(100_000), asked(1_000), { most: 2 }),
    faster('fastest peer', fastestPeer(decisions, 'actions', 1_000), 5),
    faster('CASL', find('actions', 1_000, 'casl'), 10),
    faster('OPA as WebAssembly', find('actions', 1_000, 'opa'), 100),
    faster('Cedar, sliced', find('actions', 1_000, 'cedar'), 500),
    toHandWritten(10_000, 1),
    toHandWritten(100_000, 1),
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
    figure: times(factor),
    beside: `${duration(tail.p99)} to ${duration(tail.p50)}, one by one`,
    isMet: factor <= 4,
  };
}

function wildTargets({ decisions, tried }: Results): readonly Target[] {
  const find = finder(decisions);
  const own = (policies: number): Measured | null => find('wild', policies, 'writ');
  const best = fastestPeer(decisions, 'wild', 10_000);
  return [
    ratio('wild: growth from 10 to 100,000', own(100_000), own(10), { most: 5 }),
    atMost('wild, 100,000', own(100_000)?.figure ?? null, { most: 1_000, must: '< 1 µs', show: duration }),
    atMost('wild, 100,000, a request', find('wild', 100_000, 'writ-request')?.figure ?? null, {
      most: 3_000,
      must: '≤ 3 µs',
      show: duration,
    }),
    ratio('wild, 10,000: best peer to Writ', best, own(10_000), { least: 1_000 }),
    tried === null
      ? missing('wild: rules tried, p99', '≤ 16')
      : {
          what: `wild, ${count(tried.policies)}: rules tried, p99`,
          must: '≤ 16',
          figure: String(tried.p99),
          beside: '',
          isMet: tried.p99 <= 16,
        },
  ];
}

function requestTargets({ request, degraded }: Results): readonly Target[] {
  const kinds = ['withheld', 'mistyped', 'unknown'] as const;
  return [
    factor('with payload check, from fresh texts, to JSON.parse', request?.decide, request?.parse, {
      most: 1,
    }),
    factor('with a full trace, to that', request?.trace, request?.decide, { most: 3 }),
    ...kinds.map((kind) =>
      factor(
        `wild, ${count(degraded?.policies ?? 10_000)}: ${kind}, to a normal request`,
        degraded?.[kind],
        degraded?.normal,
        { most: 10 },
      ),
    ),
  ];
}

function startTargets({ starts }: Results): readonly Target[] {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const what = 'a start with 1,000,000 requests in a window: a guarded request decided';
  const must = '≤ 10 s';
  const [without, own] = [false, true].map((kept) => starts.find((one) => one.hasSnapshots === kept));
  if (own === undefined) return [missing(what, must)];
  const beside = without === undefined ? '' : `${seconds(without.decidedMs)} before there are snapshots`;
  const figure = `${seconds(own.decidedMs)} with ${own.requests.toLocaleString('en')}`;
  return [{ what, must, figure, beside, isMet: own.decidedMs <= 10_000 }];
}

function readyTargets({ ready, warm, changed, reload }: Results): readonly Target[] {
  const milliseconds = (ms: number): string => duration(ms * 1e6);
  const fromText = (policies: number, seconds: number): readonly Target[] =>
    (['actions', 'wild'] as const).map((workload) => {
      const what = `text to ready, ${count(policies)}, ${workload}`;
      const all = ready.filter((one) => one.workload === workload && one.policies === policies);
      const own = all.find(({ engine }) => engine === 'writ');
      const beside = all.filter(({ engine }) => isPeer(engine)).map((one) => `${one.name} ${readyText(one)}`);
      if (own === undefined) return missing(what, `≤ ${seconds} s`);
      const isMet = own.readyMs !== null && own.readyMs.median <= seconds * 1_000;
      return { what, must: `≤ ${seconds} s`, figure: readyText(own), beside: beside.join('; '), isMet };
    });
  const toFastest = (policies: number): Target => {
    const [own, peer] = (['writ', 'json-logic'] as const).map(
      (engine) =>
        ready.find((one) => one.workload === 'actions' && one.policies === policies && one.engine === engine)
          ?.readyMs ?? undefined,
    );
    const inNanoseconds = (figure: Figure | undefined): Figure | undefined =>
      figure && { median: figure.median * 1e6, min: figure.min * 1e6, max: figure.max * 1e6 };
    const what = `text to ready, ${count(policies)}, actions: to json-logic-engine`;
    return factor(what, inNanoseconds(own), inNanoseconds(peer), { most: 1.2 });
  };
  return [
    ...fromText(1_000, 0.2),
    ...fromText(10_000, 1),
    toFastest(10_000),
    ...fromText(100_000, 10),
    ...orMissing('a start with what was kept, 100,000', '≤ 600 ms', warm, (one) => ({
      ...atMost(`a start with what was kept, ${count(one.policies)}, ${one.workload}`, one.warmMs, {
        most: 600,
        must: '≤ 600 ms',
        show: milliseconds,
      }),
      beside: `${milliseconds(one.coldMs.median)} without`,
    })),
    ...orMissing('one changed file among 10,000 policies', '≤ 150 ms', changed, (one) =>
      atMost(
        `one of ${one.files} files changed, ${count(one.policies)} policies, ${one.workload}`,
        one.changedMs,
        {
          most: 150,
          must: '≤ 150 ms',
          show: milliseconds,
        },
      ),
    ),
    ...orMissing('longest pause of decisions during a reload', '≤ 5 ms', reload, (one) => ({
      ...atMost(
        `longest pause during a reload, ${count(one.policies)}, ${one.workload}`,
        one.longestPauseMs,
        {
          most: 5,
          must: '≤ 5 ms',
          show: milliseconds,
        },
      ),
      beside: `${milliseconds(one.usualPauseMs.median)} while nothing changes; reload ${milliseconds(one.reloadMs.median)}, ${count(Math.round(one.decisionsDuring.median))} decisions meanwhile`,
    })),
  ];
}

function memoryTargets({ models }: Results): readonly Target[] {
  const largest = models.filter(({ policies }) => policies === 100_000);
  return orMissing('bytes kept a policy, 100,000', '≤ 400', largest, (one) => ({
    ...atMost(`bytes kept a policy, 100,000, ${one.workload}`, one.bytesPerPolicy, {
      most: 400,
      must: '≤ 400',
      show: (bytes) => String(Math.round(bytes)),
    }),
    beside: `of these ${size(one.linkedBytesPerPolicy.median)} beside the program as data`,
  }));
}

const exponentMax = 1.15;

/** The steepest of the cases that grow; the report lists all cases below the table. */
function growthTargets({ hardest, worst }: Results): readonly Target[] {
  const steepest = (
    what: string,
    all: readonly { readonly name: string; readonly exponent: number }[],
  ): Target => {
    const must = `≤ ${exponentMax}`;
    const [first] = all.toSorted((a, b) => b.exponent - a.exponent);
    if (first === undefined) return missing(what, must);
    const { name, exponent } = first;
    return { what, must, figure: exponent.toFixed(2), beside: name, isMet: exponent <= exponentMax };
  };
  return [
    steepest('worst case: exponent of growth with the payload', worst),
    steepest('hardest policies: exponent of growth with the rules', hardest),
  ];
}

function orMissing<T>(
  what: string,
  must: string,
  all: readonly T[],
  show: (one: T) => Target,
): readonly Target[] {
  return all.length === 0 ? [missing(what, must)] : all.map(show);
}

interface Most {
  readonly most: number;
  readonly must: string;
  readonly show: (value: number) => string;
}

function atMost(what: string, figure: Figure | null, { most, must, show }: Most): Target {
  if (figure === null) return missing(what, must);
  const { median, min, max } = figure;
  return {
    what,
    must,
    figure: `${show(median)} (${show(min)}..${show(max)})`,
    beside: '',
    isMet: median <= most,
  };
}

type Limit = { readonly most: number } | { readonly least: number };

/** Compares the time of `upper`, as a multiple of the time of `lower`, with the limit. */
function ratio(what: string, upper: Measured | null, lower: Measured | null, limit: Limit): Target {
  const target = factor(what, upper?.figure, lower?.figure, limit);
  if (upper === null || lower === null) return target;
  const beside = [upper, lower].map(({ name, figure }) => `${name} ${withSpread(figure)}`).join('; ');
  return { ...target, beside };
}

function factor(what: string, upper: Figure | undefined, lower: Figure | undefined, limit: Limit): Target {
  const must = 'most' in limit ? `≤ ${limit.most}x` : `≥ ${limit.least}x`;
  if (upper === undefined || lower === undefined) return missing(what, must);
  const value = upper.median / lower.median;
  return {
    what,
    must,
    figure: times(value),
    beside: `${withSpread(upper)}; ${withSpread(lower)}`,
    isMet: 'most' in limit ? value <= limit.most : value >= limit.least,
  };
}

function missing(what: string, must: string): Target {
  return { what, must, figure: 'not measured', beside: '', isMet: null };
}

/** `1.2 s (1.1 s..1.4 s)`, or `over 60 s`. */
export function readyText({ readyMs, limitMs }: ReadyFigures): string {
  if (readyMs === null) return `over ${digits(limitMs / 1_000)} s`;
  const { median, min, max } = readyMs;
  return withSpread({ median: median * 1e6, min: min * 1e6, max: max * 1e6 });
}

/** Formats a figure in nanoseconds, with its spread. */
export function withSpread({ median, min, max }: Figure): string {
  return `${duration(median)} (${duration(min)}..${duration(max)})`;
}

const own: readonly EngineKey[] = ['writ', 'writ-request', 'map', 'hand-written', 'hand-written-request'];

function isPeer(engine: EngineKey): boolean {
  return !own.includes(engine);
}

function count(policies: number): string {
  return policies.toLocaleString('en');
}
