// `npm run bench -- REV`: compares this working tree with another revision. The revision is checked out into
// a temporary folder and gets this tree's benchmarks and packs: the same files measure both, in alternating
// rounds. The table names what the revision cannot run because its interface differs.

import type { ChildProcess } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { figureOf, ratioOf, times } from '../src/measure/figure.ts';
import { linkPackages, ownRoot, withRevision } from './checkout.ts';
import { answerOf, ask, checkEqual, startEngine } from './decisions.ts';
import type { EngineKey } from './engines.ts';
import { fitImports } from './layout.ts';
import { alone } from './own-process.ts';
import type { Answer } from './process.ts';
import { withSpread } from './targets.ts';
import { type WorkloadName, workloadNames } from './workloads.ts';

export interface RevisionOptions {
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly log: (line: string) => void;
}

interface Compared {
  readonly what: string;
  /** Nanoseconds, one figure for each round or for each pair of processes. */
  readonly own: number[];
  readonly other: number[];
  readonly ratios: number[];
}

interface NotCompared {
  readonly what: string;
  readonly why: string;
}

/** Returns a table in Markdown. Rejects when the revision does not exist. */
export function compareWithRevision(revision: string, options: RevisionOptions): Promise<string> {
  options.log(`checking ${revision} out`);
  return withRevision(revision, async ({ folder, commit }) => {
    lay(ownRoot, folder);
    const bench = pathToFileURL(join(folder, 'bench', 'run.ts')).href;
    const rows = await compareAll(bench, options);
    return table(rows, `${revision}, ${commit.slice(0, 12)}`);
  });
}

const copiedFolders = ['bench', 'src/measure', 'policies'];

/** Copies this tree's benchmarks, its measuring helpers and the packs into the checkout. */
function lay(root: string, folder: string): void {
  for (const part of copiedFolders) {
    rmSync(join(folder, part), { recursive: true, force: true });
    const isOwn = (path: string): boolean => !path.includes('/node_modules');
    cpSync(join(root, part), join(folder, part), { recursive: true, filter: isOwn });
  }
  fitImports(folder, ['bench', 'src/measure']);
  linkPackages(folder);
}

async function compareAll(
  bench: string,
  options: RevisionOptions,
): Promise<readonly (Compared | NotCompared)[]> {
  const rows: (Compared | NotCompared)[] = [];
  const attempt = async (what: string, compare: () => Promise<readonly Compared[]>): Promise<void> => {
    options.log(what);
    try {
      rows.push(...(await compare()));
    } catch (error) {
      rows.push({ what, why: error instanceof Error ? error.message : String(error) });
    }
  };
  for (const workload of workloadNames) {
    for (const policies of options.isQuick ? [10, 1_000] : [10, 1_000, 10_000]) {
      const what = `${workload}, ${policies.toLocaleString('en')}`;
      for (const key of ['writ-request', 'writ'] as const) {
        const each = `${what}, ${key === 'writ' ? 'the bare decision' : 'a request'}`;
        await attempt(each, async () => [
          await compareDecisions(each, { key, workload, policies, bench }, options),
        ]);
      }
    }
  }
  const policies = options.isQuick ? 300 : 1_000;
  for (const workload of ['actions', 'wild'] as const) {
    const what = `text to ready, ${policies.toLocaleString('en')}, ${workload}`;
    await attempt(what, async () => [await compareReady(what, { workload, policies, bench }, options)]);
  }
  await attempt('example policies', () => comparePacks(bench, options));
  return rows;
}

interface Size {
  readonly workload: WorkloadName;
  readonly policies: number;
  readonly bench: string;
}

const warmUpRounds = 4;
/**
 * Slices of one pair of processes for each round that is wanted. A pair is measured for long, because the way
 * in which a process optimises a function stays for the life of the process.
 */
const slicesARound = 8;
/** Pairs of processes, started one after the other. */
const launches = 5;

