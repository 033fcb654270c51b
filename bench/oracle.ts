// Compares the prover's solver with z3. On the same clauses, with the inequalities of sums as inequalities,
// both must give the same answers. Every "no" must pass the naive checker, and a proof that passes with one
// clause removed must be a "no" of z3, too. Run it by hand, since z3 is large: `npm run oracle`, or with
// another number of sets, `npm run oracle -- 50`.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { GuaranteeClause, PolicySet } from '../src/language/model/policy.ts';
import { createRandom } from '../src/language/value/random.ts';
import type { Fraction } from '../src/reasoning/linear/fraction.ts';
import { signOf } from '../src/reasoning/linear/fraction.ts';
import { followsFrom, type Inequality } from '../src/reasoning/linear/inequality.ts';
import { createProblem, type ProofProblem } from '../src/reasoning/prove/problem.ts';
import { inequalitiesOf, solveFor } from '../src/reasoning/prove/search.ts';
import { checkLog } from '../src/reasoning/solver/check-log.ts';
import type { SolverClause, SolverLiteral } from '../src/reasoning/solver/literal.ts';
import { lawSets } from '../test/laws/proofs.ts';

interface Z3Solver {
  set(key: 'timeout', ms: number): void;
  fromString(text: string): void;
  check(...assumed: readonly Z3Bool[]): Promise<'sat' | 'unsat' | 'unknown'>;
  release(): void;
}

interface Z3Bool {
  not(): Z3Bool;
}

interface Z3 {
  readonly Context: new (
    name: string,
  ) => { readonly Solver: new () => Z3Solver; readonly Bool: { const(name: string): Z3Bool } };
}

/**
 * A z3 solver that holds clauses. `isNo` tells whether a literal cannot hold with them; null when z3 gives no
 * answer in time.
 */
interface Asked {
  readonly isNo: (literal: SolverLiteral) => Promise<boolean | null>;
  /** Frees the solver. Its memory lies outside of Node's heap, so no garbage collection frees it. */
  readonly release: () => void;
}

/** Gives z3 the assertions once, for all literals that are asked afterwards. */
type Ask = (assertions: readonly string[]) => Asked;

const limitMs = 20_000;

interface Tally {
  sets: number;
  claims: number;
  no: number;
  withSums: number;
  /** Logs with one clause removed that the checker refuses. */
  refused: number;
  /** Questions that z3 did not answer in time; their answers cannot be compared. */
  unanswered: number;
  readonly wrong: string[];
}

/** The most sets that one process compares: z3 does not give back the memory that it has taken. */
const setsAtOnce = 50;

/**
 * Compares the sets in several processes, one after the other, and adds up their counts. The process that
 * finds an error prints the error. Exits with code 1 when an answer is wrong, or when no claim is a "no" or
 * no shortened log is refused.
 */
