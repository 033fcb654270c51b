// Checks a "no" of the solver naively: each learnt clause follows from those before it by unit propagation, and so at
// last does that the assumptions cannot hold together. Nothing of the solver is used; what is wrong here would have to
// be wrong in the same place there.

import { notLiteral, type SolverClause, type SolverLiteral } from './literal.ts';

export class LogChecker {
  readonly #clauses: SolverClause[] = [];
  /** Clauses in which a literal's opposite stands, by literal. */
  readonly #readers: number[][] = [];
  readonly #units: SolverLiteral[] = [];
  /** Above all literals that have been read. */
  #literalsEnd = 0;
  #isEmptyIncluded = false;

  /** Takes a clause on trust: one of the formula. */
  admit(clause: SolverClause): void {
    const literals = [...new Set(clause)];
    if (literals.length === 0) this.#isEmptyIncluded = true;
    if (literals.length === 1) this.#units.push(literals[0]!);
    for (const literal of literals) {
      this.#literalsEnd = Math.max(this.#literalsEnd, literal + 1, notLiteral(literal) + 1);
      const readers = this.#readers[notLiteral(literal)] ?? [];
      readers.push(this.#clauses.length);
      this.#readers[notLiteral(literal)] = readers;
    }
    this.#clauses.push(literals);
  }

  /** Takes a clause that follows from those admitted; false where it does not by unit propagation. */
  derive(clause: SolverClause): boolean {
    if (!this.follows(clause)) return false;
    this.admit(clause);
    return true;
  }

  /** Whether the opposite of all of the clause's literals leads to a clause of which no literal can hold. */
  follows(clause: SolverClause): boolean {
    if (this.#isEmptyIncluded) return true;
    const open = [...clause.map(notLiteral), ...this.#units];
    const end = open.reduce((most, one) => Math.max(most, one + 1, notLiteral(one) + 1), this.#literalsEnd);
    /** By literal: 1 where it holds. */
    const known = new Uint8Array(end);
    while (open.length > 0) {
      const literal = open.pop()!;
      if (known[notLiteral(literal)] === 1) return true;
      if (known[literal] === 1) continue;
      known[literal] = 1;
      for (const reader of this.#readers[literal] ?? []) {
        const left = this.#leftOf(this.#clauses[reader]!, known);
        if (left.length === 0) return true;
        if (left.length === 1) open.push(left[0]!);
      }
    }
    return false;
  }

  /** Up to two literals that may still hold; two, too, where one of the clause holds anyway. */
  #leftOf(clause: SolverClause, known: Uint8Array): readonly SolverLiteral[] {
    const left: SolverLiteral[] = [];
    for (const literal of clause) {
      if (known[literal] === 1) return [literal, literal];
      if (known[notLiteral(literal)] !== 1 && left.push(literal) === 2) return left;
    }
    return left;
  }
}

export interface Log {
  readonly given: readonly SolverClause[];
  readonly learned: readonly SolverClause[];
}

/** Whether the log shows that the literals cannot all hold. */
export function checkLog({ given, learned }: Log, assumptions: SolverClause): boolean {
  const checker = new LogChecker();
  for (const clause of given) checker.admit(clause);
  return learned.every((clause) => checker.derive(clause)) && checker.follows(assumptions.map(notLiteral));
}
