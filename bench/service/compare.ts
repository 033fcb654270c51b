// `node bench/service/compare.ts DIRECTORY [--rounds 5] [--seconds 1]`: compares the service of this checkout
// with that of another, in one run. The two take turns in every round, with limits that no request reaches. A
// ratio is the median of the rounds' ratios, this checkout to the other. Prints Markdown.

import { parseArgs } from 'node:util';
import { load, type Measured, type Server, startServer, warmUp } from './servers.ts';

const connectionCounts = [1, 32, 128] as const;

interface Pair {
  readonly here: Measured;
  readonly there: Measured;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '1' } },
});
const [directory] = positionals;
if (directory === undefined) throw new Error('name the directory of the other checkout');
const [rounds, measureMs] = [Number(values.rounds), Number(values.seconds) * 1000];

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN;
}

async function measurePairs(here: Server, there: Server): Promise<ReadonlyMap<number, readonly Pair[]>> {
  const pairs = new Map<number, Pair[]>(connectionCounts.map((connections) => [connections, []]));
  for (const server of [here, there]) await warmUp(server);
  for (let round = 0; round < rounds; round += 1) {
    for (const [connections, all] of pairs) {
      all.push({
        here: await load(here, connections, measureMs),
        there: await load(there, connections, measureMs),
      });
    }
  }
  return pairs;
}

const figureNames = [
  'requestsPerSecond',
  'processorPerRequest',
  'servingPerRequest',
  'p50Microseconds',
  'p99Microseconds',
] as const satisfies readonly (keyof Measured)[];

function row(connections: number, pairs: readonly Pair[]): string {
  const figures = figureNames.map((name) => {
    const ratio = median(pairs.map(({ here, there }) => here[name] / there[name]));
    const [here, there] = [
      median(pairs.map((pair) => pair.here[name])),
      median(pairs.map((pair) => pair.there[name])),
    ];
    return `${here.toFixed(0)} / ${there.toFixed(0)} (${ratio.toFixed(2)})`;
  });
  return `| ${connections} | ${figures.join(' | ')} |`;
}

const servers = [await startServer('full'), await startServer('full', directory)] as const;
try {
  const pairs = await measurePairs(...servers);
  console.log(
    '| connections | req/s, here / there | processor a request, µs | of it the serving thread, µs | p50, µs | p99, µs |\n|---|---|---|---|---|---|',
  );
  for (const [connections, all] of pairs) console.log(row(connections, all));
} finally {
  for (const server of servers) server.process.stdin?.end();
}
