// `npm run fuzz`: all laws in turn, each on random input of its own, until it is stopped or a law is broken.
// Prints the seed it began with and one line per round, and writes each failure as a case that the tests
// repeat; a failure of a sequence of requests is printed with its seed.
//
//   npm run fuzz -- --seed 7 --rounds 3          the same input again, and an end
//   npm run pairs -- --seed 1                    a million pairs, decided by the definition, the function, the
//                                                index and the interpreter, with a table of what was reached

import { parseArgs } from 'node:util';
import { type Case, writeCase } from './cases.ts';
import { delegationNeverLoosens } from './delegation.ts';
import { compareReadings, swift } from './differential.ts';
import { formatKeepsTrees } from './format.ts';
import { layoutsKeepTrees } from './layouts.ts';
import { type Breach, guardsNeverOpen, orderNeverMatters, unknownNeverOpens } from './monotone.ts';
import { tryAnyTexts, tryMutations } from './mutations.ts';
import { classificationsHold } from './proposals.ts';
import { type Reached, tableOf } from './reached.ts';
import { tryAnyRequests } from './robustness.ts';
import { standingIsExact } from './standing.ts';
import { titlesAgree } from './titles.ts';

const { values } = parseArgs({
  options: {
    pairs: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Tried {
  readonly count: number;
  readonly findings: readonly Case[];
  /** What differs in sequences, which no case can hold: the seed repeats them. */
  readonly differences?: readonly string[];
}

/** The laws; the seed alone decides the input of each. */
const laws: Readonly<Record<string, (seed: number) => Tried | Promise<Tried>>> = {
  'function = definition': (seed) => {
    const { pairs, findings } = compareReadings(5_000, seed);
    return { count: pairs, findings };
  },
  'unknown never opens': (seed) => ofBreaches(unknownNeverOpens(40, seed)),
  'one more guard never opens': (seed) => ofBreaches(guardsNeverOpen(40, seed)),
  'delegation never loosens': (seed) => ofBreaches(delegationNeverLoosens(40, seed)),
  'order never matters': (seed) => ofBreaches(orderNeverMatters(60, seed)),
  'formatting keeps the tree': (seed) => {
    const { files, findings } = formatKeepsTrees(200, seed);
    return { count: files, findings };
  },
  'any layout keeps tree and comments': (seed) => {
    const { layouts, findings } = layoutsKeepTrees(200, seed);
    return { count: layouts, findings };
  },
  'any text is answered': (seed) => tryMutations(400, seed),
  'any type and condition is answered': (seed) => tryAnyTexts(400, seed),
  'titles show what rules see': (seed) => {
    const { titles, breaches } = titlesAgree(2_000, seed);
    return ofBreaches({ compared: titles, breaches });
  },
  'any request is decided': (seed) => {
    const { requests, findings } = tryAnyRequests(60, seed);
    return { count: requests, findings };
  },
  'proposals are no wider than classified': async (seed) => {
    const { requests, breaches } = await classificationsHold(60, seed);
    return { count: requests, findings: [], differences: breaches };
  },
  'standing approvals = model': async (seed) => {
    const { compared, differences } = await standingIsExact(20, seed);
    return { count: compared, findings: [], differences };
  },
};

function ofBreaches({ compared, breaches }: { compared: number; breaches: readonly Breach[] }): Tried {
  return { count: compared, findings: breaches.map((breach) => ({ ...breach, lists: {} })) };
}

const usage = `npm run fuzz [-- --seed N] [--rounds N]
npm run fuzz -- --pairs N [--seed N] [--quiet]`;
const firstSeed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
const started = performance.now();

/** Runs rounds of all laws; a round's seeds are far from those of the next round. */
async function tryAll(rounds: number): Promise<boolean> {
  for (let round = 0; round < rounds; round++) {
    const seed = firstSeed + round * 100_000;
    const counts: string[] = [];
    for (const [law, attempt] of Object.entries(laws)) {
      const { count, findings, differences = [] } = await attempt(seed);
      counts.push(`${law} ${count}`);
      for (const difference of differences) console.log(`\n${difference}`);
      if (findings.length + differences.length > 0) return show(findings, seed);
    }
    console.log(`${secondsSince()} s, round ${round + 1}, seed ${seed}: ${counts.join(', ')}`);
  }
  return true;
}

/** Pairs between two lines of progress. */
const pairsAtOnce = 50_000;

function comparePairs(pairsWanted: number): boolean {
  let [done, seed] = [0, firstSeed];
  let reached: Reached | undefined;
  while (done < pairsWanted) {
    const run = compareReadings(Math.min(pairsAtOnce, pairsWanted - done), seed, {
      pace: swift,
      isOfAllReadings: true,
      ...(reached === undefined ? {} : { reached }),
    });
    reached = run.reached;
    done += run.pairs;
    seed += run.sets;
    if (run.findings.length > 0) return show(run.findings, seed);
    if (done < pairsWanted) console.log(`${secondsSince()} s, ${done} pairs, 0 differences`);
  }
  const counts = reached?.counts() ?? new Map<string, number>();
  const missing = reached?.missing() ?? [];
  if (!values.quiet) for (const line of tableOf(counts)) console.log(line);
  console.log(missing.length === 0 ? 'not reached: nothing' : `not reached:\n  ${missing.join('\n  ')}`);
  const summary = `0 differences, ${counts.size} features reached, ${missing.length} not`;
  console.log(`${done} pairs in ${secondsSince()} s, ${summary}`);
  return true;
}

function show(findings: readonly Case[], seed: number): false {
  for (const [index, finding] of findings.entries()) {
    const path = writeCase(`found-${seed}-${index}`, finding);
    console.log(`\nseed ${seed}: ${finding.problem}`);
    for (const { text } of finding.files) console.log(text);
    console.log(`written to ${path}`);
  }
  return false;
}

function secondsSince(): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}

if (values.help) console.log(usage);
else {
  console.log(`seed ${firstSeed}`);
  const isSound =
    values.pairs === undefined
      ? await tryAll(Number(values.rounds ?? Infinity))
      : comparePairs(Number(values.pairs));
  process.exitCode = isSound ? 0 : 1;
}
