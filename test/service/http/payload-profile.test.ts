// The payload profile, compared with a plain definition of each figure.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { fieldsMax, profileFields } from '../../../src/service/http/resources/agents/agent-activity.ts';
import { textLengthMax } from '../../../src/service/requests/confusables.ts';

test('numbers are described by their range, other values by their frequency', () => {
  const payloads = [
    { amount: 30, vendor: 'A', ok: true, lines: [{ price: 1 }, { price: 9 }], 'odd name': null },
    { amount: 10, vendor: 'B', lines: [], mixed: 1 },
    { amount: 20, vendor: 'A', lines: [{ price: 4 }], mixed: 'x', deep: { er: 'y' } },
    { amount: 90, vendor: 'A' },
  ];
  expect(profileFields(payloads)).toEqual([
    { path: 'amount', kind: 'number', min: 10, p50: 20, max: 90 },
    {
      path: 'vendor',
      kind: 'text',
      distinct: 2,
      common: [
        { value: 'A', count: 3 },
        { value: 'B', count: 1 },
      ],
    },
    { path: 'ok', kind: 'other', distinct: 1, common: [{ value: true, count: 1 }] },
    { path: 'lines[].price', kind: 'number', min: 1, p50: 4, max: 9 },
    { path: '"odd name"', kind: 'other', distinct: 1, common: [{ value: null, count: 1 }] },
    {
      path: 'mixed',
      kind: 'other',
      distinct: 2,
      common: [
        { value: 1, count: 1 },
        { value: 'x', count: 1 },
      ],
    },
    { path: 'deep.er', kind: 'text', distinct: 1, common: [{ value: 'y', count: 1 }] },
  ]);
  expect(profileFields([])).toEqual([]);
});

test('at most five values, a few fields, and no long text', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, at]));
  expect(profileFields([many])).toHaveLength(fieldsMax);
  const long = 'x'.repeat(5_000);
  const [field] = profileFields([...'abcdefg', long].map((value) => ({ value })));
  expect(field).toMatchObject({ distinct: 8 });
  expect(field?.kind === 'text' && field.common).toHaveLength(5);
  const cut = profileFields([{ value: long }])[0];
  expect(cut?.kind === 'text' && String(cut.common[0]?.value)).toHaveLength(textLengthMax);
});

test('the median has as many values below as above', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 1 }), (values) => {
      const [field] = profileFields(values.map((n): JsonObject => ({ n })));
      if (field?.kind !== 'number') throw new Error('numbers are numbers');
      expect(field.min).toBe(Math.min(...values));
      expect(field.max).toBe(Math.max(...values));
      expect(values.filter((one) => one < field.p50).length).toBeLessThan(values.length / 2);
      expect(values.filter((one) => one > field.p50).length).toBeLessThanOrEqual(values.length / 2);
    }),
  );
});
