// Gates over literals, written as clauses. What is constant is folded away, and the same gate is made once, so that the
// same condition under two rules is one literal.

import { type Literal, not } from './literal.ts';
import { Solver } from './solver.ts';

/** A condition in three-valued logic: at most one of the two holds; where neither does it is unknown. */
export interface Pair {
  readonly isTrue: Literal;
  readonly isFalse: Literal;
}

export interface Weighted {
  readonly literal: Literal;
  readonly weight: number;
}

/** Gates with more inputs are not looked up. */
const sharedInputsMax = 8;

export class Circuit {
  readonly solver = new Solver();
  readonly yes: Literal;
  readonly no: Literal;
  readonly #gates = new Map<string, Literal>();

  constructor() {
    this.yes = this.solver.variable(true);
    this.no = not(this.yes);
    this.require([this.yes]);
  }

  get always(): Pair {
    return { isTrue: this.yes, isFalse: this.no };
  }

  get unknown(): Pair {
    return { isTrue: this.no, isFalse: this.no };
  }

  /** A literal of which nothing is known. */
  free(isTriedTrue = false): Literal {
    return this.solver.variable(isTriedTrue);
  }

  /** A condition of which nothing is known. */
  freePair(): Pair {
    const pair = { isTrue: this.free(), isFalse: this.free() };
    this.require([not(pair.isTrue), not(pair.isFalse)]);
    return pair;
  }

  /** At least one of these holds. */
  require(clause: readonly Literal[]): void {
    this.solver.add(clause);
  }

  requireEqual(a: Literal, b: Literal): void {
    this.require([not(a), b]);
    this.require([a, not(b)]);
  }

  and(literals: readonly Literal[]): Literal {
    const inputs = new Set<Literal>();
    for (const literal of literals) {
      if (literal === this.no || inputs.has(not(literal))) return this.no;
      if (literal !== this.yes) inputs.add(literal);
    }
    const sorted = [...inputs].sort((a, b) => a - b);
    if (sorted.length < 2) return sorted[0] ?? this.yes;
    const key = sorted.length > sharedInputsMax ? null : sorted.join();
    const known = key === null ? undefined : this.#gates.get(key);
    if (known !== undefined) return known;
    const output = this.#gate(sorted);
    if (key !== null) this.#gates.set(key, output);
    return output;
  }

  or(literals: readonly Literal[]): Literal {
    return not(this.and(literals.map(not)));
  }

  choose(condition: Literal, then: Literal, otherwise: Literal): Literal {
    return this.or([this.and([condition, then]), this.and([not(condition), otherwise])]);
  }

  /** Kleene's and. */
  every(pairs: readonly Pair[]): Pair {
    return {
      isTrue: this.and(pairs.map(({ isTrue }) => isTrue)),
      isFalse: this.or(pairs.map(({ isFalse }) => isFalse)),
    };
  }

  /** Kleene's or. */
  some(pairs: readonly Pair[]): Pair {
    return negated(this.every(pairs.map(negated)));
  }

  /** The condition where `isKnown` holds, else unknown. */
  onlyIf(isKnown: Literal, { isTrue, isFalse }: Pair): Pair {
    return { isTrue: this.and([isKnown, isTrue]), isFalse: this.and([isKnown, isFalse]) };
  }

  /** Whether the weights of the literals that hold add up to `least` or more. */
  atLeast(terms: readonly Weighted[], least: number): Literal {
    const { positive, bound } = withoutNegatives(terms, least);
    const sorted = positive.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
    return this.#sum(sorted, bound, new Map());
  }

  /** A diagram with one node a term and what is still needed there. */
  #sum(terms: readonly Weighted[], needed: number, nodes: Map<string, Literal>): Literal {
    if (needed <= 0) return this.yes;
    if (terms.reduce((sum, { weight }) => sum + weight, 0) < needed) return this.no;
    const key = `${terms.length} ${needed}`;
    const known = nodes.get(key);
    if (known !== undefined) return known;
    const [{ literal, weight }, ...rest] = terms as readonly [Weighted, ...Weighted[]];
    const node = this.choose(
      literal,
      this.#sum(rest, needed - weight, nodes),
      this.#sum(rest, needed, nodes),
    );
    nodes.set(key, node);
    return node;
  }

  #gate(inputs: readonly Literal[]): Literal {
    const output = this.free();
    for (const input of inputs) this.require([not(output), input]);
    this.require([output, ...inputs.map(not)]);
    return output;
  }
}

export function negated({ isTrue, isFalse }: Pair): Pair {
  return { isTrue: isFalse, isFalse: isTrue };
}

/** A negative weight of a literal is a positive one of its opposite, and a higher bound. */
function withoutNegatives(
  terms: readonly Weighted[],
  least: number,
): { readonly positive: readonly Weighted[]; readonly bound: number } {
  const negative = terms.filter(({ weight }) => weight < 0);
  return {
    positive: terms.map(({ literal, weight }) =>
      weight < 0 ? { literal: not(literal), weight: -weight } : { literal, weight },
    ),
    bound: negative.reduce((bound, { weight }) => bound - weight, least),
  };
}
