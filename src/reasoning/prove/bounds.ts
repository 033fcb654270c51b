// The cost limit of a decision: a condition on a huge text or list inside quantifiers is unknown. Each
// condition that the limit can make unknown gets a literal that holds while the limit is kept. No literal is
// made when declared lengths keep the limit anyway, or the size of a payload that the service accepts.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import { elementRoundsMax, payloadBytesMax, textRoundsMax } from '../../language/model/limits.ts';
import type { Range } from '../../language/model/type.ts';
import { toNumber } from '../../language/value/decimal.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import type { Pair } from '../solver/circuit.ts';
import type { SolverLiteral } from '../solver/literal.ts';
import type { Elements, GrowingPart, ProofContext, SlotElement } from './context.ts';
import { leafOf } from './leaves.ts';

/** A text takes a byte or more for each UTF-16 code unit; an element, with its comma, 2 bytes or more. */
const unitsMax = payloadBytesMax;
const elementsMax = payloadBytesMax / 2;

interface BoundedPair {
  readonly pair: Pair;
  readonly elements: Elements;
}

/** Limits a condition that reads texts for each element. */
export function boundText(ctx: ProofContext, expression: Expression, { pair, elements }: BoundedPair): Pair {
  if (elements.size === 0) return pair;
  const texts = descendants(expression).filter(
    (part) => textUnits(ctx, part) > 0 && !(roundsOf(elements) * textUnits(ctx, part) <= textRoundsMax),
  );
  const small = texts.map((text) => {
    const element = text.kind === 'field' ? elements.get(text.root) : undefined;
    const place = element?.kind === 'slot' ? element.key : '';
    const read = leafOf(ctx, text, elements)?.key ?? `${place} ${canonicalMeaning(text)}`;
    const key = `${read} ${overOf(elements)}`;
    return smallEnough(ctx, key, { at: text, grows: growing('text', text, elements) });
  });
  return ctx.circuit.onlyIf(ctx.circuit.and(small), pair);
}

/** Limits a condition that goes through a list for each element. */
export function boundList(ctx: ProofContext, list: Expression, { pair, elements }: BoundedPair): Pair {
  if (elements.size === 0 || constantOf(list, ctx.set) !== null) return pair;
  const longest = list.kind === 'fact' ? longestOf(list) : Math.min(longestOf(list), elementsMax);
  if (roundsOf(elements) * longest <= elementRoundsMax) return pair;
  const key = `${canonicalMeaning(list)} ${overOf(elements)}`;
  return ctx.circuit.onlyIf(
    smallEnough(ctx, key, { at: list, grows: growing('list', list, elements) }),
    pair,
  );
}

/** Undefined when the part is no place of the payload, or lies in a computed list. */
function growing(kind: GrowingPart['kind'], part: Expression, elements: Elements): GrowingPart | undefined {
  const read = part.kind === 'else' ? part.subject : part;
  const element = read.kind === 'field' ? elements.get(read.root) : undefined;
  if (read.kind !== 'field' || (element === undefined && read.root !== 'payload')) return undefined;
  if (element?.kind === 'constant' || element?.key.includes('(') === true) return undefined;
  const enclosing = [...elements.values()].flatMap((one) =>
    one.kind === 'slot' ? [one.key.replace(/\[\d+\]$/, '')] : [],
  );
  return { kind, key: [element?.key ?? 'payload', ...read.steps].join('.'), around: enclosing };
}

interface ElementBound {
  readonly at: Expression;
  readonly grows: GrowingPart | undefined;
}

/** One literal for all conditions that the same size makes unknown. */
function smallEnough(
  { circuit, bounds }: ProofContext,
  key: string,
  { at, grows }: ElementBound,
): SolverLiteral {
  const cached = bounds.get(key);
  if (cached !== undefined) return cached.literal;
  const literal = circuit.free(true);
  bounds.set(key, {
    span: at.span,
    literal,
    why: 'huge payloads',
    ...(grows === undefined ? {} : { grows }),
  });
  return literal;
}

/**
 * The lists that the surrounding quantifiers go through, sorted: the order does not matter, because their
 * rounds multiply.
 */
function overOf(elements: Elements): string {
  return [...elements.values()]
    .map(({ over }) => over)
    .toSorted()
    .join(' * ');
}

/**
 * The longest the text can be, in UTF-16 code units, of which a code point has at most two; 0 if the part is
 * no free text.
 */
function textUnits({ set }: ProofContext, part: Expression): number {
  if (part.type.kind !== 'text') return 0;
  if (part.kind === 'let' || part.kind === 'column') {
    const value = constantOf(part, set);
    return value === null ? Number.POSITIVE_INFINITY : typeof value === 'string' ? value.length : 0;
  }
  if ((part.kind !== 'field' && part.kind !== 'else') || part.type.values !== null) return 0;
  return Math.min(2 * highest(part.type.length), unitsMax);
}

/** The most elements that the list's declaration admits. */
export function longestOf({ type }: Pick<Expression, 'type'>): number {
  return type.kind === 'list' ? highest(type.length) : Number.POSITIVE_INFINITY;
}

function highest({ high }: Range): number {
  return high === null ? Number.POSITIVE_INFINITY : toNumber(high);
}

/** The most rounds that the surrounding quantifiers make together. */
function roundsOf(elements: Elements): number {
  return [...elements.values()].reduce((product, element) => product * roundsOver(element), 1);
}

/** Lists of facts, such as roles, are no part of the payload, so its size says nothing about them. */
function roundsOver({ rounds, over }: SlotElement): number {
  const isOfPayload = over.split(',').every((key) => key.includes('payload'));
  return isOfPayload ? Math.min(rounds, elementsMax) : rounds;
}
