// Cedar's whole numbers have 64 bits, and a calculation that leaves them is an error. Writ calculates exactly, so a result
// that may be too large is defined only within these limits.

import { type Bounds, type CedarValue, NoCounterpart, type ScalarValue, scalar } from './cedar-value.ts';
import { and, type Condition, test } from './condition.ts';

const longs: Bounds = { low: -(2n ** 63n), high: 2n ** 63n - 1n };

/** Cedar's JSON has numbers as JavaScript does, so larger ones are not exact. */
export function longLiteral(value: number): ScalarValue {
  if (!Number.isSafeInteger(value))
    throw new NoCounterpart(`numbers beyond ${Number.MAX_SAFE_INTEGER} are not exact in JSON`);
  const exact = BigInt(value);
  return {
    ...scalar('long', value < 0 ? `(${value})` : String(value)),
    literal: exact,
    bounds: { low: exact, high: exact },
  };
}

export function arithmetic(operator: '+' | '-' | '*', operands: readonly CedarValue[]): ScalarValue {
  const numbers = operands.map((one) => {
    if (one.kind !== 'scalar' || one.bounds === undefined)
      throw new NoCounterpart(`\`${operator}\` calculates with no numbers`);
    return { ...one, bounds: one.bounds };
  });
  const [first, second] = numbers;
  const written = second === undefined ? `(-${first!.text})` : `(${first!.text} ${operator} ${second.text})`;
  const found = boundsOf(
    operator,
    numbers.map(({ bounds }) => bounds),
  );
  return {
    ...scalar('long', written),
    isDefined: and(...numbers.map(({ isDefined }) => isDefined), ...isWithin(written, found)),
    bounds: { low: larger(found.low, longs.low), high: smaller(found.high, longs.high) },
  };
}

function isWithin(written: string, { low, high }: Bounds): readonly Condition[] {
  return low < longs.low || high > longs.high ? [test(`${written} in ${longs.low}..${longs.high}`)] : [];
}

/** The bounds of one of two values. */
export function eitherBounds(
  { bounds: a }: ScalarValue,
  { bounds: b }: ScalarValue,
): { readonly bounds?: Bounds } {
  if (a === undefined || b === undefined) return {};
  return { bounds: { low: smaller(a.low, b.low), high: larger(a.high, b.high) } };
}

function boundsOf(operator: '+' | '-' | '*', [a, b]: readonly Bounds[]): Bounds {
  if (a === undefined) throw new NoCounterpart('a number is missing');
  if (b === undefined) return { low: -a.high, high: -a.low };
  switch (operator) {
    case '+':
      return { low: a.low + b.low, high: a.high + b.high };
    case '-':
      return { low: a.low - b.high, high: a.high - b.low };
    case '*': {
      const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
      return { low: corners.reduce(smaller), high: corners.reduce(larger) };
    }
  }
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
