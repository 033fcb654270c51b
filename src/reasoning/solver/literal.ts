// A literal is a variable or its opposite: 2 * variable, plus 1 where it is negated. A clause says that one of its
// literals holds.

export type SolverLiteral = number;
export type SolverClause = readonly SolverLiteral[];

export function notLiteral(literal: SolverLiteral): SolverLiteral {
  return literal ^ 1;
}

export function variableOf(literal: SolverLiteral): number {
  return literal >> 1;
}
