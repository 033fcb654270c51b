// A process that appends requests to the store at argv[2], a few at a time without end, and writes the id of each to
// its output once the store has acknowledged it.

import { writeSync } from 'node:fs';
import { openStore } from '../../src/store/open.ts';
import { requestRow } from './rows.ts';

const store = await openStore({ path: process.argv[2] ?? '' });

async function appendForEver(): Promise<never> {
  for (;;) {
    const record = requestRow();
    await store.requests.append(record, { openMax: 20 });
    writeSync(1, `${record.id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, appendForEver));
