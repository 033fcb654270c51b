/** Decimals compared with exact fractions, and at the ends of their range. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  absolute,
  add,
  compare,
  type Decimal,
  digitsMax,
  divide,
  equal,
  floor,
  formatDecimal,
  fromNumber,
  isInRange,
  isInteger,
  multiply,
  negate,
  parseDecimal,
  significantDigits,
  subtract,
  toNumber,
  zero,
} from '../../../src/language/value/decimal.ts';

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === null) throw new Error(`${text} is no decimal`);
  return parsed;
}

function shown(d: Decimal | null): string {
  return d === null ? 'unknown' : formatDecimal(d);
}

const small = fc
  .tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: -9, max: 9 }))
  .map(([coefficient, exponent]) => decimal(`${coefficient}e${exponent}`));

const any = fc
  .tuple(fc.bigInt({ min: -(10n ** 34n) + 1n, max: 10n ** 34n - 1n }), fc.integer({ min: -60, max: 60 }))
  .map(([coefficient, exponent]) => decimal(`${coefficient}e${exponent}`));

/** The value times 10^200, exact for every decimal the generators make and for their products. */
function scaled(d: Decimal): bigint {
  return d.coefficient * 10n ** BigInt(d.exponent + 200);
}

/** Rounds a fraction half-even to 34 digits, by trying exponents: slow and plain. */
function quotient(a: Decimal, b: Decimal): string {
  const isNegative = a.coefficient < 0n !== b.coefficient < 0n;
  const numerator = scaled(absolute(a));
  const denominator = scaled(absolute(b));
  let power = -400;
  while (numerator * 10n ** 400n >= denominator * 10n ** BigInt(400 + power + digitsMax)) power += 1;
  const top = numerator * 10n ** 400n;
  const bottom = denominator * 10n ** BigInt(400 + power);
  const down = top / bottom;
  const twice = 2n * (top - down * bottom);
  const isUp = twice > bottom || (twice === bottom && down % 2n === 1n);
  return formatDecimal(decimal(`${isNegative ? '-' : ''}${isUp ? down + 1n : down}e${power}`));
}

describe('reading', () => {
  test.each([
    ['12', '12'],
    ['0.5', '0.5'],
    ['10_000', '10000'],
    ['1_000.000_1', '1000.0001'],
    ['-0', '0'],
    ['-1.50', '-1.5'],
    ['1e3', '1000'],
    ['1.5E-3', '0.0015'],
    ['0e999999999999', '0'],
    ['1e-6176', '1e-6176'],
    ['1e6144', '1e6144'],
    ['9999999999999999999999999999999999', '9999999999999999999999999999999999'],
    ['0.00000000000000000000000000000000000000000000000001', '1e-50'],
  ])('%s is %s', (text, plain) => {
    expect(formatDecimal(decimal(text))).toBe(plain);
  });

  test.each([
    '',
    '-',
    '.5',
    '5.',
    '+1',
    '1__0',
    '_1',
    '1_',
    '1e',
    '0x1',
    'NaN',
    'Infinity',
    ' 1',
    '1 ',
    '--1',
    '١',
    '10000000000000000000000000000000001',
    '1e6145',
    '1e-6177',
    '1e99999999999999999999',
    '1e-99999999999999999999',
  ])('%j is none', (text) => {
    expect(parseDecimal(text)).toBeNull();
  });

  test('equal values are structurally equal', () => {
    expect(decimal('100')).toEqual(decimal('1e2'));
    expect(decimal('1.50')).toEqual(decimal('1.5'));
    expect(decimal('-0.0')).toEqual(zero);
  });

  test('a number reads as its shortest text', () => {
    expect(formatDecimal(fromNumber(0.1))).toBe('0.1');
    expect(formatDecimal(fromNumber(1e21))).toBe('1000000000000000000000');
    expect(fromNumber(-0)).toEqual(zero);
    expect(() => fromNumber(Number.NaN)).toThrow(RangeError);
    expect(() => fromNumber(Number.POSITIVE_INFINITY)).toThrow(RangeError);
  });

  test('a number survives the way there and back', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
        expect(toNumber(fromNumber(n))).toBe(n === 0 ? 0 : n);
      }),
    );
  });

  test('law: a number is what its text says, whether it has few decimals or many', () => {
    const few = fc
      .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 4 }))
      .map(([digits, decimals]) => digits / 10 ** decimals);
    fc.assert(
      fc.property(fc.oneof(few, fc.double({ noNaN: true, noDefaultInfinity: true })), (n) => {
        expect(fromNumber(n)).toEqual(parseDecimal(String(n)));
      }),
      { numRuns: 5_000 },
    );
  });

  test('what is written reads back', () => {
    fc.assert(
      fc.property(any, (d) => {
        expect(parseDecimal(formatDecimal(d))).toEqual(d);
      }),
    );
  });
});

