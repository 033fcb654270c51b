// What a decision may cost: texts and lists inside quantifiers are unknown where they are huge. Each condition that this
// can make unknown has a literal that says it is not; where declared lengths exclude it there is none.

import { descendants } from '../../model/children.ts';
import type { Expression } from '../../model/expression.ts';
import { elementRoundsMax, textRoundsMax } from '../../model/limits.ts';
import type { Range, Type } from '../../model/type.ts';
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
  return roundsOf(ctx, elements) * longest <= textRoundsMax ? pair : bounded(ctx, expression, pair);
}

/** Of a condition that goes through a list for each element. */
export function boundList(ctx: Context, list: Expression, { pair, elements }: Bounded): Pair {
  if (elements.size === 0) return pair;
  const most = list.type.kind === 'list' ? highest(list.type.length) : Number.POSITIVE_INFINITY;
  return roundsOf(ctx, elements) * most <= elementRoundsMax ? pair : bounded(ctx, list, pair);
}

function bounded({ circuit, bounds }: Context, { span }: Expression, pair: Pair): Pair {
  const literal = circuit.free(true);
  bounds.push({ text: `${span.file}:${span.start}:${span.end}`, literal });
  return circuit.onlyIf(literal, pair);
}

/** UTF-16 code units, of which a code point has at most two. */
function textUnits(part: Expression): number {
  if (part.kind !== 'field' && part.kind !== 'else') return 0;
  if (part.type.kind !== 'text' || part.type.values !== null) return 0;
  return 2 * highest(part.type.length);
}

function highest({ high }: Range): number {
  return high === null ? Number.POSITIVE_INFINITY : toNumber(high);
}

/** How often the quantifiers around go round together, at most. */
function roundsOf({ action }: Context, elements: Elements): number {
  return [...elements.values()].reduce((rounds, element) => {
    if (element.kind === 'constant') return Number.POSITIVE_INFINITY;
    return rounds * highestOf(element.key, action.shape.fields);
  }, 1);
}

/** The longest that a list of the payload may be by its declaration; of anything else nothing is known. */
function highestOf(key: string, fields: readonly { readonly name: string; readonly type: Type }[]): number {
  const name = /^payload\.([^.[]+)\[\d+\]$/.exec(key)?.[1];
  const type = fields.find((field) => field.name === name)?.type;
  return type?.kind === 'list' ? highest(type.length) : Number.POSITIVE_INFINITY;
}
