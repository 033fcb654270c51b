/** Which codes are active currencies, and that the runtime knows nearly all of them. */

import { expect, test } from 'vitest';
import { isCurrency } from '../../src/language/value/currency.ts';

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
