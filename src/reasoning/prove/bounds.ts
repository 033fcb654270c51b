// What a decision may cost: texts and lists inside quantifiers are unknown where they are huge. Each condition that this
// can make unknown has a literal that says it is not; where declared lengths exclude it there is none.

import { descendants } from '../../model/children.ts';
import type { Expression } from '../../model/expression.ts';
import { elementRoundsMax, textRoundsMax } from '../../model/limits.ts';
import type { Range } from '../../model/type.ts';
import { toNumber } from '../../value/decimal.ts';
import type { Pair } from '../solver/circuit.ts';
import type { Context, Elements } from './context.ts';

interface Bounded {
  readonly pair: Pair;
  readonly elements: Elements;
}

/** Of a condition that reads texts for each element. */
export function boundText(ctx: Context, expression: Expression, { pair, elements }: Bounded): Pair {
  if (elements.size === 0) return pair;
  const longest = Math.max(0, ...[...descendants(expression)].map(textUnits));
  return longest === 0 || roundsOf(elements) * longest <= textRoundsMax
    ? pair
    : bounded(ctx, expression, pair);
}

/** Of a condition that goes through a list for each element. */
export function boundList(ctx: Context, list: Expression, { pair, elements }: Bounded): Pair {
  if (elements.size === 0) return pair;
  const most = longestOf(list);
  return roundsOf(elements) * most <= elementRoundsMax ? pair : bounded(ctx, list, pair);
}

function bounded({ circuit, bounds }: Context, { span }: Expression, pair: Pair): Pair {
  const literal = circuit.free(true);
  bounds.push({ span, literal });
  return circuit.onlyIf(literal, pair);
}

/** UTF-16 code units, of which a code point has at most two. */
function textUnits(part: Expression): number {
  if (part.kind !== 'field' && part.kind !== 'else') return 0;
  if (part.type.kind !== 'text' || part.type.values !== null) return 0;
  return 2 * highest(part.type.length);
}

/** By its declaration, in elements. */
export function longestOf({ type }: Expression): number {
  return type.kind === 'list' ? highest(type.length) : Number.POSITIVE_INFINITY;
}

function highest({ high }: Range): number {
  return high === null ? Number.POSITIVE_INFINITY : toNumber(high);
}

/** How often the quantifiers around go round together, at most. */
function roundsOf(elements: Elements): number {
  return [...elements.values()].reduce((product, { rounds }) => product * rounds, 1);
}