async function compareDecisions(
  what: string,
  size: Size & { readonly key: EngineKey },
  { rounds }: RevisionOptions,
): Promise<Compared> {
  const rows: Compared = { what, own: [], other: [], ratios: [] };
  for (let launch = 0; launch < launches; launch += 1) {
    const { own, other } = await comparePair(size, rounds * slicesARound);
    rows.own.push(figureOf(own).median);
    rows.other.push(figureOf(other).median);
    rows.ratios.push(ratioOf(own, other).median);
  }
  return rows;
}

async function comparePair(
  { key, workload, policies, bench }: Size & { readonly key: EngineKey },
  slices: number,
): Promise<{ readonly own: readonly number[]; readonly other: readonly number[] }> {
  const children = [
    startEngine(key, { workload, policies }),
    startEngine(key, { workload, policies, bench }),
  ];
  try {
    // Listens to both processes at once: a message that arrives before anybody listens is lost.
    const [own, other] = await Promise.all([readyOf(children[0]!), readyOf(children[1]!)]);
    checkEqual([
      { key, ready: own },
      { key, ready: other },
    ]);
    const figures: number[][] = [[], []];
    for (let round = -warmUpRounds; round < slices; round += 1) {
      for (const [at, child] of children.entries()) {
        const answer = await ask(child, round < 0 ? 'round' : 'slice');
        if (answer.kind !== 'round') throw new Error('the process ended');
        if (round >= 0) figures[at]!.push(answer.nanoseconds);
      }
    }
    return { own: figures[0]!, other: figures[1]! };
  } finally {
    for (const child of children) child.kill();
  }
}

async function readyOf(child: ChildProcess): Promise<Extract<Answer, { kind: 'ready' }>> {
  const answer = await answerOf(child);
  if (answer.kind === 'ready') return answer;
  throw new Error(answer.kind === 'failed' ? answer.message : answer.kind);
}

async function compareReady(what: string, size: Size, { rounds }: RevisionOptions): Promise<Compared> {
  const { bench, ...rest } = size;
  const start = async (place: { readonly bench?: string }): Promise<number> => {
    const child = startEngine('writ', { ...rest, ...place, mode: 'ready' });
    const answer = await answerOf(child);
    child.kill();
    if (answer.kind !== 'kept') throw new Error(answer.kind === 'failed' ? answer.message : answer.kind);
    return answer.readyMs * 1e6;
  };
  const [own, other] = await inTurn(rounds, start, bench);
  return compared(what, own, other);
}

async function comparePacks(bench: string, { rounds }: RevisionOptions): Promise<readonly Compared[]> {
  const [own, other] = await inTurn(rounds, (place) => alone('packs', { rounds: 1 }, place), bench);
  return own[0]!.map(({ pack }, at) => {
    const [mine, theirs] = [own, other].map((rounds) => rounds.map((one) => one[at]!.fast.median));
    return compared(`policies/${pack}`, mine!, theirs!);
  });
}

function compared(what: string, own: number[], other: number[]): Compared {
  return { what, own, other, ratios: own.map((figure, round) => figure / other[round]!) };
}

/** In each round measures this tree, then the other revision. */
async function inTurn<T>(
  rounds: number,
  measure: (place: { readonly bench?: string }) => Promise<T>,
  bench: string,
): Promise<readonly [T[], T[]]> {
  const [own, other]: [T[], T[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    own.push(await measure({}));
    other.push(await measure({ bench }));
  }
  return [own, other];
}

function table(rows: readonly (Compared | NotCompared)[], revision: string): string {
  const lines = rows.map((one) => {
    if ('why' in one)
      return `| ${one.what} | | that revision cannot run it: ${one.why.replaceAll('|', '\\|')} | |`;
    const { median, min, max } = figureOf(one.ratios);
    const figures = [one.other, one.own].map((rounds) => withSpread(figureOf(rounds)));
    return `| ${one.what} | ${figures.join(' | ')} | ${times(median)} (${times(min)}..${times(max)}) |`;
  });
  return [
    `| | ${revision} | working tree | working tree to that |`,
    '|---|---|---|---|',
    ...lines,
    '',
    `Below 1x the working tree is faster. A ratio of decisions is of ${launches} pairs of processes: of each pair the median of slices of 10 ms in turn. All others are of two rounds, one after the other.`,
  ].join('\n');
}
