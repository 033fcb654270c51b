// Lowers a condition to a pair of literals: `and`, `or` and `not` become gates over atoms. INVARIANT: every
// kind of expression has a case in this file. A condition that is not split into parts is a guess, which may
// be true, false or unknown. The guess is named if it keeps a claim from being decided.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import { descendants } from '../../language/model/children.ts';
import {
  type ColumnRead,
  type Conditional,
  type Expression,
  mirroredComparison,
  oppositeComparison,
} from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { isPushed } from '../../language/model/pushed-row.ts';
import { booleanType } from '../../language/model/type.ts';
import type { Value } from '../../language/model/value.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { type Decimal, toNumber } from '../../language/value/decimal.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import { negatedLiteral, type Pair, type WeightedLiteral } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { boundText } from './bounds.ts';
import { type Elements, noElements, type ProofContext } from './context.ts';
import { monthsAtom } from './dates.ts';
import { equalityAtom } from './equality.ts';
import { foldedListAtom, wordsAtom } from './folded.ts';
import { leafAtom } from './leaf-atom.ts';
import { lookupAtom } from './lookups.ts';
import { meterAtom } from './meters.ts';
import { moneyAtom } from './money.ts';
import { countAtom, isComputedList, membershipAtom, quantifierAtom } from './quantifiers.ts';
import {
  type Comparison,
  comparisonCall,
  expressionMeaning,
  firstElse,
  firstIf,
  firstListedArgument,
  renamedVariable,
  replaced,
  withPlainVariables,
  writtenOut,
} from './rewrite.ts';
import { sumAtom } from './sums.ts';

// Compares risk with a constant. Risk is the points of the true rules; the points of an unknown rule may or
// may not count.

const riskMax = 100;

