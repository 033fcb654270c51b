/** Which codes are active currencies, and that the runtime knows nearly all of them. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAmountOf, isCurrency, isInUnits, unitDigits } from '../../../src/language/value/currency.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';

test.each(['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'XCG', 'ZWG', 'VED', 'XAU', 'XXX'])('%s', (code) => {
  expect(isCurrency(code)).toBe(true);
});

test.each(['usd', 'US', 'USDT', 'DEM', 'HRK', 'ANG', 'BGN', 'ZWL', '', 'AED AFN', ' '])(
  '%j is none',
  (code) => {
    expect(isCurrency(code)).toBe(false);
  },
);

test('there are 178 of them, made of three capital letters', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const all = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
  expect(all.filter(isCurrency)).toHaveLength(178);
});

const codes = ['JPY', 'USD', 'KWD', 'CLF', 'XAU'];

test('each has the minor unit of the standard', () => {
  expect([...codes, 'MGA', 'MRU', 'UYI', 'UYW', 'HUF', 'ISK', 'XDR', 'XXX'].map(unitDigits)).toEqual([
    0,
    2,
    3,
    4,
    Number.POSITIVE_INFINITY,
    2,
    2,
    0,
    4,
    2,
    0,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ]);
});

test.each([
  ['JPY', [0, -3, 1e300, 2500], [0.5, 1e-7, 2499.99]],
  ['USD', [0.1, 0.29, 1.15, 4.35, -0.07, 1e21, 12345678901.23, 9999999999999.99], [0.001, 1.155, 1e-9]],
  ['KWD', [0.001, 1.005, 8.115], [0.0001, 1.0005]],
  ['CLF', [0.0001, 40000.1234], [0.00001]],
  ['XAU', [0.00001, 1e-9], []],
])('%s: %j are amounts, %j are none', (code, are, areNot) => {
  const all = [...are, ...areNot];
  expect(all.filter((amount) => isAmountOf(amount, code))).toEqual(are);
  expect(all.filter((amount) => isInUnits(fromNumber(amount), code))).toEqual(are);
});

test('a number is judged as its exact decimal is', () => {
  const near = fc
    .tuple(fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n }), fc.integer({ min: 0, max: 6 }))
    .map(([coefficient, places]) => Number(`${coefficient}e-${places}`));
  const amount = fc.oneof(near, fc.double({ noNaN: true, noDefaultInfinity: true }));
  fc.assert(
    fc.property(amount, fc.constantFrom(...codes), (value, code) => {
      expect(isAmountOf(value, code)).toBe(isInUnits(fromNumber(value), code));
    }),
    { numRuns: 5000 },
  );
  expect(isAmountOf(1, 'usd')).toBe(false);
});
