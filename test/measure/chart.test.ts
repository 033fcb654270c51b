// Charts of measurements are well-formed XML for any data, and all of the data lies inside the picture.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Chart, drawChart } from '../../src/measure/chart.ts';
import { drawDistribution } from '../../src/measure/distribution.ts';
import { parseXml } from './xml.ts';

const axis = { label: 'how much', kind: 'linear', format: String } as const;
const chart: Chart = {
  title: 'growth',
  x: { ...axis, kind: 'logarithmic' },
  y: axis,
  lines: [
    {
      name: 'own',
      isOwn: true,
      points: [
        [1, 0],
        [10, 5],
        [100, 7],
      ],
    },
    {
      name: 'other',
      isOwn: false,
      points: [
        [1, 5],
        [10, 5],
        [100, 7],
      ],
    },
  ],
};

describe('drawChart', () => {
  it('is valid XML whatever the texts hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (title, name) => {
        const lines = chart.lines.map((line) => ({ ...line, name: `${name}<&>"'\u0000]]>` }));
        const elements = parseXml(drawChart({ ...chart, title, lines }));
        expect(elements[0]!.name).toBe('svg');
      }),
      { numRuns: 30 },
    );
  });

  it('keeps every point and every name inside the picture, for any values', () => {
    const positive = fc.double({ min: 1e-3, max: 1e12, noNaN: true });
    const points = fc.array(fc.tuple(positive, positive), { minLength: 1, maxLength: 20 });
    const kind = fc.constantFrom('linear', 'logarithmic');
    fc.assert(
      fc.property(fc.array(points, { minLength: 1, maxLength: 12 }), kind, kind, (all, x, y) => {
        const lines = all.map((own, at) => ({ name: `line ${at}`, isOwn: at === 0, points: own }));
        const drawn = drawChart({ title: '', x: { ...axis, kind: x }, y: { ...axis, kind: y }, lines });
        for (const { name, attributes } of parseXml(drawn)) {
          if (name !== 'circle' && name !== 'text') continue;
          const across = Number(attributes.cx ?? attributes.x);
          const down = Number(attributes.cy ?? attributes.y);
          expect(across >= 0 && across <= 900 && down >= 0 && down <= 480).toBe(true);
        }
      }),
      {
        // Logarithms of these values are close to those of a power of ten.
        examples: [
          [[[[0.001, 999999999999.9979]]], 'linear', 'logarithmic'],
          [
            [
              [
                [10, 1],
                [1000.0000000000001, 1],
              ],
            ],
            'logarithmic',
            'linear',
          ],
        ],
      },
    );
  });

  it('moves names apart that would stand on each other', () => {
    const drawn = parseXml(drawChart(chart)).filter(({ attributes }) => attributes.class?.startsWith('name'));
    const [one, other] = drawn.map(({ attributes }) => Number(attributes.y));
    expect(Math.abs(one! - other!)).toBeGreaterThanOrEqual(15);
  });

  it('has colours for light and for dark ground', () => {
    expect(drawChart(chart)).toContain('@media (prefers-color-scheme:dark)');
  });
});

describe('drawDistribution', () => {
  it('is drawn for one request and for many', () => {
    for (const length of [1, 2, 50, 5_000]) {
      const nanoseconds = Float64Array.from({ length }, (_, at) => 100 + ((at * 7919) % 1_000));
      const elements = parseXml(drawDistribution('latencies', [{ name: 'a', isOwn: true, nanoseconds }]));
      const line = elements.find(({ name }) => name === 'polyline')!;
      const heights = line.attributes.points!.split(' ').map((point) => Number(point.split(',')[1]));
      // A larger share of the requests never takes less time.
      expect(heights).toEqual(heights.toSorted((a, b) => b - a));
    }
  });
});
