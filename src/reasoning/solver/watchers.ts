// The clauses to examine when a literal becomes true, because they contain its opposite. For a clause of two
// literals, the other literal is kept. For a longer clause a literal is kept that makes examining it needless
// while the literal holds.

import type { KeptClause } from './kept-clause.ts';
import type { SolverLiteral } from './literal.ts';

export class Watchers {
  /** For clauses of two literals: the other literal, and the clause at the same index of `pairs`. */
  readonly partners: SolverLiteral[] = [];
  readonly pairs: KeptClause[] = [];
  /** For longer clauses: one of the literals, and the clause at the same index of `clauses`. */
  readonly sparing: SolverLiteral[] = [];
  readonly clauses: KeptClause[] = [];

  watch(clause: KeptClause, other: SolverLiteral): void {
    const isOfTwo = clause.literals.length === 2;
    (isOfTwo ? this.partners : this.sparing).push(other);
    (isOfTwo ? this.pairs : this.clauses).push(clause);
  }

  /** Drops the longer clauses from a place on. */
  cut(place: number): void {
    if (place === this.clauses.length) return;
    this.sparing.length = place;
    this.clauses.length = place;
  }
}
