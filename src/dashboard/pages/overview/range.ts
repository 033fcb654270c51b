// Reads the stretch of time that the overview shows from its address: a range up to now, or a zoomed part.
// Its ends fall on steps of its plots, so that a bar that is over no longer changes.

export const rangeNames = ['1h', '24h', '7d', '30d'] as const;
export type RangeName = (typeof rangeNames)[number];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface RangeChoice {
  readonly word: string;
  readonly lengthMs: number;
  readonly stepMs: number;
}

export const ranges: Readonly<Record<RangeName, RangeChoice>> = {
  '1h': { word: '1 hour', lengthMs: hourMs, stepMs: minuteMs },
  '24h': { word: '24 hours', lengthMs: dayMs, stepMs: 30 * minuteMs },
  '7d': { word: '7 days', lengthMs: 7 * dayMs, stepMs: 2 * hourMs },
  '30d': { word: '30 days', lengthMs: 30 * dayMs, stepMs: 12 * hourMs },
};

export interface Range {
  readonly fromMs: number;
  /** The end of the stretch, not included. */
  readonly untilMs: number;
  readonly stepMs: number;
  /** Null when zoomed into a part. */
  readonly name: RangeName | null;
  /** Whether the stretch includes the present. */
  readonly isLive: boolean;
}

const stepsMax = 96;
/** On a phone steps are wider by this factor, because patterns need bars of some width. */
const narrowFactor = 2;
const zoomMsMin = 5 * minuteMs;
/** The last year with four digits. */
const lastMs = Date.UTC(9999, 0);
const niceSteps = [1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1_440].map((minutes) => minutes * minuteMs);

export interface Reader {
  readonly nowMs: number;
  /**
   * How far the reader's clock is ahead of UTC, in milliseconds: steps of hours begin at the reader's
   * midnight.
   */
  readonly zoneMs: number;
  readonly isNarrow: boolean;
}

export function readRange(query: URLSearchParams, { nowMs, zoneMs, isNarrow }: Reader): Range {
  const factor = isNarrow ? narrowFactor : 1;
  const fromMs = Date.parse(query.get('from') ?? '');
  const untilMs = Date.parse(query.get('to') ?? '');
  if (fromMs >= 0 && untilMs > fromMs && untilMs <= lastMs) {
    const stepMs = stepFor((untilMs - fromMs) * factor);
    const zoomed = aligned({ fromMs, untilMs, stepMs }, zoneMs);
    return { ...zoomed, stepMs, name: null, isLive: zoomed.untilMs > nowMs };
  }
  const name = rangeNames.find((one) => one === query.get('range')) ?? '24h';
  const { lengthMs } = ranges[name];
  const stepMs = ranges[name].stepMs * factor;
  const { untilMs: endMs } = aligned({ fromMs: nowMs, untilMs: nowMs + 1, stepMs }, zoneMs);
  return { fromMs: endMs - lengthMs, untilMs: endMs, stepMs, name, isLive: true };
}

/** The query that loads the stretch from the service. */
export function rangeQuery({ fromMs, untilMs, stepMs }: Range): {
  from: string;
  to: string;
  buckets: string;
} {
  return { ...zoomQuery(fromMs, untilMs), buckets: String(Math.ceil((untilMs - fromMs) / stepMs)) };
}

/** The part of the address that zooms into a stretch, which is extended to the shortest that can be shown. */
export function zoomQuery(fromMs: number, untilMs: number): { from: string; to: string } {
  const remainingMs = Math.max(0, zoomMsMin - (untilMs - fromMs));
  const text = (ms: number) => new Date(ms).toISOString().replace(':00.000Z', 'Z');
  const startMs = fromMs - Math.ceil(remainingMs / 2 / minuteMs) * minuteMs;
  return { from: text(startMs), to: text(Math.max(untilMs, startMs + zoomMsMin)) };
}

function stepFor(lengthMs: number): number {
  return (
    niceSteps.find((stepMs) => lengthMs / stepMs <= stepsMax) ??
    Math.ceil(lengthMs / stepsMax / dayMs) * dayMs
  );
}

/** The stretch, extended to whole steps. */
function aligned(
  { fromMs, untilMs, stepMs }: { readonly fromMs: number; readonly untilMs: number; readonly stepMs: number },
  zoneMs: number,
): { readonly fromMs: number; readonly untilMs: number } {
  return {
    fromMs: Math.floor((fromMs + zoneMs) / stepMs) * stepMs - zoneMs,
    untilMs: Math.ceil((untilMs + zoneMs) / stepMs) * stepMs - zoneMs,
  };
}
