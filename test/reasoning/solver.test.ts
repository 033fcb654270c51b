// The solver compared with trying all assignments, on random clauses; its log is checked by the naive
// checker, which refuses a log that lacks a clause.

import { describe, expect, it } from 'vitest';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { checkLog } from '../../src/reasoning/solver/check-log.ts';
import { Circuit } from '../../src/reasoning/solver/circuit.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../../src/reasoning/solver/literal.ts';
import { Solver } from '../../src/reasoning/solver/solver.ts';

interface Formula {
  readonly variables: number;
  readonly clauses: readonly SolverClause[];
  readonly assumptions: SolverClause;
}

function randomLiteral(random: RandomSource, variables: number): SolverLiteral {
  return 2 * random.below(variables) + random.below(2);
}

function randomFormula(random: RandomSource): Formula {
  const variables = 3 + random.below(10);
  const draw = (length: number): SolverClause =>
    Array.from({ length }, () => randomLiteral(random, variables));
  const clauses = Array.from({ length: Math.floor(variables * (2 + random.below(3))) }, () =>
    draw(2 + random.below(2)),
  );
  return { variables, clauses, assumptions: assumedOf(random, { variables }) };
}

function assumedOf(random: RandomSource, { variables }: Pick<Formula, 'variables'>): SolverClause {
  const drawn = Array.from({ length: random.below(4) }, () => randomLiteral(random, variables));
  return [...new Map(drawn.map((literal) => [literal >> 1, literal])).values()];
}

/** Harder than unit propagation can settle: every pigeon needs a hole of its own. */
function pigeons(count: number): Formula {
  const holes = count - 1;
  const inHole = (pigeon: number, hole: number): SolverLiteral => 2 * (pigeon * holes + hole);
  const each = Array.from({ length: count }, (_, pigeon) =>
    Array.from({ length: holes }, (__, hole) => inHole(pigeon, hole)),
  );
  const apart = each.flatMap((_, a) =>
    each.flatMap((__, b) =>
      a < b
        ? Array.from({ length: holes }, (___, hole) => [
            notLiteral(inHole(a, hole)),
            notLiteral(inHole(b, hole)),
          ])
        : [],
    ),
  );
  return { variables: count * holes, clauses: [...each, ...apart], assumptions: [] };
}

function solverOf({ variables, clauses }: Formula): Solver {
  const solver = new Solver();
  for (let made = 0; made < variables; made += 1) solver.variable();
  for (const clause of clauses) solver.add(clause);
  return solver;
}

function isSatisfiable({ variables, clauses, assumptions }: Formula): boolean {
  for (let assignment = 0; assignment < 1 << variables; assignment += 1) {
    const holds = (literal: SolverLiteral): boolean =>
      ((assignment >> (literal >> 1)) & 1) === 1 - (literal & 1);
    if (assumptions.every(holds) && clauses.every((clause) => clause.some(holds))) return true;
  }
  return false;
}

describe('Solver', () => {
  it('says of literals only what holds of all assignments, and answers afterwards as before', () => {
    const random = createRandom(17);
    let said = 0;
    for (let round = 0; round < 500; round += 1) {
      const formula = randomFormula(random);
      const solver = solverOf(formula);
      if (random.chance(0.5)) solver.solve(assumedOf(random, formula));
      const literals = Array.from({ length: formula.variables }, (_, variable) => 2 * variable);
      for (const [variable, holds] of solver.implied(formula.assumptions, literals).entries()) {
        if (holds === null) continue;
        said += 1;
        const opposite = 2 * variable + (holds ? 1 : 0);
        expect(isSatisfiable({ ...formula, assumptions: [...formula.assumptions, opposite] })).toBe(false);
      }
      expect(solver.solveNear(formula.assumptions)).toBe(isSatisfiable(formula));
    }
    expect(said).toBeGreaterThan(1_000);
  });

  it('answers as all assignments do, with a model, or a core and a log that checks', () => {
    const random = createRandom(11);
    const answers = { yes: 0, no: 0 };
    for (let round = 0; round < 1_500; round += 1) {
      const formula = randomFormula(random);
      const solver = solverOf(formula);
      const answer = solver.solve(formula.assumptions);
      expect(answer).toBe(isSatisfiable(formula));
      if (answer === true) {
        answers.yes += 1;
        for (const clause of formula.clauses) expect(clause.some((one) => solver.holds(one))).toBe(true);
        for (const literal of formula.assumptions) expect(solver.holds(literal)).toBe(true);
      } else {
        answers.no += 1;
        for (const literal of solver.core) expect(formula.assumptions).toContain(literal);
        expect(isSatisfiable({ ...formula, assumptions: solver.core })).toBe(false);
        expect(checkLog(solver, solver.core)).toBe(true);
      }
    }
    expect(Math.min(answers.yes, answers.no)).toBeGreaterThan(200);
  });

  it('answers questions near the last model as all assignments do', () => {
    const random = createRandom(23);
    const answers = { yes: 0, no: 0 };
    for (let round = 0; round < 60; round += 1) {
      const whole = randomFormula(random);
      const first = Math.floor(whole.clauses.length / 2);
      const solver = solverOf({ ...whole, clauses: whole.clauses.slice(0, first) });
      for (let asked = 0; asked < 12; asked += 1) {
        // Clauses are added between questions.
        const known = Math.min(first + asked, whole.clauses.length);
        if (asked > 0 && known > first) solver.add(whole.clauses[known - 1]!);
        const formula = { ...whole, clauses: whole.clauses.slice(0, known) };
        const assumptions = assumedOf(random, formula);
        const answer = solver.solveNear(assumptions);
        expect(answer).toBe(isSatisfiable({ ...formula, assumptions }));
        answers[answer === true ? 'yes' : 'no'] += 1;
        if (answer === true) {
          for (const clause of formula.clauses) expect(clause.some((one) => solver.holds(one))).toBe(true);
          for (const literal of assumptions) expect(solver.holds(literal)).toBe(true);
        } else {
          for (const literal of solver.core) expect(assumptions).toContain(literal);
          expect(checkLog(solver, solver.core)).toBe(true);
        }
      }
    }
    expect(Math.min(answers.yes, answers.no)).toBeGreaterThan(100);
  });

  it('goes on with more clauses and other assumptions', () => {
    const solver = new Solver();
    const [a, b] = [solver.variable(), solver.variable()];
    solver.add([a, b]);
    expect(solver.solve([notLiteral(a)])).toBe(true);
    expect(solver.holds(b)).toBe(true);
    solver.add([notLiteral(b)]);
    expect(solver.solve([notLiteral(a)])).toBe(false);
    expect(solver.solve([a])).toBe(true);
  });

  it('stops where it is told to', () => {
    expect(solverOf(pigeons(8)).solve([], 10)).toBeNull();
  });
});

