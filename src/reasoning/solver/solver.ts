// A SAT solver: conflict-driven clause learning (CDCL; Marques-Silva and Sakallah, GRASP, 1996) with two
// watched literals per clause and blocker literals, decisions by variable activity (VSIDS; Chaff, 2001), phase
// saving, restarts in the Luby sequence (1993) and deletion of learnt clauses by literal block distance (LBD;
// Glucose, 2009). It solves under assumptions, as MiniSat does; after a "no", the core lists assumptions that
// contradict each other. INVARIANT: every learnt clause is in `learned`, in order, so that
// `checkLog` can check a "no" without trusting any code of this file.

import { notLiteral, openLiterals, type SolverClause, type SolverLiteral, variableOf } from './literal.ts';

// VSIDS: orders variables by their part in recent conflicts: a binary heap with the most active variable on top.

const decayFactor = 0.95;
const activityMax = 1e100;

class VsidsOrder {
  readonly #heap: number[] = [];
  /** By variable, its place in the heap; -1 when the variable is not in the heap. */
  readonly clauseIndexes: number[] = [];
  readonly #activities: number[] = [];
  #increment = 1;

  /** Adds the next variable; variables are numbered from 0. */
  append(): void {
    this.clauseIndexes.push(-1);
    this.#activities.push(0);
    this.insert(this.clauseIndexes.length - 1);
  }

  insert(variable: number): void {
    if (this.clauseIndexes[variable]! >= 0) return;
    this.clauseIndexes[variable] = this.#heap.length;
    this.#heap.push(variable);
    this.#rise(variable);
  }

  /** Removes and returns the most active variable; null when the heap is empty. */
  take(): number | null {
    const [top] = this.#heap;
    const last = this.#heap.pop();
    if (top === undefined || last === undefined) return null;
    this.clauseIndexes[top] = -1;
    if (last !== top) {
      this.#put(0, last);
      this.#sink(last);
    }
    return top;
  }

  /** Notes that the variable took part in a conflict. */
  bump(variable: number): void {
    this.#activities[variable]! += this.#increment;
    if (this.clauseIndexes[variable]! >= 0) this.#rise(variable);
  }

  /** Ends a conflict: earlier conflicts count less from now on. */
  decay(): void {
    this.#increment /= decayFactor;
    if (this.#increment < activityMax) return;
    for (const at of this.#activities.keys()) this.#activities[at]! /= activityMax;
    this.#increment /= activityMax;
  }

  #rise(variable: number): void {
    let at = this.clauseIndexes[variable]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isMore(variable, this.#heap[parent]!)) break;
      this.#put(at, this.#heap[parent]!);
      at = parent;
    }
    this.#put(at, variable);
  }

  #sink(variable: number): void {
    let at = this.clauseIndexes[variable]!;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && this.#isMore(this.#heap[child + 1]!, this.#heap[child]!))
        child += 1;
      if (!this.#isMore(this.#heap[child]!, variable)) break;
      this.#put(at, this.#heap[child]!);
      at = child;
    }
    this.#put(at, variable);
  }

  #isMore(a: number, b: number): boolean {
    return this.#activities[a]! > this.#activities[b]!;
  }

  #put(at: number, variable: number): void {
    this.#heap[at] = variable;
    this.clauseIndexes[variable] = at;
  }
}

// Phase saving: the literal with which the solver tries each variable: the one that held last, and at first the one chosen
// when the variable was made.

class SavedPhases {
  /** By variable, the literal to try. */
  readonly #last: SolverLiteral[] = [];

  /** Adds the next variable; variables are numbered from 0. */
  append(isTriedTrue: boolean): void {
    this.#last.push(2 * this.#last.length + (isTriedTrue ? 0 : 1));
  }

  of(variable: number): SolverLiteral {
    return this.#last[variable]!;
  }

  save(literal: SolverLiteral): void {
    this.#last[variableOf(literal)] = literal;
  }
}

class Model {
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
  grow(variables: number, phases: SavedPhases): void {
    for (let variable = this.#truths.length >> 1; variable < variables; variable += 1)
      this.turn(phases.of(variable));
  }
}

// The clauses to examine when a literal becomes true, because they contain its opposite. For a clause of two
// literals, the other literal is kept. For a longer clause a blocker literal is kept that makes examining it needless
// while the literal holds.

export class Watchers {
  /** For clauses of two literals: the other literal, and the clause at the same index of `pairs`. */
  readonly partners: SolverLiteral[] = [];
  readonly pairs: WatchedClause[] = [];
  /** For longer clauses: one of the literals, and the clause at the same index of `clauses`. */
  readonly blockers: SolverLiteral[] = [];
  readonly clauses: WatchedClause[] = [];

