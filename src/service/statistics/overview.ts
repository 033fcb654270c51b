// Cells of a time range into what people look at: outcomes of requests over time, how long decisions took,
// which policies decided, how risky requests were, and how long people took to approve.

import { addCell, type CellCounts, createCell, outcomeAt, refusalsByCode, riskSteps } from './cell.ts';
import { quantile } from './histogram.ts';
import type { Statistics, TimeRange } from './statistics.ts';
import { floorTo, hourMs, hoursBeforeMs, minuteMs } from './times.ts';

export interface OverviewRange extends TimeRange {
  /** The length of a step: whole minutes, or whole hours when part of the range is kept by hours. */
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
  /** The policies that decided most; the name is null for decisions that no policy made. */
  readonly policies: readonly (Outcomes & { readonly name: string | null })[];
  readonly risk: readonly { readonly from: number; readonly to: number; readonly count: number }[];
  readonly escalations: {
    readonly opened: number;
    readonly approved: number;
    readonly rejected: number;
    readonly expired: number;
    /** How many of the expired waits were for a step-up. */
    readonly expiredStepUps: number;
    /** Milliseconds from request to approval. */
    readonly timeToApprove: Quantiles;
  };
  /** Refusals by code. */
  readonly refusals: ReadonlyMap<string, number>;
  /** How many requests were decided or refused. */
  readonly total: number;
}

interface Quantiles {
  readonly p50: number | null;
  readonly p90: number | null;
}

/** How long decisions took, in microseconds; null when there were none. */
interface LatencyQuantiles extends Quantiles {
  readonly p99: number | null;
}

const policiesShownMax = 20;

/**
 * Returns the range that can be answered: wider than asked when it is kept by hours, in at most `bucketsMax`
 * steps.
 */
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
