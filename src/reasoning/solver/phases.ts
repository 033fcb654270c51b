// Which of its two literals each variable is tried with: the one that held last, at first the one that it was made with.

import { type SolverLiteral, variableOf } from './literal.ts';

export class Phases {
  /** By variable. */
  readonly #last: SolverLiteral[] = [];

  /** The next variable; they are numbered from 0. */
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