  watch(clause: WatchedClause, other: SolverLiteral): void {
    const isOfTwo = clause.literals.length === 2;
    (isOfTwo ? this.partners : this.blockers).push(other);
    (isOfTwo ? this.pairs : this.clauses).push(clause);
  }

  /** Drops the longer clauses from a place on. */
  cut(length: number): void {
    if (length === this.clauses.length) return;
    this.blockers.length = length;
    this.clauses.length = length;
  }
}

// A clause in the form in which the solver keeps it during the search.

export interface WatchedClause {
  /**
   * The first two literals are watched; in a clause of more than two, the literal that the clause implies
   * comes first.
   */
  readonly literals: SolverLiteral[];
  /** The literal block distance: the number of decision levels in the clause. Null for a given clause. */
  readonly lbd: number | null;
  isDropped: boolean;
}

/**
 * Drops the half of the learnt clauses with the highest LBD, except clauses with an LBD of at most 2. Returns
 * the kept ones.
 */
function bestByLbd(learned: readonly WatchedClause[]): WatchedClause[] {
  const sorted = learned.toSorted((a, b) => a.lbd! - b.lbd!);
  for (const clause of sorted.slice(sorted.length >> 1)) clause.isDropped = clause.lbd! > 2;
  return sorted.filter(({ isDropped }) => !isDropped);
}

/** Grows with the given clauses, which are never removed. */
class OccurrenceLists {
  readonly clauseIndexes: SolverClause[][] = [];
  #read = 0;

  read(given: readonly SolverClause[]): void {
    for (; this.#read < given.length; this.#read += 1) {
      const clause = given[this.#read]!;
      for (const literal of clause) {
        const clauses = this.clauseIndexes[literal] ?? [];
        clauses.push(clause);
        this.clauseIndexes[literal] = clauses;
      }
    }
  }

  of(literal: SolverLiteral): readonly SolverClause[] {
    return this.clauseIndexes[literal] ?? [];
  }
}

const free = -1;
const restartUnit = 100;
const learnedKept = 2_000;

export class Solver {
  /** The given clauses; `learned` holds the learnt clauses in order. */
  readonly given: SolverClause[] = [];
  readonly learned: SolverClause[] = [];
  /** After a "no": assumptions that cannot hold together. */
  core: readonly SolverLiteral[] = [];
  /** After a "yes": the model. */
  readonly #model = new Model();

  /** By literal: 1 if it is true, 0 if it is false, `free` if it is open. */
  readonly #values: number[] = [];
  readonly #watchers: Watchers[] = [];
  /** By variable, the number of decisions when it got its value. */
  readonly #levels: number[] = [];
  readonly #reasons: (WatchedClause | null)[] = [];
  /** The values with which variables are tried first, until a search sets others. */
  readonly phases = new SavedPhases();
  readonly #isSeen: boolean[] = [];
  readonly #order = new VsidsOrder();

  /** The literals that hold now, and the places in the trail at which decisions begin. */
  readonly #trail: SolverLiteral[] = [];
  readonly #decisions: number[] = [];
  #propagated = 0;
  #kept: WatchedClause[] = [];
  #isImpossible = false;
  #conflicts = 0;
  readonly clauseIndexes = new OccurrenceLists();
  /** How many of the given clauses the last model satisfies. */
  #met = 0;
  /** True while repairs run: undone values are then not saved as phases for the next search. */
  #isRepairing = false;
  /** The assumptions of the last question; what follows from those that the next question shares is kept. */
  #assumed: SolverClause = [];

  get variables(): number {
    return this.#levels.length;
  }

  /** Returns the literal of a new variable; `isTriedTrue` makes the solver try it as true first. */
  variable(isTriedTrue = false): SolverLiteral {
    const variable = this.#levels.length;
    this.#levels.push(0);
    this.#reasons.push(null);
    this.phases.append(isTriedTrue);
    this.#isSeen.push(false);
    this.#values.push(free, free);
    this.#watchers.push(new Watchers(), new Watchers());
    this.#order.append();
    return 2 * variable;
  }

