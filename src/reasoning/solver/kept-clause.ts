// A clause in the form in which the solver keeps it during the search.

import type { SolverLiteral } from './literal.ts';

export interface KeptClause {
  /**
   * The first two literals are watched; in a clause of more than two, the literal that the clause implies
   * comes first.
   */
  readonly literals: SolverLiteral[];
  /** The number of decisions that the clause joins; fewer are more useful. Null for a given clause. */
  readonly levels: number | null;
  isDropped: boolean;
}

/**
 * Drops the half of the learnt clauses that join the most decisions, except clauses that join at most two.
 * Returns the kept ones.
 */
export function usefulOf(learned: readonly KeptClause[]): KeptClause[] {
  const sorted = learned.toSorted((a, b) => a.levels! - b.levels!);
  for (const clause of sorted.slice(sorted.length >> 1)) clause.isDropped = clause.levels! > 2;
  return sorted.filter(({ isDropped }) => !isDropped);
}
