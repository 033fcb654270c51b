// The law of comparisons, on mutants of the shipped packs and the conformance sets: every change that random
// requests show is among the findings, and each finding's request is decided as stated. By hand, every
// mutant: node test/laws/diffs.ts 1 10000

import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Outcome } from '../../src/language/model/decision.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import {
  type CompileCache,
  checkSources,
  createCompileCache,
  linkSet,
  type PolicySources,
} from '../../src/pipeline.ts';
import { diffPolicies, type PolicyDiff } from '../../src/reasoning/diff/diff.ts';
import type { BothSides } from '../../src/reasoning/diff/joint-set.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { readSources } from '../../src/service/policies/bundles/read-sources.ts';
import { applyEdits } from '../../src/testing/mutation/edit.ts';
import { mutantsOf } from '../../src/testing/mutation/mutants.ts';

const root = join(import.meta.dirname, '../..');

export interface MutantTally {
  mutants: number;
  /** Comparisons that proved that no decision changes. */
  nothing: number;
  /** Comparisons in which every finding has a request that is decided as stated, and nothing else changes. */
  witnessed: number;
  /** Comparisons that leave something undecided. */
  undecided: number;
  /** Changes that random requests did not show. */
  unseenByRandom: number;
  milliseconds: number;
  worst: number;
  /** The undecided parts, each with its reason. */
  readonly open: string[];
  /** Violations of the law; must stay empty. */
  readonly broken: string[];
}

/** The packs of the project, and the conformance sets. */
export function mutatedFolders(): readonly string[] {
  const folders = ['policies', 'test/features/conformance'].map((path) => join(root, path));
  return folders.flatMap((folder) =>
    [...new Set(globSync('**/*.policy', { cwd: folder }).map((path) => dirname(join(folder, path))))].sort(),
  );
}

/**
 * Checks the law on each n-th mutant of a folder's policies, with this number of random requests per action.
 */
export async function holdDiffLaw(folder: string, every: number, requests: number): Promise<MutantTally> {
  const tally: MutantTally = {
    mutants: 0,
    nothing: 0,
    witnessed: 0,
    undecided: 0,
    unseenByRandom: 0,
    milliseconds: 0,
    worst: 0,
    open: [],
    broken: [],
  };
  const { sources } = await readSources(folder);
  const memory = createCompileCache();
  const { set } = checkSources(sources, memory);
  if (set === null) return tally;
  const drawn = new DrawnRequests(set, requests);
  for (const { name, other } of mutatedSets(sources, every, memory))
    holdOne(tally, { name: `${folder} ${name}`, set, other, drawn });
  return tally;
}

/** Requests to a set and the set's decisions on them, drawn once for all its mutants. */
class DrawnRequests {
  readonly decide: (facts: Facts) => Outcome;
  readonly #set: PolicySet;
  readonly #count: number;
  readonly #known = new Map<string, readonly Decided[]>();

  constructor(set: PolicySet, count: number) {
    this.#set = set;
    this.#count = count;
    const { decide } = linkSet(set);
    this.decide = (facts) => decide(facts).outcome;
  }

  of(action: string): readonly Decided[] {
    const known =
      this.#known.get(action) ??
      drawnFrom(this.#set, action, { count: this.#count, seed: 11 }).map((facts) => ({
        facts,
        outcome: this.decide(facts),
      }));
    this.#known.set(action, known);
    return known;
  }

  /**
   * Requests that the mutant's own constants suggest; only a few, because they are drawn for this mutant
   * alone.
   */
  ofMutant(other: PolicySet, action: string): readonly Decided[] {
    const count = Math.ceil(this.#count / ownShare);
    return drawnFrom(other, action, { count, seed: 12 }).map((facts) => ({
      facts,
      outcome: this.decide(facts),
    }));
  }
}

const ownShare = 20;

interface Decided {
  readonly facts: Facts;
  readonly outcome: Outcome;
}

function drawnFrom(
  set: PolicySet,
  key: string,
  { count, seed }: { readonly count: number; readonly seed: number },
): readonly Facts[] {
  const action = set.actions.get(key);
  if (action === undefined) return [];
  const source = requestSource(set, seed);
  return Array.from({ length: count }, () => ({
    ...randomRequest(source, action),
    satisfied: nothingSatisfied,
  }));
}

/** Each n-th mutant that compiles. */
function* mutatedSets(
  sources: PolicySources,
  every: number,
  memory: CompileCache,
): Generator<{ readonly name: string; readonly other: PolicySet }> {
  const textOf = (path: string): string => {
    const list = sources.files.some((file) => file.path === path) ? null : sources.readListFile(path);
    if (list !== null) return 'text' in list ? list.text : '';
    return sources.files.find((file) => file.path === path)!.text;
  };
  let place = Math.floor(every / 2);
  for (const file of checkSources(sources).files) {
    for (const mutant of mutantsOf(file, textOf(file.span.file), sources.readListFile)) {
      place += 1;
      if (place % every !== 0) continue;
      const at = mutant.edits[0]!.span.file;
      const text = applyEdits(textOf(at), mutant.edits);
      const files = sources.files.map((one) => (one.path === at ? { path: at, text } : one));
      const readListFile: PolicySources['readListFile'] = (path) =>
        path === at ? { text } : sources.readListFile(path);
      const { set } = checkSources({ files, readListFile }, memory);
      if (set !== null) yield { name: `${mutant.subject}: ${mutant.change}`, other: set };
    }
  }
}

