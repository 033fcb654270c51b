// `node bench/copy-store.ts [RECORDS]`: makes a store of so many records in a file (1,000,000 unless said otherwise), each with
// an entry in a meter, copies it into PostgreSQL, and says how long that took and how long nobody could serve.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequestId } from '../src/service/requests/record/id.ts';
import { copyStore } from '../src/service/store/move/copy-store.ts';
import { openStore } from '../src/service/store/open.ts';
import { startPostgres } from '../test/store/postgres-server.ts';

const count = Number(process.argv[2] ?? 1_000_000);
const batch = 2_000;
const folder = mkdtempSync(join(tmpdir(), 'writ-copy-'));
const path = join(folder, 'writ.db');
const seconds = (fromMs: number): string => `${((performance.now() - fromMs) / 1000).toFixed(1)} s`;

const recordJson = JSON.stringify({ payload: { vendor: 'Staples', note: '-'.repeat(900) } });
const store = await openStore({ path });
await store.meters.note(['spent'], Date.now());
const filledFrom = performance.now();
const startMs = Date.now() - count * 20;
for (let at = 0; at < count; at += batch) {
  const rows = Array.from({ length: Math.min(batch, count - at) }, (_, index) => {
    const createdAtMs = startMs + (at + index) * 20;
    return {
      id: createRequestId(createdAtMs),
      agentId: `agent-${index % 100}`,
      actionKey: 'pay.send',
      outcome: 'ALLOW',
      status: 'auto_approved' as const,
      createdAtMs,
      decidedAtMs: createdAtMs,
      expiresAtMs: createdAtMs + 300_000,
      idempotency: null,
      recordJson,
    };
  });
  const entry = { definition: 'spent', isCertain: true, value: '1' };
  const made = rows.map((row) =>
    store.requests.append(row, { openMax: 20 }, [{ ...entry, key: row.agentId }]),
  );
  await Promise.all(made);
}
console.log(`${count} records in a file: ${seconds(filledFrom)}`);
await store.serve();

const server = await startPostgres();
const database = await server.createDatabase();
await server.query(`DROP DATABASE ${database.name}`);
await server.query(`CREATE DATABASE ${database.name}`);
const copiedFrom = performance.now();
const copied = await copyStore({
  path,
  url: database.url,
  keyFile: join(folder, 'writ.key'),
  shownUrl: database.url,
  who: 'bench',
  onProgress: ({ kind }) => {
    if (kind !== 'waiting') return;
    console.log(`copied while the service runs: ${seconds(copiedFrom)}`);
    void store.close();
  },
});
console.log(
  `${copied.recordCount} records are whole; nobody served for ${(copied.stoppedMs / 1000).toFixed(1)} s`,
);
const [size] = await server.query<{ bytes: string }>(`SELECT pg_database_size('${database.name}') AS bytes`);
const each = Number(size?.bytes) / copied.recordCount;
console.log(
  `${each.toFixed(0)} bytes a record with its meter entry, of which ${recordJson.length} are its JSON`,
);
await server.stop();
rmSync(folder, { recursive: true });