  add(clause: SolverClause): void {
    this.given.push([...clause]);
    if (this.#isImpossible) return;
    this.#undo(0);
    const literals = openLiterals(clause, this.#values);
    if (literals === null) return;
    if (literals.length > 1) this.#watch({ literals, lbd: null, isDropped: false });
    else if (literals.length === 0) this.#isImpossible = true;
    else {
      this.#assign(literals[0]!, null);
      this.#isImpossible = this.#propagate() !== null;
    }
  }

  /** Whether clauses can hold; null after `conflictsMax` conflicts. Shared first assumptions save time. */
  solve(assumptions: SolverClause, conflictsMax = Number.POSITIVE_INFINITY): boolean | null {
    this.core = [];
    const end = this.#conflicts + conflictsMax;
    this.#undo(this.#sharedWith(assumptions));
    this.#isRepairing = false;
    this.#assumed = assumptions;
    for (let run = 1; !this.#isImpossible; run += 1) {
      const answer = this.#search(assumptions, Math.min(end, this.#conflicts + restartUnit * luby(run)));
      if (answer !== null) return answer;
      this.#undo(0);
      if (this.#conflicts >= end) return null;
      this.#reduceDb();
    }
    return false;
  }

  /**
   * Answers like `solve`. If the last model needs few changes, only those are examined, which is much faster
   * for many questions about one large formula; successive models are then alike.
   */
  solveNear(assumptions: SolverClause, conflictsMax = Number.POSITIVE_INFINITY): boolean | null {
    const answer = this.#met > 0 && !this.#isImpossible ? this.#repair(assumptions) : null;
    return answer ?? this.solve(assumptions, conflictsMax);
  }

  /** For each literal, its truth by propagation from the assumptions; null when that does not settle it. */
  implied(assumptions: SolverClause, literals: SolverClause): readonly (boolean | null)[] {
    this.#undo(this.#sharedWith(assumptions));
    this.#isRepairing = true;
    this.#assumed = assumptions;
    if (this.#isImpossible || this.#assumeAll(assumptions) !== true) this.#undoAll();
    return literals.map((literal) => (this.#values[literal] === free ? null : this.#values[literal] === 1));
  }

  /** Makes the next search try these literals first. */
  prefer(literals: Iterable<SolverLiteral>): void {
    this.#undo(0);
    for (const literal of literals) this.phases.save(literal);
  }

  /** True if the last model was repaired, false if the assumptions conflict, null if a search is needed. */
  #repair(assumptions: SolverClause): boolean | null {
    this.core = [];
    this.#undo(this.#sharedWith(assumptions));
    this.#isRepairing = true;
    this.#assumed = assumptions;
    this.clauseIndexes.read(this.given);
    const canAssume = this.#assumeAll(assumptions);
    if (canAssume !== true) return canAssume === 'impossible' ? false : this.#undoAll();
    this.#model.grow(this.variables, this.phases);
    for (let at = this.#met; at < this.given.length; at += 1)
      if (!this.#meet(this.given[at]!)) return this.#undoAll();
    for (let at = 0; at < this.#trail.length; at += 1) {
      const literal = this.#trail[at]!;
      if (this.#model.holds(literal)) continue;
      for (const clause of this.clauseIndexes.of(notLiteral(literal)))
        if (!this.#meet(clause)) return this.#undoAll();
    }
    for (const literal of this.#trail) this.#model.turn(literal);
    this.#met = this.given.length;
    return true;
  }

  #undoAll(): null {
    this.#undo(0);
    this.#propagated = 0;
    return null;
  }

  #assumeAll(assumptions: SolverClause): boolean | 'impossible' {
    for (;;) {
      if (this.#propagate() !== null) return false;
      const next = this.#nextAssumption(assumptions);
      if (next === 'impossible') return next;
      if (next === null) return true;
      this.#decide(next);
    }
  }

  /** Whether the clause holds now, by the last model for open variables, or by one more decision. */
  #meet(clause: SolverClause): boolean {
    let open: SolverLiteral | null = null;
    for (const literal of clause) {
      const value = this.#values[literal];
      if (value === 1 || (value === free && this.#model.holds(literal))) return true;
      if (value === free) open ??= literal;
    }
    if (open === null) return false;
    this.#decide(open);
    return this.#propagate() === null;
  }

  #decide(literal: SolverLiteral): void {
    this.#decisions.push(this.#trail.length);
    this.#assign(literal, null);
  }

  /** How many of the first assumptions equal those of the last question. */
  #sharedWith(assumptions: SolverClause): number {
    const most = Math.min(assumptions.length, this.#assumed.length, this.#decisions.length);
    let shared = 0;
    while (shared < most && assumptions[shared] === this.#assumed[shared]) shared += 1;
    return shared;
  }

  /** Whether the literal holds in the last model. */
  holds(literal: SolverLiteral): boolean {
    return this.#model.holds(literal);
  }

  /** Null when the search should restart. */
  #search(assumptions: SolverClause, conflictsEnd: number): boolean | null {
    for (;;) {
      const conflict = this.#propagate();
      if (conflict !== null) {
        if (!this.#learnFrom(conflict)) return false;
        if (this.#conflicts >= conflictsEnd) return null;
        continue;
      }
      const next = this.#nextAssumption(assumptions);
      if (next === 'impossible') return false;
      const decision = next ?? this.#nextDecision();
      if (decision === null) {
        this.#model.take(this.#values);
        this.#met = this.given.length;
        return true;
      }
      this.#decide(decision);
    }
  }

  #nextAssumption(assumptions: SolverClause): SolverLiteral | 'impossible' | null {
    while (this.#decisions.length < assumptions.length) {
      const assumption = assumptions[this.#decisions.length]!;
      if (this.#values[assumption] === free) return assumption;
      if (this.#values[assumption] === 0) {
        this.core = this.#coreOf(assumption);
        return 'impossible';
      }
      this.#decisions.push(this.#trail.length);
    }
    return null;
  }

  #nextDecision(): SolverLiteral | null {
    for (let variable = this.#order.take(); variable !== null; variable = this.#order.take()) {
      if (this.#values[2 * variable] === free) return this.phases.of(variable);
    }
    return null;
  }

  #assign(literal: SolverLiteral, reason: WatchedClause | null): void {
    this.#values[literal] = 1;
    this.#values[notLiteral(literal)] = 0;
    this.#levels[variableOf(literal)] = this.#decisions.length;
    this.#reasons[variableOf(literal)] = reason;
    this.#trail.push(literal);
  }

  #undo(level: number): void {
    const start = this.#decisions[level];
    if (start === undefined) return;
    for (let at = start; at < this.#trail.length; at += 1) {
      const literal = this.#trail[at]!;
      if (!this.#isRepairing) this.phases.save(literal);
      this.#values[literal] = free;
      this.#values[notLiteral(literal)] = free;
      this.#order.insert(variableOf(literal));
    }
    this.#trail.length = start;
    this.#decisions.length = level;
    this.#propagated = start;
  }

  #watch(clause: WatchedClause): void {
    const first = clause.literals[0]!;
    const second = clause.literals[1]!;
    this.#watchers[notLiteral(first)]!.watch(clause, second);
    this.#watchers[notLiteral(second)]!.watch(clause, first);
  }

  /** The clause that can no longer hold; null when there is none. */
  #propagate(): WatchedClause | null {
    while (this.#propagated < this.#trail.length) {
      const literal = this.#trail[this.#propagated]!;
      this.#propagated += 1;
      const conflict = this.#visit(literal);
      if (conflict !== null) return conflict;
    }
    return null;
  }

  /** A clause of two literals needs its other literal; a longer clause looks for another one to watch. */
  #visit(literal: SolverLiteral): WatchedClause | null {
    const watchers = this.#watchers[literal]!;
    const { partners, pairs } = watchers;
    for (let at = 0; at < partners.length; at += 1) {
      const partner = partners[at]!;
      const value = this.#values[partner]!;
      if (value === 0) return pairs[at]!;
      if (value === free) this.#assign(partner, pairs[at]!);
    }
    return this.#visitLonger(notLiteral(literal), watchers);
  }

  #visitLonger(lost: SolverLiteral, watchers: Watchers): WatchedClause | null {
    const { blockers, clauses } = watchers;
    const values = this.#values;
    let [keptCount, conflict] = [0, null as WatchedClause | null];
    for (let at = 0; at < clauses.length; at += 1) {
      const clause = clauses[at]!;
      let blocker = blockers[at]!;
      if (values[blocker] !== 1 && conflict === null) {
        if (clause.isDropped || this.#moveWatch(clause, lost)) continue;
        blocker = clause.literals[0]!;
        const value = values[blocker]!;
        if (value === 0) conflict = clause;
        else if (value === free) this.#assign(blocker, clause);
      }
      clauses[keptCount] = clause;
      blockers[keptCount] = blocker;
      keptCount += 1;
    }
    watchers.cut(keptCount);
    return conflict;
  }

  /** Whether the clause found another literal to watch instead of the lost one. */
  #moveWatch(clause: WatchedClause, lost: SolverLiteral): boolean {
    const { literals } = clause;
    if (literals[0] === lost) {
      literals[0] = literals[1]!;
      literals[1] = lost;
    }
    if (this.#values[literals[0]!] === 1) return false;
    for (let at = 2; at < literals.length; at += 1) {
      const other = literals[at]!;
      if (this.#values[other] === 0) continue;
      literals[1] = other;
      literals[at] = lost;
      this.#watchers[notLiteral(other)]!.watch(clause, literals[0]!);
      return true;
    }
    return false;
  }

  /** Learns a clause from the conflict and undoes decisions. False when no decision is left to undo. */
  #learnFrom(conflict: WatchedClause): boolean {
    this.#conflicts += 1;
    if (this.#decisions.length === 0) {
      this.#isImpossible = true;
      this.learned.push([]);
      return false;
    }
    const literals = this.#analyze(conflict);
    this.learned.push([...literals]);
    this.#undo(literals.length > 1 ? this.#levelOf(literals[1]!) : 0);
    if (literals.length === 1) this.#assign(literals[0]!, null);
    else {
      const lbd = new Set(literals.map((literal) => this.#levelOf(literal))).size;
      const clause: WatchedClause = { literals, lbd, isDropped: false };
      this.#kept.push(clause);
      this.#watch(clause);
      this.#assign(literals[0]!, clause);
    }
    this.#order.decay();
    return true;
  }

  /** The learnt clause: its first literal is implied once all decisions but the last stand. */
  #analyze(conflict: WatchedClause): SolverLiteral[] {
    const others: SolverLiteral[] = [];
    const seen: number[] = [];
    let reason: WatchedClause | null = conflict;
    let open = 0;
    let implied: SolverLiteral = free;
    let at = this.#trail.length;
    do {
      for (const literal of reason!.literals) {
        const variable = variableOf(literal);
        if (literal === implied || this.#isSeen[variable] || this.#levels[variable] === 0) continue;
        this.#isSeen[variable] = true;
        seen.push(variable);
        this.#order.bump(variable);
        if (this.#levels[variable] === this.#decisions.length) open += 1;
        else others.push(literal);
      }
      do at -= 1;
      while (!this.#isSeen[variableOf(this.#trail[at]!)]);
      implied = this.#trail[at]!;
      reason = this.#reasons[variableOf(implied)]!;
      open -= 1;
    } while (open > 0);
    const needed = others.filter((literal) => !this.#isImplied(literal));
    for (const variable of seen) this.#isSeen[variable] = false;
    return [notLiteral(implied), ...needed.toSorted((a, b) => this.#levelOf(b) - this.#levelOf(a))];
  }

  /** Whether the other literals of the learnt clause imply this one. */
  #isImplied(literal: SolverLiteral): boolean {
    const reason = this.#reasons[variableOf(literal)];
    if (!reason) return false;
    return reason.literals.every(
      (other) =>
        variableOf(other) === variableOf(literal) ||
        this.#isSeen[variableOf(other)] === true ||
        this.#levelOf(other) === 0,
    );
  }

  #levelOf(literal: SolverLiteral): number {
    return this.#levels[variableOf(literal)]!;
  }

  /** The assumptions that imply the opposite of `failed`, and `failed` itself. */
  #coreOf(failed: SolverLiteral): readonly SolverLiteral[] {
    const core = new Set([failed]);
    const open = new Set([variableOf(failed)]);
    const start = this.#decisions[0] ?? this.#trail.length;
    for (let at = this.#trail.length - 1; at >= start; at -= 1) {
      const literal = this.#trail[at]!;
      if (!open.has(variableOf(literal))) continue;
      const reason = this.#reasons[variableOf(literal)];
      if (!reason) core.add(literal);
      for (const other of reason?.literals ?? []) if (this.#levelOf(other) > 0) open.add(variableOf(other));
    }
    return [...core];
  }

  /** Drops the less useful learnt clauses when there are many; no decision may be open. */
  #reduceDb(): void {
    if (this.#kept.length >= learnedKept + this.#conflicts / 3) this.#kept = bestByLbd(this.#kept);
  }
}

/** The Luby sequence 1 1 2 1 1 2 4 ...; `run` counts from 1. */
function luby(run: number): number {
  let size = 1;
  while (2 ** size - 1 < run) size += 1;
  return 2 ** size - 1 === run ? 2 ** (size - 1) : luby(run - 2 ** (size - 1) + 1);
}
