// A process that appends requests to the store at argv[2] without end, so many at a time that batches wait behind
// each other. It prints the id of each request once the store has acknowledged it. Writes of other kinds go
// with the requests.

import { once } from 'node:events';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, keyRow, pendingRow, refusalRecord, requestRow } from './rows.ts';

const store = await openStore({ path: process.argv[2] ?? '' });

async function appendForEver(): Promise<never> {
  for (;;) {
    const record = requestRow();
    await store.requests.append(record, { openMax: 20 });
    if (!process.stdout.write(`${record.id}\n`)) await once(process.stdout, 'drain');
  }
}

async function changeForEver(): Promise<never> {
  for (;;) {
    const agent = agentRow();
    await store.agents.add(agent, keyRow(agent.id));
    await store.requests.appendRefusal(refusalRecord());
    await store.requests.append(pendingRow(), { openMax: 1_000_000 });
    await store.requests.expireDue(Number.MAX_SAFE_INTEGER, 10);
  }
}

await Promise.all([...Array.from({ length: 24 }, appendForEver), changeForEver()]);