describe('Circuit', () => {
  const holdsOf = (circuit: Circuit, fixed: SolverClause, output: SolverLiteral): boolean => {
    expect(circuit.solver.solve(fixed)).toBe(true);
    return circuit.solver.holds(output);
  };

  it('makes gates over nearly the same inputs of the same blocks', () => {
    const circuit = new Circuit();
    const inputs = Array.from({ length: 3_000 }, () => circuit.free());
    const all = circuit.and(inputs);
    const before = circuit.solver.given.length;
    const most = circuit.and(inputs.toSpliced(1_500, 1));
    expect(circuit.solver.given.length - before).toBeLessThan(400);
    const without = (at: number): SolverClause =>
      inputs.map((one, own) => (own === at ? notLiteral(one) : one));
    expect([all, most].map((output) => holdsOf(circuit, inputs, output))).toEqual([true, true]);
    expect([all, most].map((output) => holdsOf(circuit, without(1_500), output))).toEqual([false, true]);
    expect([all, most].map((output) => holdsOf(circuit, without(7), output))).toEqual([false, false]);
  });

  it('makes gates over inputs that lie far apart', () => {
    const circuit = new Circuit();
    const drawn = Array.from({ length: 40 * 300 }, () => circuit.free());
    const inputs = drawn.filter((_, at) => at % 300 === 0);
    const all = circuit.and(inputs);
    const without = inputs.map((one, at) => (at === 20 ? notLiteral(one) : one));
    expect([inputs, without].map((those) => holdsOf(circuit, those, all))).toEqual([true, false]);
  });

  it('has what is preferred in the next model, and gates as that makes them', () => {
    const circuit = new Circuit();
    const inputs = Array.from({ length: 600 }, () => circuit.free());
    const some = circuit.or(inputs);
    expect(circuit.solver.solve(inputs)).toBe(true);
    circuit.prefer(inputs.map(notLiteral));
    expect(circuit.solver.solve([some])).toBe(true);
    expect(inputs.filter((one) => circuit.solver.holds(one))).toHaveLength(1);
  });
});

describe('checkLog', () => {
  it('holds for a search of many conflicts, and not where a clause is missing that mattered', () => {
    const formula = pigeons(6);
    const solver = solverOf(formula);
    expect(solver.solve([])).toBe(false);
    expect(solver.learned.length).toBeGreaterThan(20);
    expect(checkLog(solver, [])).toBe(true);
    const without = (clauses: readonly SolverClause[], at: number): readonly SolverClause[] =>
      clauses.toSpliced(at, 1);
    // Without any one clause of the formula there is room for all pigeons.
    for (const at of formula.clauses.keys())
      expect(checkLog({ ...solver, given: without(solver.given, at) }, [])).toBe(false);
    const refused = [...solver.learned.keys()].filter(
      (at) => !checkLog({ given: solver.given, learned: without(solver.learned, at) }, []),
    );
    expect(refused.length).toBeGreaterThan(0);
  });

  it('refuses a clause that does not follow', () => {
    expect(checkLog({ given: [[0, 2]], learned: [[0]] }, [1])).toBe(false);
  });
});
