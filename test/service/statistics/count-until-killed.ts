// A process that decides and records requests in the store at argv[2] without end, and stores statistics all
// the while. Its minutes last a quarter of a second. Writes a line for each recorded request.

import { setTimeout } from 'node:timers/promises';
import { createStatistics } from '../../../src/service/statistics/statistics.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, keyRow } from '../store/rows.ts';
import { requestPath } from './world.ts';

const speed = 240;
const store = await openStore({ path: process.argv[2] ?? '' });
const beginMs = Math.max(Date.now(), (await store.chain.latestAtMs()) ?? 0) + 1;
const startedAtMs = performance.now();
const clock = () => beginMs + (performance.now() - startedAtMs) * speed;
const statistics = createStatistics({
  store: store.statistics,
  isRecorded: async (id) => (await store.requests.find(id)) !== null,
  clock,
  everyMs: 20,
  onFailure: (error) => {
    throw error;
  },
});
await statistics.start();
const agent = agentRow();
await store.agents.add(agent, keyRow(agent.id));
const { ask, refuse } = requestPath({ store, agent, statistics, nowMs: 0 }, clock);

async function decideForEver(): Promise<never> {
  for (let count = 0; ; count += 1) {
    await ask({ amount: count % 100, vendor: count % 3 === 0 ? 'odd' : 'a' });
    if (count % 10 === 0) await refuse();
    process.stdout.write(`${Math.trunc(clock())}\n`);
  }
}

async function expireForEver(): Promise<never> {
  for (;;) {
    await store.requests.expireDue(Math.trunc(clock()), 100);
    await setTimeout(10);
  }
}

await Promise.all([...Array.from({ length: 4 }, decideForEver), expireForEver()]);
