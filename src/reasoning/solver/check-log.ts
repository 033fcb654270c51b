// Checks a "no" of the solver naively: each learnt clause follows from those before it by unit propagation, and so at
// last does that the assumptions cannot hold together. Nothing of the solver is used; what is wrong here would have to
// be wrong in the same place there.

import { type Clause, type Literal, not } from './literal.ts';

export class LogChecker {
  readonly #clauses: Clause[] = [];
  /** Clauses in which a literal's opposite stands, by literal. */
  readonly #readers: number[][] = [];
  readonly #units: Literal[] = [];
  #isEmptyIncluded = false;

  /** Takes a clause on trust: one of the formula. */
  admit(clause: Clause): void {
    const literals = [...new Set(clause)];
    if (literals.length === 0) this.#isEmptyIncluded = true;
    if (literals.length === 1) this.#units.push(literals[0]!);
    for (const literal of literals) {
      const readers = this.#readers[not(literal)] ?? [];
      readers.push(this.#clauses.length);
      this.#readers[not(literal)] = readers;
    }
    this.#clauses.push(literals);
  }

  /** Takes a clause that follows from those admitted; false where it does not by unit propagation. */
  derive(clause: Clause): boolean {
    if (!this.follows(clause)) return false;
    this.admit(clause);
    return true;
  }

  /** Whether the opposite of all of the clause's literals leads to a clause of which no literal can hold. */
  follows(clause: Clause): boolean {
    if (this.#isEmptyIncluded) return true;
    const known = new Set<Literal>();
    const open = [...clause.map(not), ...this.#units];
    while (open.length > 0) {
      const literal = open.pop()!;
      if (known.has(not(literal))) return true;
      if (known.has(literal)) continue;
      known.add(literal);
      for (const reader of this.#readers[literal] ?? []) {
        const left = this.#leftOf(this.#clauses[reader]!, known);
        if (left.length === 0) return true;
        if (left.length === 1) open.push(left[0]!);
      }
    }
    return false;
  }

  /** Up to two literals that may still hold; two, too, where one of the clause holds anyway. */
  #leftOf(clause: Clause, known: ReadonlySet<Literal>): readonly Literal[] {
    const left: Literal[] = [];
    for (const literal of clause) {
      if (known.has(literal)) return [literal, literal];
      if (!known.has(not(literal)) && left.push(literal) === 2) return left;
    }
    return left;
  }
}

export interface Log {
  readonly given: readonly Clause[];
  readonly learned: readonly Clause[];
}

/** Whether the log shows that the literals cannot all hold. */
export function checkLog({ given, learned }: Log, assumptions: Clause): boolean {
  const checker = new LogChecker();
  for (const clause of given) checker.admit(clause);
  return learned.every((clause) => checker.derive(clause)) && checker.follows(assumptions.map(not));
}
