// Determines which unchanged rules may have an effect on requests for which a change makes a difference. For
// each leaf that the changed rules read, the solver finds the cells in which the leaf can then be. A rule
// with a condition that is false in all these cells does nothing there. INVARIANT: if a condition is not
// known to be false of every value of a cell, the rule may act.

import type { Expression } from '../../language/model/expression.ts';
import type { Rule } from '../../language/model/policy.ts';
import { compare, type Decimal } from '../../language/value/decimal.ts';
import { mayHaveCommonText } from '../cells/common-text.ts';
import type { ConditionMeaning } from '../cells/condition-meaning.ts';
import { type Cell, isValue, keyOf, type Leaf, marksOf, namedCount } from '../cells/leaf.ts';
import { textVectors } from '../cells/text-vectors.ts';
import { jointPatternsMax } from '../cells/texts.ts';
import type { ProofContext } from '../prove/context.ts';
import { type LeafCondition, leafCondition } from '../prove/leaf-atom.ts';
import { comparisonCall, firstElse } from '../prove/rewrite.ts';
import { solveNearFor } from '../prove/search.ts';
import { notLiteral, type SolverClause } from '../solver/literal.ts';
import { highest, inCell, lowest } from './hulls.ts';
import type { ChangedProblem } from './joint-problem.ts';

const textsMax = 200;

/**
 * Gives each named text of a leaf a cell of its own, so that conditions can be judged by cell; must run
 * before leaves are cut. Leaves with too many named texts are left alone.
 */
export function separateTexts({ leaves }: ProofContext): void {
  for (const leaf of leaves.values())
    if (leaf.domain === 'text' && namedCount(leaf) <= textsMax) leaf.isEachApart = true;
}

/**
 * Returns a test of whether a rule may act where a change makes a difference. `problem` holds the changed
 * rules, with all others open and texts apart.
 */
export function mayAffectChange({ ctx, causes, joint }: ChangedProblem): (rule: Rule) => boolean {
  const differs = ctx.circuit.or(causes.map((cause) => cause.differs));
  const canBe = (literals: SolverClause): boolean => solveNearFor(ctx, [differs, ...literals]) !== false;
  const reachable = new Map([...ctx.leaves.values()].map((leaf) => [leaf, placesOf(leaf, canBe)]));
  const isFalseThere = (condition: Expression): boolean => {
    const leaf = leafCondition(ctx, condition);
    const cells = leaf === null ? null : (reachable.get(leaf.leaf) ?? null);
    return cells !== null && isFalseAt(leaf!, cells);
  };
  return ({ condition }) => ![...conjuncts(ctx, joint.written.after(condition))].some(isFalseThere);
}

/** The cells in which a leaf can be. */
interface Places {
  readonly cells: readonly Cell[];
  readonly line: Line | null;
  /**
   * For texts that no condition names: the sets of patterns that one text can match together. Null when that
   * is not known.
   */
  readonly matched: readonly (readonly string[])[] | null;
}

/** Neighbouring cells of a number, in order. */
interface Line {
  readonly cells: readonly Cell[];
  /** Keys of the numbers at which cells of the leaf end. */
  readonly marks: ReadonlySet<string>;
}

/** Null when the leaf's domain is not examined. */
function placesOf(leaf: Leaf, canBe: (literals: SolverClause) => boolean): Places | null {
  const { cells, order, domain, base, isEachApart } = leaf;
  if (base !== null || cells.length === 0) return null;
  switch (domain) {
    case 'text':
    case 'closed':
    case 'boolean':
      if (domain === 'text' && !isEachApart) return null;
      return {
        cells: cells.filter((_, at) => canBe(inCell(leaf, at))),
        line: null,
        matched: matchedIn(leaf, canBe),
      };
    case 'number':
    case 'integer': {
      const first = cells.findIndex(({ value }) => isValue(value));
      const states = cells
        .slice(0, first < 0 ? cells.length : first)
        .filter((_, at) => canBe(inCell(leaf, at)));
      if (first < 0 || !canBe([order[first]!])) return { cells: states, line: null, matched: null };
      const low = lowest((at) => canBe([order[first]!, notLiteral(order[at + 1]!)]), first, cells.length - 1);
      const high = highest((at) => canBe([order[at]!]), low, cells.length - 1);
      const marks = new Set(marksOf(leaf).map(keyOf));
      return { cells: states, line: { cells: cells.slice(low, high + 1), marks }, matched: null };
    }
    case 'address':
    case 'time':
    case 'presence':
      return null;
  }
}

