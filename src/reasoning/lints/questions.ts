// Many questions of one formula, each whether some literals can hold together. A model that answers one answers others,
// too. INVARIANT: what cannot be has been read by the naive checker; what took too long can be.

import type { ProofContext } from '../prove/context.ts';
import { ProofLog } from '../prove/proof-log.ts';
import { solveFor } from '../prove/search.ts';
import type { SolverClause, SolverLiteral } from '../solver/literal.ts';

const conflictsMax = 2_000;

export class Questions {
  readonly #ctx: ProofContext;
  readonly #log: ProofLog;

  constructor(ctx: ProofContext) {
    this.#ctx = ctx;
    this.#log = new ProofLog(ctx);
  }

  /** Some of these that cannot hold together; null where they can, or nobody knows. */
  excluded(literals: SolverClause): readonly SolverLiteral[] | null {
    if (solveFor(this.#ctx, literals, conflictsMax) !== false) return null;
    const { core } = this.#ctx.circuit.solver;
    this.#log.check(core);
    return core;
  }

  isExcluded(literals: SolverClause): boolean {
    return this.excluded(literals) !== null;
  }

  /** Those of the questions whose literals cannot hold together. */
  amongExcluded<T extends { readonly literals: SolverClause }>(questions: readonly T[]): readonly T[] {
    let open = questions;
    const excluded: T[] = [];
    while (open.length > 0) {
      const [first, ...rest] = open as readonly [T, ...T[]];
      if (this.isExcluded(first.literals)) excluded.push(first);
      open = rest.filter(({ literals }) => !this.#holds(literals));
    }
    return excluded;
  }

  /** In the last model that was found, which stays one. */
  #holds(literals: SolverClause): boolean {
    return literals.every((literal) => this.#ctx.circuit.solver.holds(literal));
  }
}
