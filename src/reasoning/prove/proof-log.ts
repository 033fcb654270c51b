// Runs the naive checkers beside a solver that keeps being asked. Each part of the log and each lemma about
// sums is checked once, before the next "no" of the solver is believed.

import { followsFrom } from '../linear/inequality.ts';
import { LogChecker } from '../solver/check-log.ts';
import { notLiteral, type SolverClause } from '../solver/literal.ts';
import type { ProofContext } from './context.ts';
import { inequalitiesOf } from './search.ts';

export class ProofLog {
  readonly #ctx: ProofContext;
  readonly #checker = new LogChecker();
  #lemmas = 0;
  #admitted = 0;
  #derived = 0;

  constructor(ctx: ProofContext) {
    this.#ctx = ctx;
  }

  /** Throws if the log does not show that the literals of `core` cannot hold together. */
  check(core: SolverClause): void {
    const { lemmas, circuit } = this.#ctx;
    const { given, learned } = circuit.solver;
    for (; this.#lemmas < lemmas.length; this.#lemmas += 1) {
      if (!followsFrom(lemmas[this.#lemmas]!, (literal) => inequalitiesOf(this.#ctx, literal)))
        throw new Error('a lemma about sums does not follow');
    }
    for (; this.#admitted < given.length; this.#admitted += 1) this.#checker.admit(given[this.#admitted]!);
    for (; this.#derived < learned.length; this.#derived += 1) {
      if (!this.#checker.derive(learned[this.#derived]!))
        throw new Error('the log of a proof does not check');
    }
    if (!this.#checker.follows(core.map(notLiteral))) throw new Error('the end of a proof does not check');
  }
}
