// Checks a "no" of the solver naively: each learnt clause follows from those before it by unit propagation, and so at
// last does that the assumptions cannot hold together. Nothing of the solver is used; what is wrong here would have to
// be wrong in the same place there.

import { notLiteral, type SolverClause, type SolverLiteral, withoutRepeats } from './literal.ts';

export class LogChecker {
  readonly #clauses: SolverClause[] = [];
  /** Clauses in which a literal's opposite stands, by literal. */
  readonly #readers: number[][] = [];
  /** By literal: 1 where it holds whatever is assumed, as far as clauses have been settled. */
  #always = new Uint8Array(1_024);
  #settled = 0;
  #isEmptyIncluded = false;

  /** Takes a clause on trust: one of the formula. */
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

  /** Takes a clause that follows from those admitted; false where it does not by unit propagation. */
  derive(clause: SolverClause): boolean {
    if (!this.follows(clause)) return false;
    this.admit(clause);
    return true;
  }

  /** Whether the opposite of all of the clause's literals leads to a clause of which no literal can hold. */
  follows(clause: SolverClause): boolean {
    for (const literal of clause) this.#makeRoom(literal);
    for (; this.#settled < this.#clauses.length; this.#settled += 1) {
      const left = this.#leftOf(this.#clauses[this.#settled]!, this.#always);
      if (left.length === 0 || (left.length === 1 && this.#leadsToNone([...left], this.#always)))
        this.#isEmptyIncluded = true;
    }
    return this.#isEmptyIncluded || this.#leadsToNone(clause.map(notLiteral), this.#always.slice());
  }

  /** Adds to what is known what follows from it and these; whether no literal of some clause is left. */
  #leadsToNone(open: SolverLiteral[], known: Uint8Array): boolean {
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

  #makeRoom(literal: SolverLiteral): void {
    if (literal + 2 < this.#always.length) return;
    const more = new Uint8Array(2 * (literal + 2));
    more.set(this.#always);
    this.#always = more;
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
