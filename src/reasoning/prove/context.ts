// One action of a set as one formula: what all parts of making it share.

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

/** What the variables of the quantifiers around a condition stand for. */
export type Elements = ReadonlyMap<string, SlotElement>;

export type SlotElement = (
  | { readonly kind: 'slot'; readonly key: string; readonly slot: Slot }
  | { readonly kind: 'constant'; readonly literal: Expression }
) & {
  /** How often its quantifier goes round at most. */
  readonly rounds: number;
  /** Equal for quantifiers that go round equally often. */
  readonly over: string;
};

export const noElements: Elements = new Map();

/** A condition that is not followed into its parts: it may be true, false or unknown. */
export interface GuessedCondition {
  readonly span: Span;
  readonly pair: Pair;
}

export interface ListElements {
  readonly key: string;
  readonly leaf: Leaf;
  readonly element: Slot;
  /** By place: whether there is such an element. */
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
  /** Of many digits: the numbers that are added up. */
  readonly leaves?: readonly Leaf[];
  /** Of huge payloads: what has to be large for it. */
  readonly grows?: GrowingPart;
}

/** A text or a list of the payload that quantifiers go through for each element, or a list that is added up. */
export interface GrowingPart {
  readonly kind: 'text' | 'list' | 'addends';
  /** As leaves and lists are named. */
  readonly key: string;
  /** The lists of the quantifiers around. */
  readonly around: readonly string[];
  /** Of addends: what more elements add up to, and where in an element it stands. */
  readonly adds?: { readonly leaf: Leaf; readonly steps: readonly string[] };
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
  /** Enforced, of the action. */
  readonly rules: readonly Rule[];
  readonly circuit: Circuit;
  readonly faults: Faults;
  /** Quantifiers are guesses: sound for proofs, without any bound on lists, and of no use for witnesses. */
  readonly isCoarse: boolean;
  /** Conditions that would be followed into lists if the formula were not coarse. */
  readonly leftOpen: Set<Expression>;
  readonly lower: (condition: Expression, elements: Elements) => Pair;
  readonly leaves: Map<string, Leaf>;
  readonly lists: Map<string, ListElements>;
  readonly meters: Map<string, MeterEnds>;
  readonly equalities: Map<string, Equality>;
  readonly satisfied: Map<string, { readonly rule: Rule; readonly literal: SolverLiteral }>;
  readonly guesses: Map<string, GuessedCondition>;
  /** What holds of all but odd requests: where it does not, a condition is unknown. */
  readonly bounds: Map<string, Bound>;
  /** Inequalities of sums, by what they say. */
  readonly sums: Map<string, { readonly literal: SolverLiteral; readonly inequality: Inequality }>;
  /** What elements without a place add up to, by list and what is added. */
  readonly rests: Map<
    string,
    { readonly leaf: Leaf; readonly isWhole: SolverLiteral; readonly isKnown: SolverLiteral }
  >;
  /** What was found out about sums, in order. */
  readonly lemmas: Lemma[];
  /** Of the last model: numbers of the leaves that take part in sums. */
  readonly numbers: Map<string, Decimal>;
  /** What literals say of numbers; made when it is first asked for. */
  said: ReadonlyMap<SolverLiteral, readonly Inequality[]> | null;
  /** Conditions outside of quantifiers, as they are lowered: what the law compares. */
  readonly conditions: { readonly expression: Expression; readonly pair: Pair }[];
  readonly known: Map<string, Pair>;
  /** The same outside of quantifiers, by identity. */
  readonly lowered: Map<Expression, Pair>;
  /** How many elements a list is given. */
  readonly elementsOf: Map<string, number>;
  /** Lists that would need more elements than they are given: nothing is proved then. */
  readonly bounded: Set<string>;
  /** Run when no condition is added any more, before and after leaves are cut. */
  readonly beforeCut: (() => void)[];
  readonly afterCut: (() => void)[];
}
