// The overview's own arithmetic: spans of time in whole steps, series for plots and tables, keys, texts.

import { describe, expect, test } from 'vitest';
import {
  countLabels,
  enclosingPowers,
  powers,
  stretchText,
} from '../../src/dashboard/pages/overview/axes.ts';
import { rangeNames, rangeQuery, readRange, zoomQuery } from '../../src/dashboard/pages/overview/range.ts';
import {
  cutBars,
  isolatedPositions,
  latencyText,
  movedTo,
  type Overview,
  outcomeSeries,
  outcomeTotals,
  riskSteps,
  type Series,
  shareText,
  stacked,
  timeSteps,
} from '../../src/dashboard/pages/overview/series.ts';

const nowMs = Date.parse('2026-03-02T10:17:23.456Z');

function range(text: string, zoneMinutes = 0) {
  return readRange(new URLSearchParams(text), { nowMs, zoneMs: zoneMinutes * 60_000, isNarrow: false });
}

describe('the time range', () => {
  test('is the last 24 hours in whole steps, unless another is said', () => {
    expect(rangeQuery(range(''))).toEqual({
      from: '2026-03-01T10:30Z',
      to: '2026-03-02T10:30Z',
      buckets: '48',
    });
    expect(range('range=forever')).toEqual(range('range=24h'));
    expect(rangeQuery(range('range=1h'))).toMatchObject({ from: '2026-03-02T09:18Z', buckets: '60' });
  });

  test('holds now, and as many steps as the service gives', () => {
    for (const name of rangeNames) {
      const { fromMs, untilMs, stepMs, isLive } = range(`range=${name}`);
      expect(fromMs).toBeLessThan(nowMs);
      expect(untilMs).toBeGreaterThan(nowMs);
      expect((untilMs - fromMs) % stepMs).toBe(0);
      expect((untilMs - fromMs) / stepMs).toBeLessThanOrEqual(200);
      expect(isLive).toBe(true);
    }
  });

  test('has half as many steps on a narrow screen', () => {
    const narrow = { nowMs, zoneMs: 0, isNarrow: true };
    const zoom = 'from=2026-03-02T08:00Z&to=2026-03-02T09:36Z';
    for (const text of [...rangeNames.map((name) => `range=${name}`), zoom]) {
      const { stepMs } = readRange(new URLSearchParams(text), narrow);
      expect([text, stepMs]).toEqual([text, 2 * range(text).stepMs]);
    }
  });

  test("begins steps of hours at the reader's midnight", () => {
    expect(rangeQuery(range('range=30d', 60))).toMatchObject({ to: '2026-03-02T11:00Z' });
    expect(rangeQuery(range('range=30d', -330))).toMatchObject({ to: '2026-03-02T17:30Z' });
  });

  test('of a zoom is widened to whole steps, and is live only if it includes the present', () => {
    expect(rangeQuery(range('from=2026-03-02T08:03Z&to=2026-03-02T08:49Z'))).toEqual({
      from: '2026-03-02T08:03Z',
      to: '2026-03-02T08:49Z',
      buckets: '46',
    });
    expect(range('from=2026-03-02T08:03Z&to=2026-03-02T08:49Z').isLive).toBe(false);
    expect(range('from=2026-03-02T08:03Z&to=2026-03-02T10:49Z').isLive).toBe(true);
    expect(range('from=2020-01-01&to=2026-01-01').stepMs % 86_400_000).toBe(0);
  });

  test.each([
    'from=2026-03-02T08:00Z',
    'from=x&to=y',
    'from=2026-03-02T09:00Z&to=2026-03-02T08:00Z',
    'from=-000001-01-01&to=2026-03-02',
    'from=2026-03-02&to=%2B275760-09-13',
  ])('is the usual one where the address says nothing good: %s', (text) => {
    expect(range(text)).toEqual(range(''));
  });

  test('zoomed into is never too short to be shown', () => {
    const atMs = Date.parse('2026-03-02T08:00Z');
    expect(zoomQuery(atMs, atMs + 60_000)).toEqual({ from: '2026-03-02T07:58Z', to: '2026-03-02T08:03Z' });
    expect(zoomQuery(atMs, atMs + 600_000)).toEqual({ from: '2026-03-02T08:00Z', to: '2026-03-02T08:10Z' });
  });
});

const none = { allow: 0, deny: 0, escalate: 0, reauth: 0, refused: 0 };
const overview: Overview = {
  from: '2026-03-02T08:00:00.000Z',
  to: '2026-03-02T09:00:00.000Z',
  bucket_seconds: 2_100,
  buckets: [
    { at: '2026-03-02T08:00:00.000Z', ...none, allow: 5, deny: 1 },
    { at: '2026-03-02T08:35:00.000Z', ...none, allow: 2, refused: 3 },
  ],
  latency: [],
  total_latency: { p50_us: null, p90_us: null, p99_us: null },
  refusals: [],
  policies: [],
  risk: Array.from({ length: 10 }, (_, step) => ({
    from: step * 10,
    to: step === 9 ? 100 : step * 10 + 9,
    count: step,
  })),
  escalations: {
    opened: 0,
    approved: 0,
    rejected: 0,
    expired: 0,
    expired_step_ups: 0,
    pending: 0,
    time_to_approve_seconds: { p50: null, p90: null },
  },
  total: 11,
};

