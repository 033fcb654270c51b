// Runs the measurements of `npm run bench`, by the names that `--only` takes, in the order of `sectionNames`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figureOf } from '../src/measure/figure.ts';
import { measureDecisions } from './decisions.ts';
import type { EngineKey } from './engines.ts';
import { alone } from './own-process.ts';
import { manyPolicies, measureReady } from './ready.ts';
import { measureServed } from './service/served.ts';
import type { Results } from './targets.ts';
import type { WorkloadName } from './workloads.ts';

export const sectionNames = [
  'actions',
  'wild',
  'same',
  'request',
  'degraded',
  'tried',
  'packs',
  'worst',
  'hardest',
  'meters',
  'starts',
  'ready',
  'warm',
  'changed',
  'memory',
  'reload',
  'promises',
  'served',
] as const;
export type SectionName = (typeof sectionNames)[number];

/**
 * Sections and engines of a quick run: what a request does, in process and at the service, and the way from
 * text to ready.
 */
export const quickly = {
  sections: ['actions', 'wild', 'request', 'ready', 'promises', 'served'],
  engines: ['writ-request', 'map', 'hand-written', 'writ', 'json-logic', 'casl'],
} as const satisfies { readonly sections: readonly SectionName[]; readonly engines: readonly EngineKey[] };

export interface SuiteOptions {
  readonly only: readonly SectionName[];
  /** Whether only small sizes are measured. */
  readonly isQuick: boolean;
  /** Rounds of each measurement; `npm run bench` takes three by default. */
  readonly rounds: number;
  readonly engines: readonly EngineKey[];
  readonly log: (line: string) => void;
}

/** Milliseconds after which a start counts as too slow. */
const readyLimitMs = 90_000;

/** A million requests are stored before the first start. */
const startsLimit = { limitMs: 60 * 60_000 };

const ordinary = ['actions', 'wild'] as const satisfies readonly WorkloadName[];

/**
 * Runs the sections. A measurement that fails is logged and left out; the others go on, and the exit code
 * becomes 1.
 */
