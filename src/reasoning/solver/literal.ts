// A literal is a variable or its opposite: 2 * variable, plus 1 where it is negated. A clause says that one of its
// literals holds.

export type Literal = number;
export type Clause = readonly Literal[];

export function not(literal: Literal): Literal {
  return literal ^ 1;
}

export function variableOf(literal: Literal): number {
  return literal >> 1;
}
