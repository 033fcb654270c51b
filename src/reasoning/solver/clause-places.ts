// By literal, the given clauses that contain it, as far as `read` has read the clauses.

import type { SolverClause, SolverLiteral } from './literal.ts';

/** Grows with the given clauses, which are never removed. */
export class ClausePlaces {
  readonly #places: SolverClause[][] = [];
  #read = 0;

  read(given: readonly SolverClause[]): void {
    for (; this.#read < given.length; this.#read += 1) {
      const clause = given[this.#read]!;
      for (const literal of clause) {
        const places = this.#places[literal] ?? [];
        places.push(clause);
        this.#places[literal] = places;
      }
    }
  }

  of(literal: SolverLiteral): readonly SolverClause[] {
    return this.#places[literal] ?? [];
  }
}
