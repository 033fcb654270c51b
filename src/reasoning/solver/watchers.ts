// The clauses to look at when a literal comes to hold, since its opposite stands in them. One of two literals is known by
// the other one; a longer one by a literal that, where it holds, spares looking at the clause.

import type { KeptClause } from './kept-clause.ts';
import type { SolverLiteral } from './literal.ts';

export class Watchers {
  /** Of clauses of two literals the other one, and at the same place the clause. */
  readonly partners: SolverLiteral[] = [];
  readonly pairs: KeptClause[] = [];
  /** Of longer clauses one of their literals, and at the same place the clause. */
  readonly sparing: SolverLiteral[] = [];
  readonly clauses: KeptClause[] = [];

  watch(clause: KeptClause, other: SolverLiteral): void {
    const isOfTwo = clause.literals.length === 2;
    (isOfTwo ? this.partners : this.sparing).push(other);
    (isOfTwo ? this.pairs : this.clauses).push(clause);
  }

  /** Forgets the longer clauses from a place on. */
  cut(place: number): void {
    if (place === this.clauses.length) return;
    this.sparing.length = place;
    this.clauses.length = place;
  }
}