/** Null for `==` and `!=`. */
function riskAtom(ctx: ProofContext, { operator, constant }: Comparison): Pair | null {
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
  const reached = (terms: readonly WeightedLiteral[]): SolverLiteral => {
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

export function lowerCondition(ctx: ProofContext, condition: Expression, elements: Elements): Pair {
  if (elements.size > 0) return newCondition(ctx, condition, elements);
  const pair = ctx.lowered.get(condition) ?? newCondition(ctx, condition, elements);
  ctx.lowered.set(condition, pair);
  return pair;
}

function newCondition(ctx: ProofContext, condition: Expression, elements: Elements): Pair {
  const lower = (part: Expression): Pair => lowerCondition(ctx, part, elements);
  switch (condition.kind) {
    case 'not':
      return negatedLiteral(lower(condition.operand));
    case 'and':
      return ctx.circuit.every(condition.operands.map(lower));
    case 'or':
      return ctx.circuit.some(condition.operands.map(lower));
    case 'let': {
      const declared = ctx.set.lets.get(condition.id);
      if (declared === undefined) return ctx.circuit.unknown;
      return lowerCondition(ctx, declared.expression, new Map());
    }
    case 'in-range':
      return ctx.circuit.every([
        lower(comparisonCall('>=', condition.subject, condition.low)),
        lower(comparisonCall('<=', condition.subject, condition.high)),
      ]);
    case 'literal':
    case 'field':
    case 'fact':
    case 'compare':
    case 'is-null':
    case 'has':
    case 'else':
    case 'in-list':
    case 'in-table':
    case 'column':
    case 'in-elements':
    case 'in-hours':
    case 'in-cidr':
    case 'like':
    case 'matches':
    case 'text-test':
    case 'mentions':
    case 'single-script':
    case 'has-cell':
    case 'list-prefix':
    case 'quantify':
      return atom(ctx, condition, elements);
    // None of these kinds is a condition.
    case 'meter':
    case 'now':
    case 'risk':
    case 'arithmetic':
    case 'negate':
    case 'list':
    case 'text-list':
    case 'call':
    case 'if':
      return guess(ctx, condition, elements);
  }
}

/** Makes each atom once. */
function atom(ctx: ProofContext, condition: Expression, elements: Elements): Pair {
  const expression = writtenOut(ctx, condition, elements);
  const key = meaningAt(expression, elements);
  const cached = ctx.known.get(key);
  const pair = cached ?? newAtom(ctx, expression, elements);
  ctx.known.set(key, pair);
  if (cached === undefined && elements.size === 0 && !comparesRisk(expression))
    ctx.conditions.push({ expression, pair });
  // Texts of lets count as texts of the place where they are read.
  return expression === condition ? pair : boundText(ctx, condition, { pair, elements });
}

/** A text that is equal for conditions of the same meaning about the same elements, whatever their variables. */
function meaningAt(expression: Expression, elements: Elements): string {
  if (elements.size === 0) return ` ${expressionMeaning(withPlainVariables(expression))}`;
  const entries = [...elements].map(([, element]) =>
    element.kind === 'slot' ? element.key : canonicalMeaning(element.literal),
  );
  const named = [...elements.keys()].reduce(
    (part, name, at) => renamedVariable(part, name, `$${at}`),
    expression,
  );
  return `${entries.join()} ${expressionMeaning(withPlainVariables(named))}`;
}

/**
 * Whether the condition compares risk. The formula derives risk from the rules, so tests must not supply such
 * a truth.
 */
function comparesRisk(expression: Expression): boolean {
  return (
    expression.kind === 'compare' && [expression.left, expression.right].some(({ kind }) => kind === 'risk')
  );
}

function newAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair {
  const isOfRows = readsPushed(ctx.set, expression);
  if (!isOfRows && readsNothing(expression)) return pairOf(ctx, truthOf(ctx, expression));
  if (ctx.isCoarse && goesThroughList(ctx.set, expression)) {
    ctx.leftOpen.add(expression);
    return guess(ctx, expression, elements);
  }
  const withElse = firstElse(expression);
  if (withElse !== null) return elseAtom(ctx, { expression, withElse, elements });
  const withIf = firstIf(expression);
  if (withIf !== null) return ifAtom(ctx, { expression, withIf, elements });
  const listed = firstListedArgument(expression);
  if (listed !== null) return ctx.lower(replaced(expression, listed.call, listed.byValue), elements);
  const opposite = oppositeOf(ctx.set, expression);
  if (opposite !== null) return negatedLiteral(ctx.lower(opposite, elements));
  if (isOfRows) return pushedAtom(ctx, expression, elements);
  const looked = lookupAtom(ctx, expression, elements);
  if (looked !== null) return looked;
  const pair =
    compareAtom(ctx, expression, elements) ??
    listAtom(ctx, expression, elements) ??
    wordsAtom(ctx, expression, elements) ??
    foldedListAtom(ctx, expression, elements) ??
    leafAtom(ctx, expression, elements);
  if (expression.kind === 'list-prefix') return prefixAtom(ctx, expression, { made: pair, elements });
  if (pair === null) return guess(ctx, expression, elements);
  if (elements.size === 0 && descendants(expression).some(isComputedList)) tieToNamed(ctx, expression, pair);
  return boundText(ctx, expression, { pair, elements });
}

/**
 * For a text that conditions name, the definition knows what a quantifier over its links or commands gives;
 * such texts are tried in requests, too.
 */
function tieToNamed(ctx: ProofContext, expression: Expression, pair: Pair): void {
  const { circuit } = ctx;
  const loose = leafAtom(ctx, expression, noElements);
  if (loose === null || loose === pair) return;
  circuit.requireEqual(loose.isTrue, pair.isTrue);
  circuit.requireEqual(loose.isFalse, pair.isFalse);
}

type ListPrefix = Extract<Expression, { readonly kind: 'list-prefix' }>;

/** A list that begins with some texts begins with the first of them. */
function prefixAtom(
  ctx: ProofContext,
  expression: ListPrefix,
  { made, elements }: { readonly made: Pair | null; readonly elements: Elements },
): Pair {
  const { circuit } = ctx;
  const pair = made ?? guess(ctx, expression, elements);
  const { texts } = expression;
  if (texts.length < 2) return pair;
  const shorter = ctx.lower({ ...expression, texts: texts.slice(0, -1) }, elements);
  circuit.require([notLiteral(pair.isTrue), shorter.isTrue]);
  circuit.require([notLiteral(shorter.isFalse), pair.isFalse]);
  return pair;
}

/**
 * The opposite of a comparison of which the formula knows little, so that a comparison and its opposite are one
 * guess; null for other conditions, and for the comparison that is kept.
 */
function oppositeOf(set: PolicySet, expression: Expression): Expression | null {
  if (expression.kind !== 'compare' || !['!=', '>', '>='].includes(expression.operator)) return null;
  const isOfQuantity = descendants(expression).some(
    (part) => part.kind === 'call' && part.builtin === 'quantity',
  );
  if (!isOfQuantity && !readsPushed(set, expression)) return null;
  return { ...expression, operator: oppositeComparison[expression.operator] };
}

/**
 * A condition on rows that requests bring is a guess. If it is known, so are the cells that it compares, and a
 * cell that is known is there.
 */
function pushedAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair {
  const { circuit } = ctx;
  const pair = guess(ctx, expression, elements);
  if (expression.kind === 'has-cell') return pair;
  for (const cell of comparedCells(expression)) {
    if (!isPushed(ctx.set.tables.get(cell.table))) continue;
    const present = ctx.lower({ kind: 'has-cell', cell, type: booleanType, span: cell.span }, elements);
    circuit.require([notLiteral(pair.isTrue), present.isTrue]);
    circuit.require([notLiteral(pair.isFalse), present.isTrue]);
  }
  return pair;
}

/** The cells without which the condition is unknown. */
function comparedCells(expression: Expression): readonly (ColumnRead & Expression)[] {
  switch (expression.kind) {
    case 'column':
      return [expression];
    case 'compare':
    case 'arithmetic':
    case 'text-test':
      return [expression.left, expression.right].flatMap(comparedCells);
    case 'negate':
      return comparedCells(expression.operand);
    default:
      return [];
  }
}

/** A condition whose truth is free: true, false or unknown. */
function guess(ctx: ProofContext, expression: Expression, elements: Elements): Pair {
  const pair = ctx.circuit.freePair();
  const key = meaningAt(expression, elements);
  ctx.guesses.set(key, { span: expression.span, pair });
  return pair;
}

/** Kinds of expression that are never constant by themselves. */
export const readingKinds: ReadonlySet<Expression['kind']> = new Set([
  'field',
  'fact',
  'meter',
  'now',
  'risk',
  'let',
]);

/**
 * Whether the expression reads a pushed table. Rows that come with a request may be any rows, even for a
 * constant key.
 */
function readsPushed({ tables }: PolicySet, expression: Expression): boolean {
  return descendants(expression).some(
    (part) => (part.kind === 'column' || part.kind === 'in-table') && isPushed(tables.get(part.table)),
  );
}

function readsNothing(expression: Expression): boolean {
  return descendants(expression).every(
    (part) => !readingKinds.has(part.kind) && !(part.kind === 'call' && part.builtin === 'today'),
  );
}

function truthOf(ctx: ProofContext, expression: Expression): SpecTruth {
  const facts = { action: ctx.action.key, payload: {}, agent: {}, request: {}, nowMs: 0, meters: {} };
  return evaluateCondition(expression, {
    set: ctx.set,
    facts: { ...facts, satisfied: { escalate: [], reauth: [] } },
    risk: { low: 0, high: 100 },
    variables: new Map(),
  });
}

function pairOf({ circuit }: ProofContext, truth: SpecTruth): Pair {
  if (typeof truth !== 'boolean') return circuit.unknown;
  return truth ? circuit.always : negatedLiteral(circuit.always);
}

/**
 * Whether the expression, or a let that it reads, goes through the elements of a list that requests bring.
 */
export function goesThroughList(set: PolicySet, expression: Expression): boolean {
  return descendants(expression).some((part) => {
    if (part.kind === 'quantify') return true;
    if (part.kind === 'in-elements') return constantOf(part.elements, set) === null;
    const declared = part.kind === 'let' ? set.lets.get(part.id) : undefined;
    return declared !== undefined && goesThroughList(set, declared.expression);
  });
}

interface WithElse {
  readonly expression: Expression;
  readonly withElse: Extract<Expression, { readonly kind: 'else' }>;
  readonly elements: Elements;
}

/**
 * A condition on `else`: decided with the fallback if the field is absent or null, else with the field
 * itself.
 */
function elseAtom(ctx: ProofContext, { expression, withElse, elements }: WithElse): Pair {
  const { circuit } = ctx;
  const has: Expression = { kind: 'has', subject: withElse.subject, type: booleanType, span: withElse.span };
  const isGone = ctx.lower(has, elements).isFalse;
  const fallback = ctx.lower(replaced(expression, withElse, withElse.fallback), elements);
  const subject = ctx.lower(replaced(expression, withElse, withElse.subject), elements);
  return {
    isTrue: circuit.choose(isGone, fallback.isTrue, subject.isTrue),
    isFalse: circuit.choose(isGone, fallback.isFalse, subject.isFalse),
  };
}

interface WithIf {
  readonly expression: Expression;
  readonly withIf: Conditional;
  readonly elements: Elements;
}

/**
 * A condition on a conditional value: decided with the value that its condition chooses. It is unknown when that
 * condition is unknown, except that nothing, not even an unknown value, is in an empty list; so membership in a
 * list that may be empty is a guess.
 */
function ifAtom(ctx: ProofContext, { expression, withIf, elements }: WithIf): Pair {
  const { circuit } = ctx;
  if (expression.kind === 'in-elements') return guess(ctx, expression, elements);
  if (expression.kind === 'in-list' && ctx.set.lists.get(expression.list)?.entries.length === 0)
    return pairOf(ctx, false);
  const chosen = ctx.lower(withIf.condition, elements);
  const first = ctx.lower(replaced(expression, withIf, withIf.whenTrue), elements);
  const other = ctx.lower(replaced(expression, withIf, withIf.otherwise), elements);
  const both = (a: SolverLiteral, b: SolverLiteral): SolverLiteral =>
    circuit.every([asPair(a), asPair(b)]).isTrue;
  const either = (a: SolverLiteral, b: SolverLiteral): SolverLiteral =>
    circuit.some([asPair(a), asPair(b)]).isTrue;
  return {
    isTrue: either(both(chosen.isTrue, first.isTrue), both(chosen.isFalse, other.isTrue)),
    isFalse: either(both(chosen.isTrue, first.isFalse), both(chosen.isFalse, other.isFalse)),
  };
}

function asPair(literal: SolverLiteral): Pair {
  return { isTrue: literal, isFalse: notLiteral(literal) };
}

/** Null when the expression is no comparison, or is a comparison of no special kind. */
function compareAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair | null {
  if (expression.kind !== 'compare') return null;
  const { left, right, operator } = expression;
  const constant = constantOf(right, ctx.set);
  if (constant === null) {
    return constantOf(left, ctx.set) === null
      ? (equalityAtom(ctx, expression, elements) ?? sumAtom(ctx, expression, elements))
      : compareAtom(
          ctx,
          { ...expression, operator: mirroredComparison[operator], left: right, right: left },
          elements,
        );
  }
  if (typeof constant === 'symbol') return ctx.circuit.unknown;
  const compared = { operator, constant: constant as Value, elements };
  if (left.kind === 'risk') return riskAtom(ctx, compared);
  if (left.kind === 'meter') return meterAtom(ctx, left, compared);
  if (left.kind === 'call' && left.builtin === 'months_later') return monthsAtom(ctx, left, compared);
  if (left.kind === 'quantify' && left.quantifier === 'count') return countAtom(ctx, left, compared);
  if (left.kind === 'quantify' || left.kind === 'arithmetic' || left.kind === 'negate')
    return sumAtom(ctx, expression, elements);
  return left.kind === 'field' && left.type.kind === 'money' ? moneyAtom(ctx, left, compared) : null;
}

function listAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair | null {
  if (expression.kind === 'quantify') return quantifierAtom(ctx, expression, elements);
  if (expression.kind !== 'in-elements' || constantOf(expression.elements, ctx.set) !== null) return null;
  return membershipAtom(ctx, expression, elements);
}
