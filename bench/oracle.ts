// The prover's solver beside z3: on the same clauses, with the inequalities of sums as inequalities, both give the same
// answers; every "no" passes the naive checker, and what passes with one clause removed is a "no" of z3, too. By hand,
// since z3 is large: npm run oracle, or with another number of sets, npm run oracle -- 50

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Claim, PolicySet } from '../src/language/model/policy.ts';
import { createRandom } from '../src/language/value/random.ts';
import type { Fraction } from '../src/reasoning/linear/fraction.ts';
import { signOf } from '../src/reasoning/linear/fraction.ts';
import { followsFrom, type Inequality } from '../src/reasoning/linear/inequality.ts';
import { createProblem, type ProofProblem } from '../src/reasoning/prove/problem.ts';
import { saidBy, solveFor } from '../src/reasoning/prove/search.ts';
import { checkLog } from '../src/reasoning/solver/check-log.ts';
import type { SolverClause, SolverLiteral } from '../src/reasoning/solver/literal.ts';
import { lawSets } from '../test/laws/proofs.ts';

interface Z3Solver {
  fromString(text: string): void;
  check(): Promise<'sat' | 'unsat' | 'unknown'>;
  release(): void;
}

interface Z3 {
  readonly Context: new (name: string) => { readonly Solver: new () => Z3Solver };
}

interface Tally {
  sets: number;
  claims: number;
  no: number;
  withSums: number;
  /** Logs that lack a clause and are refused. */
  refused: number;
  readonly wrong: string[];
}

async function main(setsWanted: number): Promise<void> {
  const load = createRequire(join(import.meta.dirname, 'package.json'));
  const { init } = load('z3-solver') as { readonly init: () => Promise<Z3> };
  const { Context } = await init();
  const { Solver } = new Context('main');
  const isNo = async (text: string): Promise<boolean> => {
    const solver = new Solver();
    solver.fromString(text);
    const answer = await solver.check();
    // Its memory is not Node's, and is not given back by itself.
    solver.release();
    if (answer === 'unknown') throw new Error('z3 does not know');
    return answer === 'unsat';
  };
  const tally: Tally = { sets: 0, claims: 0, no: 0, withSums: 0, refused: 0, wrong: [] };
  // About one in twelve drawn sets has errors and is left out.
  for (const { name, set } of (await lawSets(Math.ceil(setsWanted * 1.3))).slice(0, setsWanted)) {
    tally.sets += 1;
    for (const action of set.actions.keys()) await compareAction(tally, { name, set, action, isNo });
    if (tally.sets % 50 === 0) console.log(line(tally));
  }
  console.log(line(tally));
  for (const one of tally.wrong) console.error(one);
  process.exit(tally.wrong.length > 0 || tally.no === 0 || tally.refused === 0 ? 1 : 0);
}

function line({ sets, claims, no, withSums, refused, wrong }: Tally): string {
  return `${sets} sets, ${claims} claims, ${no} no, ${withSums} with sums, ${refused} shortened logs refused, ${wrong.length} wrong`;
}

interface Compared {
  readonly name: string;
  readonly set: PolicySet;
  readonly action: string;
  readonly isNo: (text: string) => Promise<boolean>;
}

async function compareAction(tally: Tally, { name, set, action, isNo }: Compared): Promise<void> {
  const claims = claimsOf(set, action);
  const random = createRandom(action.length + claims.length);
  for (const isCoarse of [false, true]) {
    const problem = createProblem(set, action, { claims, isCoarse });
    const { ctx, broken } = problem;
    const formula = ctx.circuit.solver.given.slice();
    for (const [at, literal] of broken.entries()) {
      tally.claims += 1;
      if (ctx.sums.size > 0) tally.withSums += 1;
      const answer = solveFor(ctx, [literal]);
      const theirs = await isNo(textOf(problem, formula, [literal]));
      const where = `${name}, ${action}, claim ${at}${isCoarse ? ', coarse' : ''}`;
      if (answer === null || answer === theirs) tally.wrong.push(`${where}: answers differ`);
      if (answer !== false) continue;
      tally.no += 1;
      if (!isChecked(problem)) tally.wrong.push(`${where}: the log does not check`);
      const shorter = formula.toSpliced(random.below(formula.length), 1);
      const log = {
        given: [...shorter, ...ctx.lemmas.map(({ clause }) => clause)],
        learned: ctx.circuit.solver.learned,
      };
      if (!checkLog(log, [literal])) tally.refused += 1;
      else if (!(await isNo(textOf(problem, shorter, [literal]))))
        tally.wrong.push(`${where}: a shorter log checks`);
    }
  }
}

function isChecked({ ctx }: ProofProblem): boolean {
  const { given, learned, core } = ctx.circuit.solver;
  const says = (literal: SolverLiteral): readonly Inequality[] => saidBy(ctx, literal);
  return ctx.lemmas.every((lemma) => followsFrom(lemma, says)) && checkLog({ given, learned }, core);
}

/** Of the conditions of the action's rules, so that many hold and many do not. */
function claimsOf(set: PolicySet, action: string): readonly Claim[] {
  const rules = set.policies
    .filter(({ actions }) => actions.includes(action))
    .flatMap((policy) => policy.rules);
  return rules.slice(0, 3).flatMap(({ condition: when, span }) =>
    (['allow', 'deny', 'escalate'] as const).flatMap((effect): readonly Claim[] => [
      { mode: 'never', effect, when, isUnapproved: effect === 'allow', span },
      { mode: 'always', effect, when, isUnapproved: false, span },
    ]),
  );
}

/** The clauses, and what their literals say of numbers, in the words of SMT-LIB. */
function textOf({ ctx }: ProofProblem, clauses: readonly SolverClause[], assumed: SolverClause): string {
  const names = new Map<string, string>();
  const lines: string[] = [];
  const { variables } = ctx.circuit.solver;
  for (let variable = 0; variable < variables; variable += 1) {
    lines.push(`(declare-const v${variable} Bool)`);
    for (const literal of [2 * variable, 2 * variable + 1])
      for (const inequality of ctx.sums.size === 0 ? [] : saidBy(ctx, literal))
        lines.push(`(assert (=> ${literalText(literal)} ${inequalityText(inequality, names)}))`);
  }
  for (const clause of [...clauses, ...assumed.map((literal) => [literal])])
    lines.push(`(assert (or false ${clause.map(literalText).join(' ')}))`);
  return [...[...names.values()].map((name) => `(declare-const ${name} Real)`), ...lines].join('\n');
}

function literalText(literal: SolverLiteral): string {
  return literal % 2 === 0 ? `v${literal >> 1}` : `(not v${literal >> 1})`;
}

function inequalityText({ terms, constant, isStrict }: Inequality, names: Map<string, string>): string {
  const parts = [...terms].map(([key, factor]) => {
    const name = names.get(key) ?? `x${names.size}`;
    names.set(key, name);
    return `(* ${fractionText(factor)} ${name})`;
  });
  return `(${isStrict ? '<' : '<='} (+ 0.0 ${[...parts, fractionText(constant)].join(' ')}) 0.0)`;
}

function fractionText(fraction: Fraction): string {
  const { top, bottom } = fraction;
  const size = `(/ ${top < 0n ? -top : top}.0 ${bottom}.0)`;
  return signOf(fraction) < 0 ? `(- ${size})` : size;
}

await main(Number(process.argv[2] ?? 500));
