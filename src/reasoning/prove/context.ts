// What all parts that turn one action of a set into one formula share.

import type { Span } from '../../language/diagnostic/span.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Action, PolicySet, Rule } from '../../language/model/policy.ts';
import type { Slot } from '../../language/model/type.ts';
import type { Decimal } from '../../language/value/decimal.ts';
import type { Faults } from '../cells/faults.ts';
import type { Leaf } from '../cells/leaf.ts';
import type { Inequality, Lemma } from '../linear/inequality.ts';
import type { Circuit, Pair } from '../solver/circuit.ts';
import type { SolverLiteral } from '../solver/literal.ts';

/** By variable of a surrounding quantifier, the element that the variable stands for. */
export type Elements = ReadonlyMap<string, SlotElement>;

export type SlotElement = (
  | { readonly kind: 'slot'; readonly key: string; readonly slot: Slot }
  | { readonly kind: 'constant'; readonly literal: Expression }
) & {
  /** The most rounds that the variable's quantifier makes. */
  readonly rounds: number;
  /** Equal for quantifiers that make equally many rounds. */
  readonly over: string;
};

export const noElements: Elements = new Map();

/** A condition that the formula does not split into parts: it may be true, false or unknown. */
export interface GuessedCondition {
  readonly span: Span;
  readonly pair: Pair;
}

export interface ListElements {
  readonly key: string;
  readonly leaf: Leaf;
  readonly element: Slot;
  /** By place, whether the list has an element there. */
  readonly present: readonly SolverLiteral[];
}

export interface Equality {
  readonly left: Leaf;
  readonly right: Leaf;
  readonly equal: SolverLiteral;
}

export interface Bound {
  readonly span: Span;
  readonly literal: SolverLiteral;
  readonly why: 'huge payloads' | 'many digits';
  /** The numbers that are added up; set for `many digits`. */
  readonly leaves?: readonly Leaf[];
  /** What has to be large for the bound to be exceeded; set for `huge payloads`. */
  readonly grows?: GrowingPart;
}

/**
 * A text or a list of the payload that quantifiers go through for each element, or a list that is added up.
 */
export interface GrowingPart {
  readonly kind: 'text' | 'list' | 'addends';
  /** The key of the part, in the form of leaf and list keys. */
  readonly key: string;
  /** Keys of the lists of the surrounding quantifiers. */
  readonly around: readonly string[];
  /**
   * For `addends`: the leaf of what more elements add up to, and the steps to the added number in an element.
   */
  readonly adds?: { readonly leaf: Leaf; readonly steps: readonly string[] };
}

export interface CalculatedDate {
  readonly leaf: Leaf;
  readonly base: Leaf;
  /** The zone of a local date; null for other dates. */
  readonly zone: string | null;
  readonly calculate: (base: Decimal) => Decimal | null;
}

export interface SumInequality {
  readonly literal: SolverLiteral;
  readonly inequality: Inequality;
  /** What holds if the inequality does not: for whole numbers, that the sum is at least one unit above. */
  readonly opposite: Inequality;
}

export interface MeterEnds {
  readonly name: string;
  readonly isKnown: SolverLiteral;
  readonly low: Leaf;
  readonly high: Leaf;
}

export interface ProofContext {
  readonly set: PolicySet;
  readonly action: Action;
  /** The action's enforced rules. */
  readonly rules: readonly Rule[];
  readonly circuit: Circuit;
  readonly faults: Faults;
  /**
   * Whether quantifiers are guesses. Proofs then stay sound and need no bound on lists, but models are of no
   * use as witnesses.
   */
  readonly isCoarse: boolean;
  /** Conditions that are split into list elements unless the formula is coarse. */
  readonly leftOpen: Set<Expression>;
  readonly lower: (condition: Expression, elements: Elements) => Pair;
  readonly leaves: Map<string, Leaf>;
  readonly lists: Map<string, ListElements>;
  readonly meters: Map<string, MeterEnds>;
  readonly equalities: Map<string, Equality>;
  readonly satisfied: Map<string, { readonly rule: Rule; readonly literal: SolverLiteral }>;
  readonly guesses: Map<string, GuessedCondition>;
  /** Literals that hold for all but odd requests; if one fails, a condition is unknown. */
  readonly bounds: Map<string, Bound>;
  /** Inequalities of sums with their literals, by the inequality's text. */
  readonly sums: Map<string, SumInequality>;
  /** Numbers of calculated dates, each with the leaf from which it is calculated, which comes first. */
  readonly dates: CalculatedDate[];
  /** By list and added expression, what the elements without a place add up to. */
  readonly rests: Map<
    string,
    { readonly leaf: Leaf; readonly isWhole: SolverLiteral; readonly isKnown: SolverLiteral }
  >;
  /** The lemmas about sums found so far, in order. */
  readonly lemmas: Lemma[];
  /** The numbers that the last model gives to leaves in sums. */
  readonly numbers: Map<string, Decimal>;
  /** The inequalities that each literal means; null until first needed. */
  inequalities: ReadonlyMap<SolverLiteral, readonly Inequality[]> | null;
  /**
   * Conditions outside of quantifiers with their literals, in the order in which they are lowered;
   * `test/laws` supplies their truths to the formula.
   */
  readonly conditions: { readonly expression: Expression; readonly pair: Pair }[];
  readonly known: Map<string, Pair>;
  /** Literals of conditions outside of quantifiers, by identity of the condition. */
  readonly lowered: Map<Expression, Pair>;
  /** By list, how many elements the formula gives it. */
  readonly elementsOf: Map<string, number>;
  /** Whether a condition reads `fold(...)`; lists that ignore case are then lists of folded texts. */
  readonly folds: { areRead: boolean };
  /** Lists that need more elements than the formula gives them; nothing is proved then. */
  readonly bounded: Set<string>;
  /** Run once all conditions are added: `beforeCut` before leaves are cut, `afterCut` after that. */
  readonly beforeCut: (() => void)[];
  readonly afterCut: (() => void)[];
}
