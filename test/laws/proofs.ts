// The law of proofs: for a random request, fix every condition of its action to the truth that the definition gives it.
// The formula admits that, and then says the decision that the definition says. By hand, a million requests:
// node test/laws/proofs.ts 1000000, or in pieces with a seed each: node test/laws/proofs.ts 100000 60 3

import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PolicySet } from '../../src/language/model/policy.ts';
import type { Facts } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import type { EvaluationScope } from '../../src/language/spec/evaluate.ts';
import { evaluateCondition } from '../../src/language/spec/evaluate.ts';
import { checkPayload } from '../../src/language/spec/payload.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import type { Faults } from '../../src/reasoning/cells/faults.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { createProblem, type ProofProblem } from '../../src/reasoning/prove/problem.ts';
import { solveFor } from '../../src/reasoning/prove/search.ts';
import type { SolverLiteral } from '../../src/reasoning/solver/literal.ts';
import { notLiteral } from '../../src/reasoning/solver/literal.ts';
import { readSources } from '../../src/tools/cli/tasks/policies.ts';
import { randomSet } from './policies.ts';

const root = join(import.meta.dirname, '../..');

export interface Named {
  readonly name: string;
  readonly set: PolicySet;
}

/** Sets made for the law, the packs of the project, the conformance sets where they are there, and random sets. */
export async function lawSets(randomSets: number): Promise<readonly Named[]> {
  const folders = ['test/laws/sets', 'policies', '../shared/conformance']
    .map((path) => join(root, path))
    .filter(existsSync);
  const directories = folders.flatMap((folder) =>
    [...new Set(globSync('**/*.policy', { cwd: folder }).map((path) => dirname(join(folder, path))))].sort(),
  );
  const written = await Promise.all(directories.map(writtenSet));
  const drawn = Array.from({ length: randomSets }, (_, seed) => drawnSet(seed + 1));
  return [...written, ...drawn].filter((one) => one !== null);
}

async function writtenSet(name: string): Promise<Named | null> {
  const { sources } = await readSources(name);
  const { set } = compileToProgram(sources);
  return set === null ? null : { name, set };
}

function drawnSet(seed: number): Named | null {
  const { files, lists } = randomSet(createRandom(seed));
  const { set } = compileToProgram({
    files,
    readListFile: (path) =>
      lists[path] === undefined ? { code: 'list-file-missing', message: path } : { text: lists[path] },
  });
  return set === null ? null : { name: `random set ${seed}`, set };
}

export interface Disagreement {
  readonly set: string;
  /** The formula does not admit the truths, or admits another decision with them. */
  readonly kind: 'not admitted' | 'decided otherwise';
  readonly facts: Facts;
  /** Truths that the formula does not admit together: places in files. */
  readonly conditions: readonly string[];
}

export interface Tally {
  requests: number;
  actions: number;
  readonly disagreements: Disagreement[];
}

/** Tries requests of each action until there are enough. */
export function holdLaw(
  { name, set }: Named,
  perAction: number,
  { faults = new Set(), seed = 7 }: { readonly faults?: Faults; readonly seed?: number } = {},
): Tally {
  const tally: Tally = { requests: 0, actions: 0, disagreements: [] };
  const source = requestSource(set, seed);
  for (const action of set.actions.values()) {
    const problem = createProblem(set, action.key, { faults });
    tally.actions += 1;
    for (let drawn = 0; drawn < perAction; drawn += 1) {
      const facts = randomRequest(source, action);
      if (checkPayload(action.shape, facts.payload).length > 0) continue;
      tally.requests += 1;
      const found = disagreementOf(problem, facts);
      if (found !== null) tally.disagreements.push({ set: name, facts, ...found });
    }
  }
  return tally;
}

type Found = Pick<Disagreement, 'kind' | 'conditions'>;

function disagreementOf(problem: ProofProblem, facts: Facts): Found | null {
  const { solver } = problem.ctx.circuit;
  const solve = (literals: readonly SolverLiteral[]): boolean | null => solveFor(problem.ctx, literals);
  const { outcome, risk } = authorize(problem.ctx.set, facts);
  const truths = truthsOf(problem, facts, risk);
  const assumptions = [...truths.keys()];
  if (solve(assumptions) !== true)
    return { kind: 'not admitted', conditions: solver.core.map((literal) => truths.get(literal) ?? '') };
  const isOtherwise = solve([...assumptions, notLiteral(problem.outcomes[outcome])]) !== false;
  return isOtherwise ? { kind: 'decided otherwise', conditions: [] } : null;
}

function truthsOf(
  { ctx }: ProofProblem,
  facts: Facts,
  risk: EvaluationScope['risk'],
): Map<SolverLiteral, string> {
  const truths = new Map<SolverLiteral, string>();
  const scope = { set: ctx.set, facts, risk, variables: new Map() };
  for (const { expression, pair } of ctx.conditions) {
    const truth = evaluateCondition(expression, scope);
    const { file, start, end } = expression.span;
    const text = `${expression.kind} ${file}:${start}:${end} is ${String(truth)}`;
    truths.set(truth === true ? pair.isTrue : notLiteral(pair.isTrue), text);
    truths.set(truth === false ? pair.isFalse : notLiteral(pair.isFalse), text);
  }
  for (const { rule, literal } of ctx.satisfied.values()) {
    const { escalate, reauth } = facts.satisfied;
    const met = rule.requirement?.kind === 'approval' ? escalate : reauth;
    truths.set(met.includes(rule.id) ? literal : notLiteral(literal), rule.id);
  }
  return truths;
}

if (process.argv[1] === import.meta.filename) {
  const wanted = Number(process.argv[2] ?? 100_000);
  const sets = await lawSets(Number(process.argv[3] ?? 60));
  const seed = Number(process.argv[4] ?? 7);
  const actions = sets.reduce((sum, { set }) => sum + set.actions.size, 0);
  const total: Tally = { requests: 0, actions: 0, disagreements: [] };
  for (const named of sets) {
    const tally = holdLaw(named, Math.ceil((wanted / actions) * 1.25), { seed });
    total.requests += tally.requests;
    total.actions += tally.actions;
    total.disagreements.push(...tally.disagreements);
    for (const one of tally.disagreements.slice(0, 2))
      console.error(JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
  }
  console.log(
    `${total.requests} requests, ${total.actions} actions, ${total.disagreements.length} disagreements`,
  );
  process.exitCode = total.disagreements.length > 0 ? 1 : 0;
}