interface OneMutant {
  readonly name: string;
  readonly set: PolicySet;
  readonly other: PolicySet;
  readonly drawn: DrawnRequests;
}

function holdOne(tally: MutantTally, { name, set, other, drawn }: OneMutant): void {
  const start = performance.now();
  const diff = diffPolicies(set, other);
  const took = performance.now() - start;
  tally.mutants += 1;
  tally.milliseconds += took;
  tally.worst = Math.max(tally.worst, took);
  const decisive = diff.findings.filter(({ tier }) => tier < 6);
  const isUndecided = diff.limits.length > 0 || diff.findings.some(({ example }) => example === null);
  if (isUndecided) {
    tally.undecided += 1;
    const why = diff.findings.filter(({ example }) => example === null);
    tally.open.push(
      `${name}: ${JSON.stringify([diff.limits, why.map(({ tier, from, to, when }) => [tier, from, to, when])])}`,
    );
  }
  if (!isUndecided && decisive.length === 0) tally.nothing += 1;
  if (!isUndecided && decisive.length > 0) tally.witnessed += 1;
  for (const { example, from, to } of diff.findings) {
    if (example === null) continue;
    const [old, now] = [authorize(set, example.facts.before), authorize(other, example.facts.after)];
    if (old.outcome !== from || now.outcome !== to)
      tally.broken.push(`${name}: ${from} ${to} is not replayed`);
  }
  const shown = shownByRandom({ set, other, drawn }, diff);
  tally.broken.push(...shown.missed.map((what) => `${name}: ${what}`));
  if (decisive.length > 0 && !shown.any) tally.unseenByRandom += 1;
}

/**
 * How many requests of one action with the same change of outcome are examined; more of them count as parts
 * of the same findings.
 */
const turnedMax = 100;

/**
 * The compiled functions decide first. Requests that they decide differently are also decided by the
 * definitions, spread over all that change in the same way. An action with the same data on both sides is
 * decided by the same function, so it is skipped.
 */
function shownByRandom({ set, other, drawn }: Omit<OneMutant, 'name'>, diff: PolicyDiff) {
  const missed: string[] = [];
  let any = false;
  const after = linkSet(other);
  for (const action of diff.actions) {
    const turns = new Map<string, Facts[]>();
    for (const { facts, outcome } of [...drawn.of(action), ...drawn.ofMutant(other, action)]) {
      const now = after.decide(facts).outcome;
      if (now === outcome) continue;
      const turn = `${outcome} ${now}`;
      const alike = turns.get(turn) ?? [];
      turns.set(turn, alike);
      alike.push(facts);
    }
    for (const facts of [...turns.values()].flatMap(spread)) {
      const asked: BothSides<Facts> = { before: facts, after: facts };
      const [old, now] = [authorize(set, facts), authorize(other, facts)];
      if (old.outcome === now.outcome) continue;
      any = true;
      if (diff.limits.some((one) => one.action === action)) continue;
      const findings = diff.findings.filter(
        ({ from: a, to: b, actions }) => isTurn(a, b, old.outcome, now.outcome) && actions.includes(action),
      );
      if (!findings.some((finding) => finding.isMetBy(asked)))
        missed.push(
          `${action} ${old.outcome} ${now.outcome} ${findings.length} ${JSON.stringify(facts, plain)}`,
        );
    }
  }
  return { any, missed: missed.slice(0, 1) };
}

function spread(all: readonly Facts[]): readonly Facts[] {
  const each = Math.ceil(all.length / turnedMax);
  return all.filter((_, at) => at % each === 0);
}

function isTurn(a: Outcome, b: Outcome, old: Outcome, now: Outcome): boolean {
  return a === old && b === now;
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

if (process.argv[1] === import.meta.filename) {
  const [every, requests] = [Number(process.argv[2] ?? 10), Number(process.argv[3] ?? 100)];
  const wanted = process.argv[4] ?? '';
  const totals = { mutants: 0, nothing: 0, witnessed: 0, undecided: 0, unseenByRandom: 0, broken: 0 };
  for (const folder of mutatedFolders().filter((path) => path.includes(wanted))) {
    const { broken, open, milliseconds, worst, ...tally } = await holdDiffLaw(folder, every, requests);
    for (const one of broken.slice(0, 2)) console.error(one);
    for (const one of open.slice(0, 5)) console.error(`undecided ${one}`);
    const each = tally.mutants === 0 ? 0 : milliseconds / tally.mutants;
    console.log(
      `${folder.split('/').slice(-2).join('/')} ${JSON.stringify(tally)} broken ${broken.length}, ${each.toFixed(0)} ms each, worst ${worst.toFixed(0)}`,
    );
    for (const key of ['mutants', 'nothing', 'witnessed', 'undecided', 'unseenByRandom'] as const)
      totals[key] += tally[key];
    totals.broken += broken.length;
  }
  console.log(JSON.stringify(totals));
  process.exitCode = totals.broken > 0 ? 1 : 0;
}