describe('arithmetic', () => {
  test('sum, difference, product and order agree with exact integers', () => {
    fc.assert(
      fc.property(small, small, (a, b) => {
        const [sum, difference, product] = [add(a, b), subtract(a, b), multiply(a, b)];
        expect(sum && scaled(sum)).toBe(scaled(a) + scaled(b));
        expect(difference && scaled(difference)).toBe(scaled(a) - scaled(b));
        expect(product && scaled(product) * 10n ** 200n).toBe(scaled(a) * scaled(b));
        expect(compare(a, b)).toBe(scaled(a) < scaled(b) ? -1 : scaled(a) > scaled(b) ? 1 : 0);
        expect(equal(a, b)).toBe(scaled(a) === scaled(b));
      }),
    );
  });

  test('a sum is exact, or it would need more than 34 digits', () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        const exact = scaled(a) + scaled(b);
        const digits = exact.toString().replace('-', '').replace(/0+$/, '').length;
        const sum = add(a, b);
        expect(sum === null).toBe(digits > digitsMax);
        if (sum !== null) expect(scaled(sum)).toBe(exact);
      }),
    );
  });

  test('order agrees with exact integers for all magnitudes', () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(compare(a, b)).toBe(scaled(a) < scaled(b) ? -1 : scaled(a) > scaled(b) ? 1 : 0);
      }),
    );
  });

  test('a quotient is rounded half-even to 34 digits', () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        fc.pre(a.coefficient !== 0n && b.coefficient !== 0n);
        expect(shown(divide(a, b))).toBe(quotient(a, b));
      }),
    );
  });

  test.each([
    ['1', '3', '0.3333333333333333333333333333333333'],
    ['2', '3', '0.6666666666666666666666666666666667'],
    ['1', '8', '0.125'],
    ['-1', '8', '-0.125'],
    ['0', '7', '0'],
    ['1', '0', 'unknown'],
    ['0', '0', 'unknown'],
    ['9999999999999999999999999999999999', '2', '5000000000000000000000000000000000'],
    ['9999999999999999999999999999999997', '2', '4999999999999999999999999999999998'],
    ['1e6144', '0.1', 'unknown'],
    ['1e-6176', '10', 'unknown'],
  ])('%s / %s is %s', (a, b, result) => {
    expect(shown(divide(decimal(a), decimal(b)))).toBe(result);
  });

  test('0.1 + 0.2 is 0.3', () => {
    expect(shown(add(decimal('0.1'), decimal('0.2')))).toBe('0.3');
  });

  test('what 34 digits or the range cannot hold is unknown', () => {
    expect(add(decimal('1e34'), decimal('1'))).toBeNull();
    expect(shown(add(decimal('1e33'), decimal('1')))).toBe('1000000000000000000000000000000001');
    expect(shown(subtract(decimal('1e34'), decimal('1')))).toBe('9999999999999999999999999999999999');
    expect(add(decimal('1e6144'), decimal('1e-6176'))).toBeNull();
    expect(multiply(decimal('1e6000'), decimal('1e6000'))).toBeNull();
    expect(multiply(decimal('1e-6000'), decimal('1e-6000'))).toBeNull();
    expect(multiply(decimal('123456789012345678'), decimal('123456789012345678'))).toBeNull();
  });

  test('zero adds nothing however far the exponents are apart', () => {
    expect(add(zero, decimal('1e-6176'))).toEqual(decimal('1e-6176'));
    expect(multiply(zero, decimal('1e6144'))).toEqual(zero);
  });

  test('far exponents are compared at once', () => {
    expect(compare(decimal('1e6144'), decimal('1e-6176'))).toBe(1);
    expect(compare(decimal('-1e6144'), decimal('1e-6176'))).toBe(-1);
    expect(compare(decimal('-1e-6176'), decimal('-1e6144'))).toBe(1);
    expect(compare(zero, decimal('-1e6144'))).toBe(1);
  });
});

test('floor is the largest integer not above', () => {
  fc.assert(
    fc.property(any, (d) => {
      const whole = floor(d);
      expect(isInteger(whole)).toBe(true);
      const rest = scaled(d) - scaled(whole);
      expect(rest >= 0n && rest < 10n ** 200n).toBe(true);
    }),
  );
  expect(floor(decimal('-1e-6176'))).toEqual(decimal('-1'));
});

test('negate, absolute and isInteger', () => {
  expect(negate(zero)).toEqual(zero);
  expect(absolute(decimal('-2.5'))).toEqual(decimal('2.5'));
  expect([isInteger(decimal('5.0')), isInteger(decimal('0.5')), isInteger(zero)]).toEqual([
    true,
    false,
    true,
  ]);
});

test.each([
  ['0', 0],
  ['-0.00', 0],
  ['1.10', 2],
  ['1e300', 1],
  ['100000000000000000', 1],
  ['0.000123', 3],
  ['1234567890123456', 16],
  ['-1.234567890123456e-7', 16],
])('%s has %i significant digits', (text, digits) => {
  expect(significantDigits(text)).toBe(digits);
});

test('a range holds its ends, and everything where it has none', () => {
  const [low, high] = [decimal('-1.5'), decimal('2')];
  const held = (text: string) => isInRange({ low, high }, decimal(text));
  expect(['-1.50', '0', '2.0'].map(held)).toEqual([true, true, true]);
  expect(['-1.51', '2.000001'].map(held)).toEqual([false, false]);
  expect(isInRange({ low: null, high }, decimal('-1e30'))).toBe(true);
  expect(isInRange({ low, high: null }, decimal('1e30'))).toBe(true);
});
