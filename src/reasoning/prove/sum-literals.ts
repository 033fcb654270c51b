// One literal for each inequality of sums, shared by all callers.

import type { Inequality } from '../linear/inequality.ts';
import type { SolverLiteral } from '../solver/literal.ts';
import type { ProofContext } from './context.ts';

/** The inequality's literal; the inequality's first factor must be 1. */
export function literalOf(ctx: ProofContext, inequality: Inequality): SolverLiteral {
  const { terms, constant, isStrict } = inequality;
  const key = [...terms, ['', constant] as const].map(
    ([name, { top, bottom }]) => `${name} ${top}/${bottom}`,
  );
  const text = `${key.join(' + ')} ${isStrict ? '<' : '<='} 0`;
  const known = ctx.sums.get(text);
  if (known !== undefined) return known.literal;
  const literal = ctx.circuit.free();
  ctx.sums.set(text, { literal, inequality });
  return literal;
}
