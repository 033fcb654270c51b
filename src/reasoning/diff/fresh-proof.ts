// Proves by a separate proof that assumptions are contradictory: a new solver gets only the clauses, so its
// log contains nothing of earlier searches, and the naive checker reads that log. INVARIANT: `cannotHold`
// returns true only for checked contradictions.

import { followsFrom } from '../linear/inequality.ts';
import type { ProofContext } from '../prove/context.ts';
import { inequalitiesOf } from '../prove/search.ts';
import { LogChecker } from '../solver/check-log.ts';
import { notLiteral, type SolverClause } from '../solver/literal.ts';
import { Solver } from '../solver/solver.ts';

const conflictsMax = 50_000;

export class FreshProof {
  readonly #solver = new Solver();
  readonly #checker = new LogChecker();
  #derived = 0;

  constructor(ctx: ProofContext) {
    const { variables, given } = ctx.circuit.solver;
    for (const lemma of ctx.lemmas)
      if (!followsFrom(lemma, (literal) => inequalitiesOf(ctx, literal)))
        throw new Error('a lemma about sums does not follow');
    while (this.#solver.variables < variables) this.#solver.variable();
    for (const clause of given) {
      this.#solver.add(clause);
      this.#checker.admit(clause);
    }
  }

  /**
   * Whether the assumptions cannot hold together; null when the search took too long. Throws if the log does
   * not check.
   */
  cannotHold(assumptions: SolverClause): boolean | null {
    const answer = this.#solver.solve(assumptions, conflictsMax);
    if (answer !== false) return answer === null ? null : false;
    const { learned, core } = this.#solver;
    for (; this.#derived < learned.length; this.#derived += 1)
      if (!this.#checker.derive(learned[this.#derived]!))
        throw new Error('the log of a proof does not check');
    if (!this.#checker.follows(core.map(notLiteral))) throw new Error('the end of a proof does not check');
    return true;
  }
}
