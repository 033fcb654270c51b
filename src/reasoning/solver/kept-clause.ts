// A clause as the solver keeps it while it searches.

import type { SolverLiteral } from './literal.ts';

export interface KeptClause {
  /** The first two are watched; of more than two the one that the clause implies comes first. */
  readonly literals: SolverLiteral[];
  /** How many decisions it joins: the fewer, the more useful. Null for a clause that was given. */
  readonly levels: number | null;
  isDropped: boolean;
}

/** Drops the half of the learnt clauses that joins most decisions, but for those that join two. */
export function usefulOf(learned: readonly KeptClause[]): KeptClause[] {
  const sorted = learned.toSorted((a, b) => a.levels! - b.levels!);
  for (const clause of sorted.slice(sorted.length >> 1)) clause.isDropped = clause.levels! > 2;
  return sorted.filter(({ isDropped }) => !isDropped);
}
