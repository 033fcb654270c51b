// What the last answer says of each literal, until a later one says otherwise.

import { notLiteral, type SolverLiteral } from './literal.ts';
import type { Phases } from './phases.ts';

export class Model {
  /** By literal: 1 where it holds. */
  #truths: number[] = [];

  holds(literal: SolverLiteral): boolean {
    return this.#truths[literal] === 1;
  }

  /** `values` says of each literal whether it holds: 1 or 0. */
  take(values: readonly number[]): void {
    this.#truths = [...values];
  }

  turn(literal: SolverLiteral): void {
    this.#truths[literal] = 1;
    this.#truths[notLiteral(literal)] = 0;
  }

  /** Variables that are newer than it are as they would be tried. */
  grow(variables: number, phases: Phases): void {
    for (let variable = this.#truths.length >> 1; variable < variables; variable += 1)
      this.turn(phases.of(variable));
  }
}