describe('series', () => {
  test('are steps with an end for the last, which may lie behind the stretch', () => {
    const { edges, to } = timeSteps(overview);
    expect(edges.map((ms) => new Date(ms).toISOString().slice(11, 16))).toEqual(['08:00', '08:35', '09:10']);
    expect(to).toBe(edges[2]);
    expect(riskSteps(overview)).toMatchObject({
      from: 0,
      to: 100,
      edges: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    });
    expect(riskSteps({ ...overview, risk: overview.risk.slice(4, 6) })).toMatchObject({ from: 40, to: 60 });
  });

  test('hold what was not taken away, and stand upon each other', () => {
    const series = outcomeSeries(overview, ['allow', 'refused']);
    expect(series.map(({ name, values }) => [name, ...values])).toEqual([
      ['Allow', 5, 2],
      ['Refused', 0, 3],
    ]);
    expect(stacked(series)).toEqual([
      [5, 2],
      [5, 5],
    ]);
    expect(stacked([])).toEqual([]);
    expect(outcomeTotals(overview)).toEqual({ ...none, allow: 7, deny: 1, refused: 3 });
  });

  test('can be distinguished without their colours', () => {
    const all: readonly Series[] = outcomeSeries(overview, [
      'allow',
      'deny',
      'escalate',
      'reauth',
      'refused',
    ]);
    expect(new Set(all.map(({ style: look }) => look)).size).toBe(all.length);
  });
});

test.each([
  ['ArrowRight', null, 0],
  ['ArrowLeft', null, 9],
  ['ArrowRight', 9, 9],
  ['ArrowLeft', 0, 0],
  ['ArrowRight', 3, 4],
  ['PageDown', 9, 8],
  ['Home', 5, 0],
  ['End', 5, 9],
  ['a', 5, null],
] as const)('%s moves the cursor from %s to %s', (key, at, to) => {
  expect(movedTo(key, at, 10)).toBe(to);
  expect(movedTo(key, at, 0)).toBe(null);
});

describe('texts', () => {
  test.each([
    [null, '–'],
    [0.25, '0.25 µs'],
    [6, '6 µs'],
    [999.4, '999 µs'],
    [38_500, '38.5 ms'],
    [2_000_000, '2 s'],
  ])('a latency of %s µs is %s', (us, text) => expect(latencyText(us)).toBe(text));

  test.each([
    [0, 0, '0 %'],
    [0, 7, '0 %'],
    [7, 7, '100 %'],
    [1, 100_000, '< 0.1 %'],
    [99_999, 100_000, '99.9 %'],
    [1, 3, '33.3 %'],
  ])('%s of %s is %s', (part, whole, text) => expect(shareText(part, whole)).toBe(text));

  test('the scale of latencies goes by 1, 2, 5 around the values', () => {
    expect(enclosingPowers(6, 38)).toEqual([5, 50]);
    expect(enclosingPowers(5, 5)).toEqual([5, 10]);
    for (const tick of powers(0.3, 40_000)) expect(String(tick)).toMatch(/^[125]0*$|^0\.\d*[125]$/);
    expect(countLabels([0, 1_500])).toHaveLength(2);
  });

  test('a stretch within a day says the day once', () => {
    const days = (from: string, to: string) =>
      stretchText(Date.parse(from), Date.parse(to)).match(/Mar/g)?.length;
    expect(days('2026-03-02T12:00:00', '2026-03-02T12:30:00')).toBe(1);
    expect(days('2026-03-02T23:30:00', '2026-03-03T00:00:00')).toBe(2);
    expect(days('2026-03-02T12:00:00', '2026-03-09T12:00:00')).toBe(2);
  });
});

test('values between none are drawn as points', () => {
  expect(isolatedPositions([1, null, 2, 3, null, 0])).toEqual([0, 5]);
  expect(isolatedPositions([null, 5, null])).toEqual([1]);
});

describe('bars that are cut', () => {
  const bars = (...totals: readonly number[]): readonly Series[] => [
    { key: 'a', name: 'A', color: 'allow', style: 'plain', values: totals.map((total) => total - 1) },
    { key: 'b', name: 'B', color: 'deny', style: 'plain', values: totals.map(() => 1) },
  ];

  test('are those far above all others, at twice the usual height', () => {
    const usual = Array.from({ length: 20 }, (_, at) => 2 + (at % 7));
    expect(cutBars(bars(...usual, 400))).toEqual({ limit: 16, steps: [20] });
    expect(cutBars(bars(500, 3, 4, 5))).toEqual({ limit: 10, steps: [0] });
    expect(cutBars(bars(500, 12, 3, 4, 5, 400, ...usual))?.steps).toEqual([0, 5]);
  });

  test('are none where bars can be compared, or stand alone', () => {
    expect(cutBars(bars(40, 10, 9, 8))).toBeNull();
    expect(cutBars(bars(500))).toBeNull();
    expect(cutBars(bars(500, 480, 490, 3, 4))).toBeNull();
    expect(cutBars([])).toBeNull();
  });
});
