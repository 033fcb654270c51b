// A literal is a variable or its opposite: 2 * variable, plus 1 where it is negated. A clause says that one of its
// literals holds.

export type SolverLiteral = number;
export type SolverClause = readonly SolverLiteral[];

export function notLiteral(literal: SolverLiteral): SolverLiteral {
  return literal ^ 1;
}

const fewLiterals = 8;

/** The clause with each literal once; itself where it is so already. */
export function withoutRepeats(clause: SolverClause): SolverClause {
  if (clause.length > fewLiterals) return [...new Set(clause)];
  for (let at = 1; at < clause.length; at += 1)
    if (clause.indexOf(clause[at]!) < at) return [...new Set(clause)];
  return clause;
}

/** Null where it is always true, by values that are 1 where a literal holds and 0 where it cannot; what cannot is left out. */
export function openLiterals(clause: SolverClause, values: readonly number[]): SolverLiteral[] | null {
  if (clause.some((literal) => values[literal] === 1) || isEither(clause)) return null;
  return withoutRepeats(clause).filter((literal) => values[literal] !== 0);
}

/** Whether it holds a literal and its opposite. */
function isEither(clause: SolverClause): boolean {
  if (clause.length <= fewLiterals) return clause.some((literal) => clause.includes(notLiteral(literal)));
  const literals = new Set(clause);
  return clause.some((literal) => literals.has(notLiteral(literal)));
}

export function variableOf(literal: SolverLiteral): number {
  return literal >> 1;
}
