// Checks an unsatisfiability log of the solver naively: each learnt clause follows from the earlier clauses
// by unit propagation, and so does the contradiction of the assumptions. The checker shares no code with the
// search, so an error stays hidden only if both have it in the same place.

import { notLiteral, type SolverClause, type SolverLiteral, withoutRepeats } from './literal.ts';

export class LogChecker {
  readonly #clauses: SolverClause[] = [];
  /** By literal, the clauses that contain its opposite. */
  readonly #readers: number[][] = [];
  /** By literal, 1 if the literal holds under any assumptions, as far as clauses have been settled. */
  #always = new Uint8Array(1_024);
  #settled = 0;
  #isEmptyIncluded = false;

  /** Adds a clause of the formula without a check. */
  admit(clause: SolverClause): void {
    const literals = withoutRepeats(clause);
    for (const literal of literals) {
      this.#makeRoom(literal);
      const readers = this.#readers[notLiteral(literal)] ?? [];
      readers.push(this.#clauses.length);
      this.#readers[notLiteral(literal)] = readers;
    }
    this.#clauses.push(literals);
  }

  /**
   * Adds a clause that follows from the admitted clauses; returns false when it does not follow by unit
   * propagation.
   */
  derive(clause: SolverClause): boolean {
    if (!this.follows(clause)) return false;
    this.admit(clause);
    return true;
  }

  /**
   * Whether assuming the opposites of all the clause's literals leads to a clause without any possible
   * literal.
   */
  follows(clause: SolverClause): boolean {
    for (const literal of clause) this.#makeRoom(literal);
    for (; this.#settled < this.#clauses.length; this.#settled += 1) {
      const left = this.#leftOf(this.#clauses[this.#settled]!, this.#always);
      if (left.length === 0 || (left.length === 1 && this.#leadsToNone([...left], this.#always)))
        this.#isEmptyIncluded = true;
    }
    return this.#isEmptyIncluded || this.#leadsToNone(clause.map(notLiteral), this.#always.slice());
  }

  /**
   * Adds to `known` everything that follows from it and the open literals. Returns whether some clause has no
   * possible literal left.
   */
  #leadsToNone(open: SolverLiteral[], values: Uint8Array): boolean {
    while (open.length > 0) {
      const literal = open.pop()!;
      if (values[notLiteral(literal)] === 1) return true;
      if (values[literal] === 1) continue;
      values[literal] = 1;
      for (const reader of this.#readers[literal] ?? []) {
        const left = this.#leftOf(this.#clauses[reader]!, values);
        if (left.length === 0) return true;
        if (left.length === 1) open.push(left[0]!);
      }
    }
    return false;
  }

  #makeRoom(literal: SolverLiteral): void {
    if (literal + 2 < this.#always.length) return;
    const more = new Uint8Array(2 * (literal + 2));
    more.set(this.#always);
    this.#always = more;
  }

  /**
   * Returns up to two literals that may still hold; two as well when some literal of the clause already
   * holds.
   */
  #leftOf(clause: SolverClause, values: Uint8Array): readonly SolverLiteral[] {
    const left: SolverLiteral[] = [];
    for (const literal of clause) {
      if (values[literal] === 1) return [literal, literal];
      if (values[notLiteral(literal)] !== 1 && left.push(literal) === 2) return left;
    }
    return left;
  }
}

export interface Log {
  readonly given: readonly SolverClause[];
  readonly learned: readonly SolverClause[];
}

/** Whether the log shows that the assumptions cannot all hold. */
export function checkLog({ given, learned }: Log, assumptions: SolverClause): boolean {
  const checker = new LogChecker();
  for (const clause of given) checker.admit(clause);
  return learned.every((clause) => checker.derive(clause)) && checker.follows(assumptions.map(notLiteral));
}
