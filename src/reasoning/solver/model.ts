// The truth of each literal in the last answer, until a later answer replaces it.

import { notLiteral, type SolverLiteral } from './literal.ts';
import type { Phases } from './phases.ts';

export class Model {
  /** By literal, 1 if the literal holds. */
  #truths: number[] = [];

  holds(literal: SolverLiteral): boolean {
    return this.#truths[literal] === 1;
  }

  /** Copies `values`, which are 1 or 0 by literal: whether the literal holds. */
  take(values: readonly number[]): void {
    this.#truths = [...values];
  }

  turn(literal: SolverLiteral): void {
    this.#truths[literal] = 1;
    this.#truths[notLiteral(literal)] = 0;
  }

  /** Gives variables that are newer than the model the value with which the solver would try them. */
  grow(variables: number, phases: Phases): void {
    for (let variable = this.#truths.length >> 1; variable < variables; variable += 1)
      this.turn(phases.of(variable));
  }
}
