// Many questions about one formula, each whether some literals can hold together. A model that answers one
// question often answers others too. INVARIANT: "cannot hold" has been confirmed by the naive checker; what
// took too long, or is asked once the effort is spent, counts as "can hold".

import type { ProofContext } from '../prove/context.ts';
import { ProofLog } from '../prove/proof-log.ts';
import { solveNearFor } from '../prove/search.ts';
import type { SolverClause, SolverLiteral } from '../solver/literal.ts';

const conflictsMax = 2_000;

/**
 * The most effort for the questions about one formula. A question costs as much as the formula has variables:
 * of a condition with thousands of parts, each part is asked about, and each answer sets all variables. The actions of
 * the shipped packs need at most 90,000.
 */
export const effortMax = 4_000_000;

export class Questions {
  readonly #ctx: ProofContext;
  readonly #log: ProofLog;
  #unseen: SolverClause = [];
  #effort = 0;
  readonly #effortMax: number;
  #isCut = false;

  constructor(ctx: ProofContext, effort = effortMax) {
    this.#ctx = ctx;
    this.#log = new ProofLog(ctx);
    this.#effortMax = effort;
  }

  /** Whether a question was left open because the effort was spent. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get effort(): number {
    return this.#effort;
  }

  #solve(literals: SolverClause): boolean | null {
    if (this.#effort >= this.#effortMax) {
      this.#isCut = true;
      return null;
    }
    this.#effort += this.#ctx.circuit.solver.variables;
    return solveNearFor(this.#ctx, literals, conflictsMax);
  }

  /** Some of the literals that cannot hold together; null if they can, or if that is not known. */
  excluded(literals: SolverClause): readonly SolverLiteral[] | null {
    if (this.#solve(literals) !== false) return null;
    const { core } = this.#ctx.circuit.solver;
    this.#log.check(core);
    return core;
  }

  isExcluded(literals: SolverClause): boolean {
    return this.excluded(literals) !== null;
  }

  /**
   * Whether a model was found in which the literals hold together. The model also answers the watched
   * questions that it satisfies.
   */
  canHold(literals: SolverClause): boolean {
    const answer = this.#solve(literals);
    if (answer === true) this.#unseen = this.#unseen.filter((literal) => !this.#holds([literal]));
    return answer === true;
  }

  /** Watches literals: from now on, each model is checked for them. */
  watch(literals: SolverClause): void {
    this.#unseen = [...new Set(literals)];
  }

  /** The watched literals that have held in no model so far. */
  get unseen(): SolverClause {
    return this.#unseen;
  }

  /** The questions whose literals cannot hold together. */
  amongExcluded<T extends { readonly literals: SolverClause }>(
    questions: readonly T[],
  ): readonly (T & { readonly core: SolverClause })[] {
    let open = questions;
    const excluded: (T & { readonly core: SolverClause })[] = [];
    while (open.length > 0 && !this.#isCut) {
      const [first, ...rest] = open as readonly [T, ...T[]];
      const core = this.excluded(first.literals);
      if (core !== null) excluded.push({ ...first, core });
      // The last model stays valid until the next is found.
      open = core === null ? rest.filter(({ literals }) => !this.#holds(literals)) : rest;
    }
    return excluded;
  }

  /** Whether the literals hold in the last model, which stays valid until the next is found. */
  #holds(literals: SolverClause): boolean {
    return literals.every((literal) => this.#ctx.circuit.solver.holds(literal));
  }
}
