// Many questions of one formula, each whether some literals can hold together. A model that answers one answers others,
// too. INVARIANT: what cannot be has been read by the naive checker; what took too long can be.

import type { SolverClause, SolverLiteral } from '../solver/literal.ts';
import { LogReader } from '../solver/log-reader.ts';
import type { Solver } from '../solver/solver.ts';

const conflictsMax = 2_000;

export class Questions {
  readonly #solver: Solver;
  readonly #reader: LogReader;

  constructor(solver: Solver) {
    this.#solver = solver;
    this.#reader = new LogReader(solver);
  }

  /** Some of these that cannot hold together; null where they can, or nobody knows. */
  excluded(literals: SolverClause): readonly SolverLiteral[] | null {
    if (this.#solver.solve(literals, conflictsMax) !== false) return null;
    const { core } = this.#solver;
    this.#reader.check(core);
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
    return literals.every((literal) => this.#solver.holds(literal));
  }
}
