// `node bench/service/soak.ts [--requests 5000000] [--connections 32]`: puts load on the service for a long
// time, in slices. Prints memory, latency and processor time of each slice, and how the last tenth compares
// with the first, as Markdown. `--reloads [--minutes 10] [--connections 2]` loads changed policies every five
// seconds under the load, and prints the memory after a collection every half minute.

import { parseArgs } from 'node:util';
import { collectedMemory, load, type Measured, residentMegabytes, startServer } from './servers.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '5000000' },
    connections: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    reloads: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
  },
});

if (values.reloads) await soakWithReloads(Number(values.minutes), Number(values.connections ?? 2));
else await soak(Number(values.requests), Number(values.connections ?? 32), Number(values.seconds) * 1000);

interface Slice extends Measured {
  readonly megabytes: number;
}

async function soak(requestsMax: number, connections: number, sliceMs: number): Promise<void> {
  const server = await startServer('full');
  const slices: Slice[] = [];
  console.log(
    '| requests | req/s | p50, ms | p99, ms | processor, µs | resident, MB |\n|---|---|---|---|---|---|',
  );
  for (let requests = 0; requests < requestsMax; ) {
    const measured = await load(server, connections, sliceMs);
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
  const flatness = (pick: (slice: Slice) => number): string => lastToFirst(slices.map(pick)).toFixed(2);
  console.log(
    `\nThe last tenth to the first: memory ${flatness(({ megabytes }) => megabytes)}, p99 ${flatness(
      ({ p99Microseconds }) => p99Microseconds,
    )}, processor ${flatness(({ processorPerRequest }) => processorPerRequest)}.`,
  );
}

/** How the mean of the last tenth compares with that of the first. */
function lastToFirst(values: readonly number[]): number {
  const tenth = Math.max(1, Math.round(values.length / 10));
  const mean = (part: readonly number[]) => part.reduce((sum, value) => sum + value, 0) / part.length;
  return mean(values.slice(-tenth)) / mean(values.slice(0, tenth));
}

async function soakWithReloads(minutes: number, connections: number): Promise<void> {
  const sliceMs = 30_000;
  const server = await startServer('reloading');
  console.log(
    '| minutes | reloads | requests | req/s | heap, MB | external, MB | resident, MB |\n|---|---|---|---|---|---|---|',
  );
  const heaps: number[] = [];
  let requests = 0;
  for (let slice = 1; slice * sliceMs <= minutes * 60_000; slice += 1) {
    // A fifth of a slice goes before the load is measured.
    const measured = await load(server, connections, sliceMs * 0.8);
    requests += measured.requestsWithWarmUp;
    const { reloads, heap, external, resident } = await collectedMemory(server);
    heaps.push(heap);
    const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
    console.log(
      `| ${(slice * sliceMs) / 60_000} | ${reloads} | ${requests} | ${measured.requestsPerSecond} | ${megabytes(heap)} | ${megabytes(external)} | ${megabytes(resident)} |`,
    );
  }
  server.process.stdin?.end();
  console.log(`\nThe last tenth to the first: heap ${lastToFirst(heaps).toFixed(2)}.`);
}