function compareInParts(setsWanted: number): void {
  const all = { sets: 0, claims: 0, no: 0, withSums: 0, refused: 0, unanswered: 0, wrong: 0 };
  for (let from = 0; from < setsWanted; from += setsAtOnce) {
    const to = Math.min(from + setsAtOnce, setsWanted);
    const { stdout, status } = spawnSync(process.execPath, [import.meta.filename, `${from}`, `${to}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (status !== 0) throw new Error(`sets ${from} to ${to} could not be compared`);
    const part = JSON.parse(stdout) as typeof all;
    for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += part[key];
    console.log(line(all));
  }
  process.exit(all.wrong > 0 || all.no === 0 || all.refused === 0 ? 1 : 0);
}

/** Compares the drawn sets `from` to `to`, and prints the counts as JSON. */
async function comparePart(from: number, to: number): Promise<void> {
  const load = createRequire(join(import.meta.dirname, 'package.json'));
  const { init } = load('z3-solver') as { readonly init: () => Promise<Z3> };
  const { Context } = await init();
  const ask = askIn(new Context('main'));
  const tally: Tally = { sets: 0, claims: 0, no: 0, withSums: 0, refused: 0, unanswered: 0, wrong: [] };
  // Draws more sets than needed: about one in twelve has errors and is left out.
  for (const { name, set } of (await lawSets(Math.ceil(to * 1.3))).slice(from, to)) {
    tally.sets += 1;
    for (const action of set.actions.keys()) await compareAction(tally, { name, set, action, ask });
  }
  for (const one of tally.wrong) console.error(one);
  process.stdout.write(JSON.stringify({ ...tally, wrong: tally.wrong.length }), () => process.exit(0));
}

function askIn({ Solver, Bool }: InstanceType<Z3['Context']>): Ask {
  return (assertions) => {
    const solver = new Solver();
    solver.set('timeout', limitMs);
    for (const part of partsOf(assertions)) solver.fromString(part);
    return {
      isNo: async (literal) => {
        const variable = Bool.const(`v${literal >> 1}`);
        const answer = await solver.check(literal % 2 === 0 ? variable : variable.not());
        return answer === 'unknown' ? null : answer === 'unsat';
      },
      release: () => solver.release(),
    };
  };
}

/** The most characters that z3 reads at once, because a text lies on z3's stack while it is read. */
const partLengthMax = 500_000;

/** Splits the assertions into texts. Each text declares the constants that no earlier text has named. */
function partsOf(assertions: readonly string[]): readonly string[] {
  const parts: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const assertion of assertions) {
    if (length + assertion.length > partLengthMax) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)!.push(assertion);
    length += assertion.length;
  }
  const known = new Set<string>();
  return parts.map((part) => {
    const named = new Set(part.flatMap((assertion) => assertion.match(/\b[vx]\d+\b/g) ?? []));
    const names = [...named].filter((name) => !known.has(name));
    for (const name of names) known.add(name);
    const declared = names.map((name) => `(declare-const ${name} ${name.startsWith('v') ? 'Bool' : 'Real'})`);
    return [...declared, ...part].join('\n');
  });
}

type Counts = Readonly<Record<keyof Tally, number>>;

function line({ sets, claims, no, withSums, refused, unanswered, wrong }: Counts): string {
  return `${sets} sets, ${claims} claims, ${no} no, ${withSums} with sums, ${refused} shortened logs refused, ${unanswered} without an answer of z3, ${wrong} wrong`;
}

interface Compared {
  readonly name: string;
  readonly set: PolicySet;
  readonly action: string;
  readonly ask: Ask;
}

async function compareAction(tally: Tally, { name, set, action, ask }: Compared): Promise<void> {
  const claims = claimsOf(set, action);
  const random = createRandom(action.length + claims.length);
  for (const isCoarse of [false, true]) {
    const problem = createProblem(set, action, { claims, isCoarse });
    const { ctx, broken } = problem;
    const formula = ctx.circuit.solver.given.slice();
    const whole = ask(assertionsOf(problem, formula));
    for (const [at, literal] of broken.entries()) {
      tally.claims += 1;
      if (ctx.sums.size > 0) tally.withSums += 1;
      const answer = solveFor(ctx, [literal]);
      const theirs = await whole.isNo(literal);
      const where = `${name}, ${action}, claim ${at}${isCoarse ? ', coarse' : ''}`;
      if (theirs === null) tally.unanswered += 1;
      if (answer === null || answer === theirs) tally.wrong.push(`${where}: answers differ`);
      if (answer !== false) continue;
      tally.no += 1;
      if (!isChecked(problem)) tally.wrong.push(`${where}: the log does not check`);
      const shorter = formula.toSpliced(random.below(formula.length), 1);
      if (!isCheckedWith(problem, shorter, literal)) tally.refused += 1;
      else await compareShorter(tally, { where, ask, assertions: assertionsOf(problem, shorter), literal });
    }
    whole.release();
  }
}

function isCheckedWith({ ctx }: ProofProblem, shorter: readonly SolverClause[], literal: SolverLiteral) {
  const given = [...shorter, ...ctx.lemmas.map(({ clause }) => clause)];
  return checkLog({ given, learned: ctx.circuit.solver.learned }, [literal]);
}

interface Shorter {
  readonly where: string;
  readonly ask: Ask;
  readonly assertions: readonly string[];
  readonly literal: SolverLiteral;
}

/**
 * Asks z3 whether the claim is still a "no" with the clause removed: a log that checks without a clause must
 * not need the clause.
 */
async function compareShorter(tally: Tally, { where, ask, assertions, literal }: Shorter): Promise<void> {
  const asked = ask(assertions);
  const theirs = await asked.isNo(literal);
  asked.release();
  if (theirs === null) tally.unanswered += 1;
  if (theirs === false) tally.wrong.push(`${where}: a shorter log checks`);
}

function isChecked({ ctx }: ProofProblem): boolean {
  const { given, learned, core } = ctx.circuit.solver;
  const says = (literal: SolverLiteral): readonly Inequality[] => inequalitiesOf(ctx, literal);
  return ctx.lemmas.every((lemma) => followsFrom(lemma, says)) && checkLog({ given, learned }, core);
}

/**
 * Makes claims from the conditions of the action's first three rules, so that many claims hold and many do
 * not.
 */
function claimsOf(set: PolicySet, action: string): readonly GuaranteeClause[] {
  const rules = set.policies
    .filter(({ actions }) => actions.includes(action))
    .flatMap((policy) => policy.rules);
  return rules.slice(0, 3).flatMap(({ condition: when, span }) =>
    (['allow', 'deny', 'escalate'] as const).flatMap((effect): readonly GuaranteeClause[] => [
      { mode: 'never', effect, when, isUnapproved: effect === 'allow', span },
      { mode: 'always', effect, when, isUnapproved: false, span },
    ]),
  );
}

/** Returns the clauses, and what their literals state about numbers, as SMT-LIB. */
function assertionsOf({ ctx }: ProofProblem, clauses: readonly SolverClause[]): readonly string[] {
  const names = new Map<string, string>();
  const lines: string[] = [];
  const { variables } = ctx.circuit.solver;
  for (let variable = 0; variable < variables; variable += 1) {
    for (const literal of [2 * variable, 2 * variable + 1])
      for (const inequality of ctx.sums.size === 0 ? [] : inequalitiesOf(ctx, literal))
        lines.push(`(assert (=> ${literalText(literal)} ${inequalityText(inequality, names)}))`);
  }
  for (const clause of clauses) lines.push(`(assert (or false ${clause.map(literalText).join(' ')}))`);
  return lines;
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

const [first = 500, to = null] = process.argv.slice(2).map(Number);
if (to === null) compareInParts(first);
else await comparePart(first, to);