function matchedIn(
  { cells, order, rest }: Leaf,
  canBe: (literals: SolverClause) => boolean,
): Places['matched'] {
  if (rest === null || rest.patterns.length > jointPatternsMax) return null;
  const at = cells.findIndex(({ isOther }) => isOther);
  const { patterns, literals } = rest;
  const possible = textVectors(patterns)?.filter(({ answers }) =>
    canBe([
      ...inCell({ cells, order }, at),
      ...literals.map((literal, one) => (answers[one] === true ? literal : notLiteral(literal))),
    ]),
  );
  return possible?.map(({ answers }) => patterns.filter((_, one) => answers[one] === true)) ?? null;
}

function isFalseAt({ understood, truthAt }: LeafCondition, { cells, line, matched }: Places): boolean {
  const apart = line === null ? [] : distinguishedCells(understood, line);
  if (apart === null) return false;
  const isFalseOfOthers =
    understood.kind === 'pattern' && matched?.every(excludes(understood.pattern)) === true;
  return [...cells, ...apart].every(({ value, isOther }) =>
    isOther && understood.kind !== 'presence' ? isFalseOfOthers : truthAt(value) === false,
  );
}

/** Whether no text matches both the pattern and all of the other patterns. */
function excludes(pattern: string): (others: readonly string[]) => boolean {
  return (others) => others.some((other) => !mayHaveCommonText(other, pattern));
}

/**
 * The cells of the line at which the condition's truth may change: the first cell, each cell of the
 * condition's constants, and the first cell beyond each. Null when the condition is not constant on each
 * cell.
 */
function distinguishedCells(understood: ConditionMeaning, { cells, marks }: Line): readonly Cell[] | null {
  if (understood.kind === 'presence') return cells.slice(0, 1);
  if (understood.kind !== 'values' || !understood.values.every((value) => marks.has(keyOf(value))))
    return null;
  const last = cells.length - 1;
  const reachable = understood.values.flatMap((value) => {
    const isAtLeast = (at: number): boolean => compare(cells[at]!.value as Decimal, value as Decimal) >= 0;
    const at = lowest(isAtLeast, 0, last);
    return [at, Math.min(at + 1, last)];
  });
  return [...new Set([0, ...reachable])].map((at) => cells[at]!);
}

/** The conditions that must all hold, as far as `mayAffectChange` can judge their form. */
function* conjuncts(ctx: ProofContext, condition: Expression): Generator<Expression> {
  switch (condition.kind) {
    case 'and':
      for (const operand of condition.operands) yield* conjuncts(ctx, operand);
      return;
    case 'let': {
      const declared = ctx.set.lets.get(condition.id);
      if (declared !== undefined) yield* conjuncts(ctx, declared.expression);
      return;
    }
    case 'in-range':
      yield* conjuncts(ctx, comparisonCall('>=', condition.subject, condition.low));
      yield* conjuncts(ctx, comparisonCall('<=', condition.subject, condition.high));
      return;
    case 'compare':
    case 'field':
    case 'has':
    case 'is-null':
    case 'in-list':
    case 'in-table':
    case 'in-elements':
    case 'like':
    case 'matches':
    case 'text-test':
      if (firstElse(condition) === null) yield condition;
      return;
    default:
      return;
  }
}
