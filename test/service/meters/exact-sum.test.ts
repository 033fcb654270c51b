// LAW: an exact sum equals the amounts that were added and not taken away again, to the last digit, in
// whatever order, and however many digits amounts have.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { add, type Decimal, subtract, zero } from '../../../src/language/value/decimal.ts';
import { ExactSum } from '../../../src/service/meters/running-totals.ts';

const amount = fc
  .tuple(fc.bigInt({ min: -999n, max: 999n }), fc.integer({ min: -4, max: 3 }))
  .map(([coefficient, exponent]): Decimal => add({ coefficient, exponent }, zero)!);

test('law: a running sum is the sum', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), amount), { maxLength: 20 }), (steps) => {
      const sum = new ExactSum();
      let plain = zero;
      for (const [isAdded, one] of steps) {
        if (isAdded) sum.add(one);
        else sum.subtract(one);
        plain = (isAdded ? add(plain, one) : subtract(plain, one))!;
        expect(subtract(sum.decimal()!, plain)).toEqual(zero);
      }
    }),
    { numRuns: 500 },
  );
});
