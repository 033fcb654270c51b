// Compares risk with a constant. Risk is the points of the true rules; the points of an unknown rule may or
// may not count.

import { type Decimal, toNumber } from '../../language/value/decimal.ts';
import { negatedLiteral, type Pair, type Weighted } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { noElements, type ProofContext } from './context.ts';
import type { Comparison } from './rewrite.ts';

const riskMax = 100;

/** Null for `==` and `!=`. */
export function riskAtom(ctx: ProofContext, { operator, constant }: Comparison): Pair | null {
  const bound = toNumber(constant as Decimal);
  switch (operator) {
    case '>=':
      return isAtLeast(ctx, Math.ceil(bound));
    case '>':
      return isAtLeast(ctx, Math.floor(bound) + 1);
    case '<':
      return negatedLiteral(isAtLeast(ctx, Math.ceil(bound)));
    case '<=':
      return negatedLiteral(isAtLeast(ctx, Math.floor(bound) + 1));
    case '==':
    case '!=':
      return null;
  }
}

/** True if the lower end of the risk reaches `least`, false if the upper end does not. */
function isAtLeast(ctx: ProofContext, least: number): Pair {
  const { circuit } = ctx;
  const reached = (terms: readonly Weighted[]): SolverLiteral => {
    if (least <= 0) return circuit.yes;
    return least > riskMax ? circuit.no : circuit.atLeast(terms, least);
  };
  const rules = ctx.rules.filter(({ points }) => points !== 0);
  const ends = rules.map(({ points, condition }) => {
    const { isTrue, isFalse } = ctx.lower(condition, noElements);
    const [low, high] = points > 0 ? [isTrue, notLiteral(isFalse)] : [notLiteral(isFalse), isTrue];
    return { low: { literal: low, weight: points }, high: { literal: high, weight: points } };
  });
  return {
    isTrue: reached(ends.map(({ low }) => low)),
    isFalse: notLiteral(reached(ends.map(({ high }) => high))),
  };
}