export async function runSuite(options: SuiteOptions): Promise<Results> {
  const results: { -readonly [K in keyof Results]: Results[K] } = { ...nothing };
  for (const [at, name] of options.only.entries()) {
    options.log(`[${at + 1}/${options.only.length}] ${name}`);
    try {
      Object.assign(results, await runSection(name, results, options));
    } catch (error) {
      options.log(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
  return results;
}

const nothing: Results = {
  decisions: [],
  ready: [],
  warm: [],
  changed: [],
  models: [],
  reload: [],
  request: null,
  degraded: null,
  tried: null,
  packs: [],
  hardest: [],
  meters: [],
  starts: [],
  worst: [],
  promises: [],
  served: null,
};

async function runSection(
  name: SectionName,
  known: Results,
  options: SuiteOptions,
): Promise<Partial<Results>> {
  const { isQuick, rounds } = options;
  const largest = isQuick ? 1_000 : 100_000;
  const middle = isQuick ? 1_000 : 10_000;
  switch (name) {
    case 'actions':
    case 'wild':
    case 'same':
      return { decisions: [...known.decisions, ...(await decisions(name, options))] };
    case 'request':
      return { request: await alone('request', { policies: 1_000, rounds }) };
    case 'degraded':
      return { degraded: { policies: middle, ...(await alone('degraded', { policies: middle, rounds })) } };
    case 'tried':
      return { tried: await alone('tried', { policies: largest }) };
    case 'packs':
      return { packs: await alone('packs', { rounds }) };
    case 'worst':
      return { worst: await alone('worst', { rounds }) };
    case 'hardest': {
      // One more rule opens the action: 18 rules make 19, the most that an action tries as one function; 19
      // make 20, the fewest with an index.
      const sizes = isQuick ? [18, 19, 50, 100, 200, 400] : [18, 19, 100, 300, 1_000, 3_000];
      return { hardest: await alone('hardest', { sizes, rounds }) };
    }
    case 'meters': {
      const sizes = isQuick ? [100, 10_000] : [100, 10_000, 1_000_000];
      return { meters: await alone('meters', { sizes, rounds }) };
    }
    case 'starts':
      return { starts: await alone('starts', { requests: isQuick ? 100_000 : 1_000_000 }, startsLimit) };
    case 'ready':
      return { ready: await ready(options) };
    case 'warm':
      return { warm: await warm(largest, options) };
    case 'changed':
      return { changed: await changed(middle, options) };
    case 'memory':
      return { models: await models(largest, options) };
    case 'reload':
      return { reload: await reload(middle, options) };
    case 'promises':
      return { promises: await alone('promises', { rounds: isQuick ? 5 : 9 }) };
    case 'served':
      return { served: await measureServed({ rounds, measureMs: isQuick ? 500 : 1_000 }) };
  }
}

function decisions(
  workload: WorkloadName,
  { isQuick, ...options }: SuiteOptions,
): Promise<Results['decisions']> {
  const sizes = workload === 'same' ? [10, 100, 1_000, 10_000] : [10, 1_000, 10_000, 100_000];
  const policies = sizes.filter((size) => !isQuick || size <= 1_000);
  return measureDecisions({ ...options, workloads: [workload], policies });
}

async function ready({ isQuick, ...options }: SuiteOptions): Promise<Results['ready']> {
  const all: Results['ready'][number][] = [];
  for (const policies of isQuick ? [1_000] : [1_000, 10_000, manyPolicies]) {
    const rounds = policies < manyPolicies ? options.rounds : 1;
    const asked = { ...options, rounds, policies: [policies], workloads: ordinary, limitMs: readyLimitMs };
    all.push(...(await measureReady(asked)));
  }
  return all;
}

/** One start compiles; each round starts with what that start has kept. */
async function warm(policies: number, { rounds }: SuiteOptions): Promise<Results['warm']> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    const named = { workload: 'actions', policies } as const;
    const start = () => alone('start', { ...named, folder });
    const cold = await start();
    const { ms } = await inRounds(rounds, async () => {
      const again = await start();
      if (again.decided !== cold.decided) throw new Error('what was kept decides something else');
      return { ms: again.ms };
    });
    return [{ ...named, coldMs: figureOf([cold.ms]), warmMs: ms }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function changed(policies: number, { rounds }: SuiteOptions): Promise<Results['changed']> {
  const all: Results['changed'][number][] = [];
  for (const workload of ordinary) {
    const { files, changedMs } = await alone('changed', { workload, policies, rounds });
    all.push({ workload, policies, files, changedMs: figureOf(changedMs) });
  }
  return all;
}

async function models(largest: number, { rounds }: SuiteOptions): Promise<Results['models']> {
  const all: Results['models'][number][] = [];
  for (const policies of [1_000, 10_000, 100_000].filter((size) => size <= largest)) {
    for (const workload of ordinary) {
      const ofSize = policies < 10_000 ? rounds : 1;
      const measured = await inRounds(ofSize, () => alone('model', { workload, policies }));
      all.push({ workload, policies, ...measured });
    }
  }
  return all;
}

async function reload(policies: number, { rounds }: SuiteOptions): Promise<Results['reload']> {
  const all: Results['reload'][number][] = [];
  for (const workload of ordinary) {
    const pauses = await alone('reload', { workload, policies, rounds });
    all.push({ workload, policies, ...spreads(pauses) });
  }
  return all;
}

/** Runs a measurement several times, each in a process of its own, and returns the spread of each figure. */
async function inRounds<K extends string>(
  rounds: number,
  measure: () => Promise<Readonly<Record<K, number>>>,
): Promise<Record<K, ReturnType<typeof figureOf>>> {
  const all: Readonly<Record<K, number>>[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measure());
  return spreads(all);
}

/** Returns the spread of each figure over all rounds. */
function spreads<K extends string>(
  all: readonly Readonly<Record<K, number>>[],
): Record<K, ReturnType<typeof figureOf>> {
  const keys = Object.keys(all[0]!) as K[];
  return Object.fromEntries(keys.map((key) => [key, figureOf(all.map((one) => one[key]))])) as Record<
    K,
    ReturnType<typeof figureOf>
  >;
}
