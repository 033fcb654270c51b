// Writes gates over literals as clauses. Constants are folded away, and equal gates are made once, so that
// the same condition under two rules is one literal.

import { notLiteral, type SolverLiteral, variableOf } from './literal.ts';
import { Solver } from './solver.ts';

/**
 * A condition in three-valued logic. At most one of the two literals holds; if neither holds, the condition
 * is unknown.
 */
export interface Pair {
  readonly isTrue: SolverLiteral;
  readonly isFalse: SolverLiteral;
}

export interface WeightedLiteral {
  readonly literal: SolverLiteral;
  readonly weight: number;
}

/**
 * A gate with more inputs becomes a gate of gates, each over the inputs among `blockVariables` neighbouring
 * variables.
 */
const inputsMax = 32;
const blockVariables = 256;

export class Circuit {
  readonly solver = new Solver();
  readonly yes: SolverLiteral;
  readonly no: SolverLiteral;
  readonly #gates = new Map<string, SolverLiteral>();
  /** By variable of a gate's output, the gate's inputs. */
  readonly #inputs: (readonly SolverLiteral[])[] = [];

  constructor() {
    this.yes = this.solver.variable(true);
    this.no = notLiteral(this.yes);
    this.require([this.yes]);
  }

  get always(): Pair {
    return { isTrue: this.yes, isFalse: this.no };
  }

  get unknown(): Pair {
    return { isTrue: this.no, isFalse: this.no };
  }

  /** A new literal without any constraint; `isTriedTrue` makes the solver try it as true first. */
  free(isTriedTrue = false): SolverLiteral {
    return this.solver.variable(isTriedTrue);
  }

  /** A new condition without any constraint: true, false or unknown. */
  freePair(): Pair {
    const pair = { isTrue: this.free(), isFalse: this.free() };
    this.require([notLiteral(pair.isTrue), notLiteral(pair.isFalse)]);
    return pair;
  }

  /** Requires that at least one literal of the clause holds. */
  require(clause: readonly SolverLiteral[]): void {
    this.solver.add(clause);
  }

  requireEqual(a: SolverLiteral, b: SolverLiteral): void {
    this.require([notLiteral(a), b]);
    this.require([a, notLiteral(b)]);
  }

  and(literals: readonly SolverLiteral[]): SolverLiteral {
    const inputs = new Set<SolverLiteral>();
    for (const literal of literals) {
      if (literal === this.no || inputs.has(notLiteral(literal))) return this.no;
      if (literal !== this.yes) inputs.add(literal);
    }
    return this.#andOf([...inputs].sort((a, b) => a - b));
  }

  /** Two gates over nearly the same inputs share all but a few blocks. */
  #andOf(sorted: readonly SolverLiteral[]): SolverLiteral {
    if (sorted.length < 2) return sorted[0] ?? this.yes;
    if (sorted.length > inputsMax) {
      const groups = groupsOf(sorted);
      if (groups.length > 1) return this.and(groups.map((group) => this.#andOf(group)));
    }
    const key = sorted.join();
    const output = this.#gates.get(key) ?? this.#gate(sorted);
    this.#gates.set(key, output);
    return output;
  }

  or(literals: readonly SolverLiteral[]): SolverLiteral {
    return notLiteral(this.and(literals.map(notLiteral)));
  }

  choose(condition: SolverLiteral, then: SolverLiteral, otherwise: SolverLiteral): SolverLiteral {
    return this.or([this.and([condition, then]), this.and([notLiteral(condition), otherwise])]);
  }

  /** The conjunction in Kleene's logic. */
  every(pairs: readonly Pair[]): Pair {
    return {
      isTrue: this.and(pairs.map(({ isTrue }) => isTrue)),
      isFalse: this.or(pairs.map(({ isFalse }) => isFalse)),
    };
  }

  /** The disjunction in Kleene's logic. */
  some(pairs: readonly Pair[]): Pair {
    return negatedLiteral(this.every(pairs.map(negatedLiteral)));
  }

  /** The condition if `isKnown` holds, else unknown. */
  onlyIf(isKnown: SolverLiteral, { isTrue, isFalse }: Pair): Pair {
    return { isTrue: this.and([isKnown, isTrue]), isFalse: this.and([isKnown, isFalse]) };
  }

  /** A literal that holds if the weights of the terms that hold add up to at least `least`. */
  atLeast(terms: readonly WeightedLiteral[], least: number): SolverLiteral {
    const { positive, bound } = withoutNegatives(terms, least);
    const sorted = positive.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
    return this.#sum(sorted, bound, new Map());
  }

  /** A decision diagram with one node for each term and each weight that is still needed there. */
  #sum(terms: readonly WeightedLiteral[], needed: number, nodes: Map<string, SolverLiteral>): SolverLiteral {
    if (needed <= 0) return this.yes;
    if (terms.reduce((sum, { weight }) => sum + weight, 0) < needed) return this.no;
    const key = `${terms.length} ${needed}`;
    const cached = nodes.get(key);
    if (cached !== undefined) return cached;
    const [{ literal, weight }, ...rest] = terms as readonly [WeightedLiteral, ...WeightedLiteral[]];
    const node = this.choose(
      literal,
      this.#sum(rest, needed - weight, nodes),
      this.#sum(rest, needed, nodes),
    );
    nodes.set(key, node);
    return node;
  }

