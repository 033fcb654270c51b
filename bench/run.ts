// `npm run bench`: measures everything, prints the results, and writes tables, figures and plots into
// `bench/results/`. Missing peers are installed first. `-- --only actions,wild` measures some sections and
// `-- --quick` small sizes; such runs write files only into the folder of `--results DIR`. `-- REV` compares
// this working tree with another revision instead.

import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type EngineKey, engineKeys } from './engines.ts';
import { installPeers, peerPackages } from './install-peers.ts';
import { plotsOf } from './plots.ts';
import { report } from './report.ts';
import { compareWithRevision } from './revision.ts';
import { quickly, runSuite, type SectionName, sectionNames } from './suite.ts';
import type { Results } from './targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    engines: { type: 'string' },
    results: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  console.log(`npm run bench -- [options] [REV]

  --quick          small sizes and few peers, in two minutes
  --only NAMES     some of ${sectionNames.join(',')}
  --engines NAMES  some of ${engineKeys.join(',')}
  --rounds N       3 where it is left out
  --results DIR    writes tables, figures and plots there; a whole run writes into bench/results
  REV              compares this working tree with another revision instead

npm run bench
npm run bench -- --only actions,wild --rounds 5
npm run bench -- main~10`);
  process.exit();
}

const started = performance.now();
const log = (line: string): void => {
  const seconds = Math.floor((performance.now() - started) / 1_000);
  console.error(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} ${line}`);
};
/** Sections that need peers; all other sections measure Writ alone. */
const sectionsWithPeers: readonly SectionName[] = ['actions', 'wild', 'same', 'ready'];
const rounds = Number(values.rounds);
const [revision] = positionals;

if (!Number.isInteger(rounds) || rounds < 1)
  stop(`--rounds takes a whole number from 1, not ${values.rounds}`);
if (revision !== undefined) {
  const compared = compareWithRevision(revision, { rounds, isQuick: values.quick, log });
  console.log(await compared.catch((error: Error) => stop(error.message)));
} else {
  const usual = values.quick ? quickly : { sections: sectionNames, engines: engineKeys };
  const only = chosen<SectionName>('--only', values.only ?? usual.sections.join(','), sectionNames);
  const engines = chosen<EngineKey>('--engines', values.engines ?? usual.engines.join(','), engineKeys);
  if (only.some((name) => sectionsWithPeers.includes(name))) installPeers(log);
  const results = await runSuite({ only, engines, isQuick: values.quick, rounds, log });
  const minutes = (performance.now() - started) / 60_000;
  const page = report({ results, versions: peerPackages(), minutes });
  const isWhole =
    !values.quick && only.length === sectionNames.length && engines.length === engineKeys.length;
  const folder = values.results ?? (isWhole ? new URL('results', import.meta.url).pathname : null);
  if (folder !== null) write(folder, page, results);
  console.log(page);
}

function write(folder: string, page: string, results: Results): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/results.md`, page);
  // Leaves out the latencies of single requests, which the plot shows.
  const json = JSON.stringify(results, (key, value) => (key === 'byRequest' ? undefined : value), 1);
  writeFileSync(`${folder}/results.json`, `${json}\n`);
  for (const [name, picture] of plotsOf(results)) writeFileSync(`${folder}/${name}.svg`, picture);
  log(`written into ${folder}`);
}

/**
 * Returns the names in a comma-separated text, in the order of `all`. Exits with code 2 when a name is
 * unknown.
 */
function chosen<Name extends string>(option: string, text: string, all: readonly Name[]): readonly Name[] {
  const wanted = text.split(',');
  const unknown = wanted.find((name) => !(all as readonly string[]).includes(name));
  if (unknown !== undefined) stop(`${option} takes some of ${all.join(',')}, not ${unknown}`);
  return all.filter((name) => wanted.includes(name));
}

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}
