// A literal is a variable or its opposite: 2 * variable, plus 1 if it is negated. A clause means that at
// least one of its literals holds.

export type SolverLiteral = number;
export type SolverClause = readonly SolverLiteral[];

export function notLiteral(literal: SolverLiteral): SolverLiteral {
  return literal ^ 1;
}

const fewLiterals = 8;

/** The clause with each literal once; the same array when no literal is repeated. */
export function withoutRepeats(clause: SolverClause): SolverClause {
  if (clause.length > fewLiterals) return [...new Set(clause)];
  for (let at = 1; at < clause.length; at += 1)
    if (clause.indexOf(clause[at]!) < at) return [...new Set(clause)];
  return clause;
}

/**
 * The literals of the clause that may still hold; null when the clause is always true. `values` are 1 for a
 * literal that holds, 0 for one that cannot.
 */
export function openLiterals(clause: SolverClause, values: readonly number[]): SolverLiteral[] | null {
  if (clause.some((literal) => values[literal] === 1) || isEither(clause)) return null;
  return withoutRepeats(clause).filter((literal) => values[literal] !== 0);
}

/** Whether the clause contains a literal and its opposite. */
function isEither(clause: SolverClause): boolean {
  if (clause.length <= fewLiterals) return clause.some((literal) => clause.includes(notLiteral(literal)));
  const literals = new Set(clause);
  return clause.some((literal) => literals.has(notLiteral(literal)));
}

export function variableOf(literal: SolverLiteral): number {
  return literal >> 1;
}
