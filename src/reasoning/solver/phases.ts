// The literal with which the solver tries each variable: the one that held last, and at first the one chosen
// when the variable was made.

import { type SolverLiteral, variableOf } from './literal.ts';

export class Phases {
  /** By variable, the literal to try. */
  readonly #last: SolverLiteral[] = [];

  /** Adds the next variable; variables are numbered from 0. */
  append(isTriedTrue: boolean): void {
    this.#last.push(2 * this.#last.length + (isTriedTrue ? 0 : 1));
  }

  of(variable: number): SolverLiteral {
    return this.#last[variable]!;
  }

  keep(literal: SolverLiteral): void {
    this.#last[variableOf(literal)] = literal;
  }
}
