// The law of proofs: for a random request, fix every condition of its action to the truth that the definition
// gives. The formula admits these truths and then gives the decision of the definition. By hand, a million
// requests: node test/laws/proofs.ts 1000000, or with other random sets and another seed: node
// test/laws/proofs.ts 100000 60 3

import { once } from 'node:events';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isMainThread, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Decision } from '../../src/language/model/decision.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import type { Facts } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import type { EvaluationScope } from '../../src/language/spec/evaluate.ts';
import { evaluateCondition } from '../../src/language/spec/evaluate.ts';
import { resolveFacts } from '../../src/language/spec/payload.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import type { Faults } from '../../src/reasoning/cells/faults.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { createProblem, type ProofProblem } from '../../src/reasoning/prove/problem.ts';
import { solveFor } from '../../src/reasoning/prove/search.ts';
import type { SolverLiteral } from '../../src/reasoning/solver/literal.ts';
import { notLiteral } from '../../src/reasoning/solver/literal.ts';
import { readSources } from '../../src/service/policies/bundles/read-sources.ts';
import { randomSet } from './policies.ts';

const root = join(import.meta.dirname, '../..');

export interface Named {
  readonly name: string;
  readonly set: PolicySet;
}

/** Sets made for the law, the packs of the project, the conformance sets, and random sets. */
export async function lawSets(randomSets: number): Promise<readonly Named[]> {
  const folders = ['test/laws/sets', 'policies', 'test/features/conformance'].map((path) => join(root, path));
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
  /** Either the formula does not admit the truths, or it admits another decision with them. */
  readonly kind: 'not admitted' | 'decided otherwise';
  readonly facts: Facts;
  /** Places in files of the truths that the formula does not admit together. */
  readonly conditions: readonly string[];
}

export interface Tally {
  requests: number;
  actions: number;
  readonly disagreements: Disagreement[];
}

/** Tries this number of requests per action that fit its shape, as far as they are easily drawn. */
export function holdLaw(
  { name, set }: Named,
  perAction: number,
  { faults = new Set(), seed = 7 }: { readonly faults?: Faults; readonly seed?: number } = {},
): Tally {
  const tally: Tally = { requests: 0, actions: 0, disagreements: [] };
  const source = requestSource(set, seed);
  for (const action of set.actions.values()) {
    const asked: Asked = { problem: createProblem(set, action.key, { faults }), settled: new Set() };
    const end = tally.requests + perAction;
    tally.actions += 1;
    for (let drawn = 0; drawn < drawsMax * perAction && tally.requests < end; drawn += 1) {
      const { rows, ...others } = randomRequest(source, action);
      // Without rows, nothing is known of a table.
      const facts = rows === undefined || source.random.chance(0.5) ? others : { ...others, rows };
      const decision = authorize(set, facts);
      if (decision.by === 'invalid_payload') continue;
      tally.requests += 1;
      const found = disagreementOf(asked, facts, decision);
      if (found !== null) tally.disagreements.push({ set: name, facts, ...found });
    }
  }
  return tally;
}

/** The most draws for each wanted request. */
const drawsMax = 8;

interface Asked {
  readonly problem: ProofProblem;
  /** Truths and decisions that were already put to the formula, which would give the same answer again. */
  readonly settled: Set<string>;
}

type Found = Pick<Disagreement, 'kind' | 'conditions'>;

function disagreementOf(
  { problem, settled }: Asked,
  facts: Facts,
  { outcome, risk }: Decision,
): Found | null {
  const { solver } = problem.ctx.circuit;
  const solve = (literals: readonly SolverLiteral[]): boolean | null => solveFor(problem.ctx, literals);
  const truths = truthsOf(problem, facts, risk);
  const assumptions = [...truths.keys()];
  const question = `${outcome} ${assumptions.join()}`;
  if (settled.has(question)) return null;
  if (solve(assumptions) !== true)
    return { kind: 'not admitted', conditions: solver.core.map((literal) => truths.get(literal) ?? '') };
  const isOtherwise = solve([...assumptions, notLiteral(problem.outcomes[outcome])]) !== false;
  if (isOtherwise) return { kind: 'decided otherwise', conditions: [] };
  settled.add(question);
  return null;
}

function truthsOf(
  { ctx }: ProofProblem,
  facts: Facts,
  risk: EvaluationScope['risk'],
): Map<SolverLiteral, string> {
  const truths = new Map<SolverLiteral, string>();
  // Rules see texts in their canonical form.
  const scope = { set: ctx.set, facts: resolveFacts(ctx.set, facts), risk, variables: new Map() };
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

/** One set of `lawSets`, by its index. */
interface Task {
  readonly place: number;
  readonly perAction: number;
  readonly seed: number;
}

const roundRequests = 100_000;

/** Runs rounds, each with a seed of its own, until enough requests fit their action's shape. */
async function holdByHand(): Promise<void> {
  const [wanted = 0, randomSets = 0, seed = 0] = [100_000, 60, 7].map((own, at) =>
    Number(process.argv[2 + at] ?? own),
  );
  const sets = await lawSets(randomSets);
  const actions = sets.reduce((sum, { set }) => sum + set.actions.size, 0);
  const perAction = Math.ceil(Math.min(wanted, roundRequests) / actions);
  const workers = Array.from(
    { length: availableParallelism() },
    () => new Worker(import.meta.filename, { workerData: { randomSets } }),
  );
  const found: Disagreement[] = [];
  let [requests, round] = [0, 0];
  for (; requests < wanted && found.length === 0; round += 1) {
    const tasks = sets.map((_, place): Task => ({ place, perAction, seed: seed + round }));
    for (const tally of await holdAll(workers, tasks)) {
      requests += tally.requests;
      found.push(...tally.disagreements);
    }
    const seconds = (performance.now() / 1_000).toFixed(0);
    console.error(`${requests} requests, ${found.length} disagreements, ${seconds} s`);
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  for (const one of found.slice(0, 10))
    console.error(JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
  console.log(
    `${requests} requests, ${actions} actions, ${found.length} disagreements, seeds ${seed} to ${seed + round - 1}`,
  );
  process.exitCode = found.length > 0 ? 1 : 0;
}

/** Each thread takes the next task when it has finished one. */
async function holdAll(workers: readonly Worker[], tasks: readonly Task[]): Promise<readonly Tally[]> {
  const left = tasks.values();
  const tallies = await Promise.all(workers.map((worker) => holdNext(worker, left)));
  return tallies.flat();
}

async function holdNext(worker: Worker, left: Iterable<Task>): Promise<readonly Tally[]> {
  const tallies: Tally[] = [];
  for (const task of left) {
    const answer = once(worker, 'message') as Promise<readonly Tally[]>;
    worker.postMessage(task);
    tallies.push(...(await answer));
  }
  return tallies;
}

async function answerTasks(port: MessagePort, randomSets: number): Promise<void> {
  const sets = await lawSets(randomSets);
  port.on('message', ({ place, perAction, seed }: Task) =>
    port.postMessage(holdLaw(sets[place]!, perAction, { seed })),
  );
}

if (!isMainThread && parentPort !== null && workerData?.randomSets !== undefined)
  await answerTasks(parentPort, workerData.randomSets);
else if (process.argv[1] === import.meta.filename) await holdByHand();
