// `npm run bench`: measures everything, prints it, and writes tables, figures and plots into `bench/results/`. Peers are
// installed first where they are missing. `--quick` leaves out the largest sizes.

import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Measured, measureDecisions } from './decisions.ts';
import { type EngineKey, engineKeys } from './engines.ts';
import { plot } from './plot.ts';
import { type AllResults, report } from './report.ts';
import type { Section } from './section.ts';
import { type WorkloadName, workloadNames } from './workloads.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    engines: { type: 'string', default: engineKeys.join(',') },
    results: { type: 'string', default: new URL('results', import.meta.url).pathname },
    /** Policies compiled from text at most; the stages before the program are most of it. */
    text: { type: 'string', default: '10000' },
  },
});

const log = (line: string): void => console.error(line);
const rounds = Number(values.rounds);
const sizes = values.quick ? [10, 1_000] : [10, 1_000, 10_000, 100_000];

installPeers();
const decisions = await measureDecisions({
  policies: sizes,
  workloads: workloadNames,
  rounds,
  engines: values.engines.split(',') as readonly EngineKey[],
  log,
});
const largest = sizes.at(-1)!;
const results: AllResults = {
  decisions,
  request: await alone('request', [1_000, rounds]),
  degraded: await alone('degraded', [Math.min(largest, 10_000), rounds]),
  tried: await alone('tried', [largest]),
  packs: await alone('packs', [rounds]),
  models: await alone('models', [largest]),
  texts: await alone('texts', [Math.min(largest, Number(values.text))]),
  versions: peerVersions(),
};

const page = report(results);
mkdirSync(values.results, { recursive: true });
writeFileSync(`${values.results}/results.md`, page);
writeFileSync(`${values.results}/results.json`, `${JSON.stringify(results, null, 1)}\n`);
for (const workload of workloadNames) {
  writeFileSync(`${values.results}/${workload}.svg`, plotOf(workload, decisions));
}
console.log(page);

/** Runs one of the measurements that need no peers in a process of its own. */
async function alone<S extends keyof Section>(section: S, args: readonly number[]): Promise<Section[S]> {
  log(section);
  const child = fork(new URL('section.ts', import.meta.url), [section, ...args.map(String)], {
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
  });
  const [answer] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [null] as const),
  ]);
  if (answer === null) throw new Error(`${section} ended without a result`);
  return answer as Section[S];
}

function plotOf(workload: WorkloadName, measured: readonly Measured[]): string {
  const own = Map.groupBy(
    measured.filter((one) => one.workload === workload),
    ({ name }) => name,
  );
  const lines = [...own].map(([name, all]) => ({
    name,
    isOwn: name === 'Writ',
    points: all.map(({ policies, figure }) => [policies, figure.median] as const),
  }));
  return plot(`${workload}: time per decision against the number of policies`, lines);
}

function installPeers(): void {
  const folder = new URL('.', import.meta.url).pathname;
  const isInstalled = Object.keys(peerPackages()).every((name) =>
    existsSync(`${folder}node_modules/${name}`),
  );
  if (isInstalled) return;
  log('installing peers');
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
}

function peerPackages(): Readonly<Record<string, string>> {
  const text = readFileSync(new URL('package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> }).dependencies;
}

function peerVersions(): Readonly<Record<string, string>> {
  return peerPackages();
}
