// The naive checker beside a solver that goes on: each part of the log is read once, before the next "no" is believed.

import { LogChecker } from './check-log.ts';
import { notLiteral, type SolverClause } from './literal.ts';
import type { Solver } from './solver.ts';

export class LogReader {
  readonly #solver: Solver;
  readonly #checker = new LogChecker();
  #admitted = 0;
  #derived = 0;

  constructor(solver: Solver) {
    this.#solver = solver;
  }

  /** Throws where it does not follow that these cannot hold together. */
  check(core: SolverClause): void {
    const { given, learned } = this.#solver;
    for (; this.#admitted < given.length; this.#admitted += 1) this.#checker.admit(given[this.#admitted]!);
    for (; this.#derived < learned.length; this.#derived += 1) {
      if (!this.#checker.derive(learned[this.#derived]!))
        throw new Error('the log of a proof does not check');
    }
    if (!this.#checker.follows(core.map(notLiteral))) throw new Error('the end of a proof does not check');
  }
}