  /**
   * Makes the solver try these literals as true in the next model, and each gate with the value that follows
   * from its inputs.
   */
  prefer(literals: Iterable<SolverLiteral>): void {
    this.solver.prefer(literals);
    const { phases } = this.solver;
    // A gate has a higher variable than its inputs.
    for (const [variable, inputs] of this.#inputs.entries())
      if (inputs !== undefined)
        phases.save(inputs.every((input) => this.#isPreferred(input)) ? 2 * variable : 2 * variable + 1);
  }

  #isPreferred(literal: SolverLiteral): boolean {
    return this.solver.phases.of(variableOf(literal)) === literal;
  }

  /** The variables of the literals, and of everything that the gates under them are made of. */
  variablesUnder(literals: Iterable<SolverLiteral>): ReadonlySet<number> {
    const variables = new Set([...literals].map(variableOf));
    // Iterating over a set also visits what is added meanwhile.
    for (const variable of variables)
      for (const input of this.#inputs[variable] ?? []) variables.add(variableOf(input));
    return variables;
  }

  /**
   * A gate is first tried with the value that its inputs are tried with, so that a model without other
   * demands is plain.
   */
  #gate(inputs: readonly SolverLiteral[]): SolverLiteral {
    const output = this.free(inputs.every((input) => this.#isPreferred(input)));
    this.#inputs[variableOf(output)] = inputs;
    for (const input of inputs) this.require([notLiteral(output), input]);
    this.require([output, ...inputs.map(notLiteral)]);
    return output;
  }
}

export function negatedLiteral({ isTrue, isFalse }: Pair): Pair {
  return { isTrue: isFalse, isFalse: isTrue };
}

/**
 * Groups the inputs into fewer groups than there are literals: by neighbouring variables, or by order when
 * all variables lie too far apart.
 */
function groupsOf(sorted: readonly SolverLiteral[]): readonly (readonly SolverLiteral[])[] {
  const blocks = Map.groupBy(sorted, (literal) => Math.floor(variableOf(literal) / blockVariables));
  if (blocks.size < sorted.length) return [...blocks.values()];
  const starts = Array.from({ length: Math.ceil(sorted.length / inputsMax) }, (_, at) => at * inputsMax);
  return starts.map((start) => sorted.slice(start, start + inputsMax));
}

/**
 * Replaces each negative weight by a positive weight of the opposite literal, and raises the bound
 * accordingly.
 */
function withoutNegatives(
  terms: readonly WeightedLiteral[],
  least: number,
): { readonly positive: readonly WeightedLiteral[]; readonly bound: number } {
  const negative = terms.filter(({ weight }) => weight < 0);
  return {
    positive: terms.map(({ literal, weight }) =>
      weight < 0 ? { literal: notLiteral(literal), weight: -weight } : { literal, weight },
    ),
    bound: negative.reduce((bound, { weight }) => bound - weight, least),
  };
}
