// Cells of a stretch of time into what people look at: what came of requests in steps of it, how long deciding took,
// which policies decided, how risky it was, and how long people were waited for.

import { addCell, type CellCounts, createCell, outcomeAt, refusalsByCode, riskSteps } from './cell.ts';
import { quantile } from './histogram.ts';
import type { Statistics, TimeRange } from './statistics.ts';
import { floorTo, hourMs, hoursBeforeMs, minuteMs } from './times.ts';

export interface OverviewRange extends TimeRange {
  /** Whole minutes; whole hours where some of it is kept by hours. */
  readonly bucketMs: number;
}

export interface Outcomes {
  readonly allow: number;
  readonly deny: number;
  readonly escalate: number;
  readonly reauth: number;
}

export interface Overview {
  readonly buckets: readonly (Outcomes & { readonly atMs: number; readonly refused: number })[];
  readonly latency: readonly (LatencyQuantiles & { readonly atMs: number })[];
  readonly latencyOfAll: LatencyQuantiles;
  /** Those that decided most; the name is null for what no policy decided. */
  readonly policies: readonly (Outcomes & { readonly name: string | null })[];
  readonly risk: readonly { readonly from: number; readonly to: number; readonly count: number }[];
  readonly escalations: {
    readonly opened: number;
    readonly approved: number;
    readonly rejected: number;
    readonly expired: number;
    /** Of those that expired, the ones that waited for a step-up. */
    readonly expiredStepUps: number;
    /** In milliseconds. */
    readonly timeToApprove: Quantiles;
  };
  /** By code. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Decided and refused requests. */
  readonly total: number;
}

interface Quantiles {
  readonly p50: number | null;
  readonly p90: number | null;
}

/** How long deciding took, in microseconds; null where nothing was decided. */
interface LatencyQuantiles extends Quantiles {
  readonly p99: number | null;
}

const policiesShownMax = 20;

/** The times as they are answered for: wider than asked where they are kept by hours, in at most so many steps. */
export function overviewRange(
  { fromMs, untilMs }: TimeRange,
  { bucketsMax, nowMs }: { readonly bucketsMax: number; readonly nowMs: number },
): OverviewRange {
  const stepMs = fromMs < hoursBeforeMs(nowMs) ? hourMs : minuteMs;
  const from = floorTo(fromMs, stepMs);
  const until = -floorTo(-untilMs, stepMs);
  return {
    fromMs: from,
    untilMs: until,
    bucketMs: Math.max(stepMs, -floorTo(-(until - from) / bucketsMax, stepMs)),
  };
}

export async function readOverview(
  statistics: Pick<Statistics, 'read'>,
  range: OverviewRange,
): Promise<Overview> {
  const { fromMs, untilMs, bucketMs } = range;
  const cells: CellCounts[] = [];
  for (let atMs = fromMs; atMs < untilMs; atMs += bucketMs) cells.push(createCell(Number.POSITIVE_INFINITY));
  await statistics.read(range, ({ atMs, addTo }) => {
    const cell = cells[Math.floor((atMs - fromMs) / bucketMs)];
    if (cell !== undefined) addTo(cell);
  });
  const all = createCell(Number.POSITIVE_INFINITY);
  for (const cell of cells) addCell(all, cell);
  const atOf = (index: number): number => fromMs + index * bucketMs;
  const { approved, rejected, expired } = all.ended;
  return {
    buckets: cells.map((cell, index) => ({
      atMs: atOf(index),
      ...outcomesOf(cell.decisions),
      refused: sum([...cell.refusals.values()]),
    })),
    latency: cells.map((cell, index) => ({ atMs: atOf(index), ...latencyOf(cell) })),
    latencyOfAll: latencyOf(all),
    policies: policiesOf(all),
    risk: all.risk.map((count, index) => ({
      from: index * riskSteps,
      to: index === riskSteps - 1 ? 100 : (index + 1) * riskSteps - 1,
      count,
    })),
    escalations: {
      opened: countOf(all.decisions, 'ESCALATE') + countOf(all.decisions, 'REAUTH_REQUIRED'),
      approved,
      rejected,
      expired,
      expiredStepUps: all.expiredStepUps,
      timeToApprove: waitsOf(all),
    },
    refusals: refusalsByCode(all),
    total: sum(all.decisions) + sum([...all.refusals.values()]),
  };
}

function policiesOf({ policies }: CellCounts): Overview['policies'] {
  return [...policies]
    .map(([name, counts]) => ({ name, counts, count: sum(counts) }))
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, policiesShownMax)
    .map(({ name, counts }) => ({ name: name === '' ? null : name, ...outcomesOf(counts) }));
}

function latencyOf({ latency }: CellCounts): LatencyQuantiles {
  return { p50: quantile(latency, 0.5), p90: quantile(latency, 0.9), p99: quantile(latency, 0.99) };
}

function waitsOf({ waits }: CellCounts): Quantiles {
  if (waits === null) return { p50: null, p90: null };
  return { p50: quantile(waits, 0.5), p90: quantile(waits, 0.9) };
}

function outcomesOf(counts: readonly number[]): Outcomes {
  return {
    allow: countOf(counts, 'ALLOW'),
    deny: countOf(counts, 'DENY'),
    escalate: countOf(counts, 'ESCALATE'),
    reauth: countOf(counts, 'REAUTH_REQUIRED'),
  };
}

function countOf(counts: readonly number[], outcome: keyof typeof outcomeAt): number {
  return counts[outcomeAt[outcome]] ?? 0;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
