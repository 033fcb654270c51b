// `node bench/service/soak.ts [--requests 5000000] [--connections 32]`: puts load on the service for a long
// time, in slices. Prints memory, latency and processor time of each slice, and how the last tenth compares
// with the first, as Markdown.

import { parseArgs } from 'node:util';
import { load, type Measured, residentMegabytes, startServer } from './servers.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '5000000' },
    connections: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '5' },
  },
});
const requestsMax = Number(values.requests);
const sliceMs = Number(values.seconds) * 1000;

interface Slice extends Measured {
  readonly megabytes: number;
}

const server = await startServer('full');
const slices: Slice[] = [];
console.log(
  '| requests | req/s | p50, ms | p99, ms | processor, µs | resident, MB |\n|---|---|---|---|---|---|',
);
for (let requests = 0; requests < requestsMax; ) {
  const measured = await load(server, Number(values.connections), sliceMs);
  const slice = { ...measured, megabytes: residentMegabytes(server) };
  slices.push(slice);
  requests += measured.requestsWithWarmUp;
  const ms = (microseconds: number) => (microseconds / 1000).toFixed(2);
  const { requestsPerSecond, p50Microseconds, p99Microseconds, processorPerRequest, megabytes } = slice;
  console.log(
    `| ${requests} | ${requestsPerSecond} | ${ms(p50Microseconds)} | ${ms(p99Microseconds)} | ${processorPerRequest.toFixed(0)} | ${megabytes.toFixed(0)} |`,
  );
}
server.process.stdin?.end();

const tenth = Math.max(1, Math.round(slices.length / 10));
const flatness = (pick: (slice: Slice) => number): string => {
  const mean = (part: readonly Slice[]) => part.reduce((sum, slice) => sum + pick(slice), 0) / part.length;
  return (mean(slices.slice(-tenth)) / mean(slices.slice(0, tenth))).toFixed(2);
};
console.log(
  `\nThe last tenth to the first: memory ${flatness(({ megabytes }) => megabytes)}, p99 ${flatness(
    ({ p99Microseconds }) => p99Microseconds,
  )}, processor ${flatness(({ processorPerRequest }) => processorPerRequest)}.`,
);
