// Many questions of one formula, each whether some literals can hold together. A model that answers one answers others,
// too. INVARIANT: what cannot be has been read by the naive checker; what took too long can be.

import type { ProofContext } from '../prove/context.ts';
import { ProofLog } from '../prove/proof-log.ts';
import { solveNearFor } from '../prove/search.ts';
import type { SolverClause, SolverLiteral } from '../solver/literal.ts';

const conflictsMax = 2_000;

export class Questions {
  readonly #ctx: ProofContext;
  readonly #log: ProofLog;
  #unseen: SolverClause = [];

  constructor(ctx: ProofContext) {
    this.#ctx = ctx;
    this.#log = new ProofLog(ctx);
  }

  /** Some of these that cannot hold together; null where they can, or nobody knows. */
  excluded(literals: SolverClause): readonly SolverLiteral[] | null {
    if (solveNearFor(this.#ctx, literals, conflictsMax) !== false) return null;
    const { core } = this.#ctx.circuit.solver;
    this.#log.check(core);
    return core;
  }

  isExcluded(literals: SolverClause): boolean {
    return this.excluded(literals) !== null;
  }

  /** Whether these can hold together, for all that is known; a model says what can be of other questions, too. */
  canHold(literals: SolverClause): boolean {
    const answer = solveNearFor(this.#ctx, literals, conflictsMax);
    if (answer === true) this.#unseen = this.#unseen.filter((literal) => !this.#holds([literal]));
    return answer === true;
  }

  /** Asks models about these literals from now on. */
  watch(literals: SolverClause): void {
    this.#unseen = [...new Set(literals)];
  }

  /** The watched literals that have held in no model yet. */
  get unseen(): SolverClause {
    return this.#unseen;
  }

  /** The questions whose literals cannot hold together. */
  amongExcluded<T extends { readonly literals: SolverClause }>(
    questions: readonly T[],
  ): readonly (T & { readonly core: SolverClause })[] {
    let open = questions;
    const excluded: (T & { readonly core: SolverClause })[] = [];
    while (open.length > 0) {
      const [first, ...rest] = open as readonly [T, ...T[]];
      const core = this.excluded(first.literals);
      if (core !== null) excluded.push({ ...first, core });
      // A model stays one until the next is found.
      open = core === null ? rest.filter(({ literals }) => !this.#holds(literals)) : rest;
    }
    return excluded;
  }

  /** In the last model that was found, which stays one. */
  #holds(literals: SolverClause): boolean {
    return literals.every((literal) => this.#ctx.circuit.solver.holds(literal));
  }
}
