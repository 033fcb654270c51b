// `node bench/copy-store.ts [RECORDS] [--out FILE]`: fills a store in a file with RECORDS records (1,000,000
// by default), each with an entry in a meter, and copies the store into PostgreSQL. Prints how long the copy
// took, how long no service could run, and whether all hashes are the same, byte for byte. For comparison it
// also prints how long the server alone takes to COPY the same records.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { createRequestId } from '../src/service/requests/record/id.ts';
import { copyStore } from '../src/service/store/move/copy-store.ts';
import { openStore } from '../src/service/store/open.ts';
import { type PostgresServer, startPostgres } from '../test/service/store/postgres-server.ts';

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
const count = Number(positionals[0] ?? 1_000_000);
const stoppedMaxMs = 30_000;
const toCopyMax = 3;
const batch = 2_000;
const folder = mkdtempSync(join(tmpdir(), 'writ-copy-'));
const path = join(folder, 'writ.db');
const shown = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const since = (fromMs: number): number => performance.now() - fromMs;

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
console.log(`${count} records in a file: ${shown(since(filledFrom))}`);
await store.serve();

/** The query for the hashes of all records; `ORDER BY sequence` around it brings them into their order. */
const hashes = ['requests', 'request_events', 'changes', 'refusals']
  .map((table) => `SELECT sequence, hash FROM ${table}`)
  .join(' UNION ALL ');

function hashesInFile(): string {
  const digest = createHash('md5');
  const file = new Database(path, { readonly: true });
  const all = file.prepare<[], { hash: string }>(`SELECT hash FROM (${hashes}) ORDER BY sequence`);
  for (const { hash } of all.iterate()) digest.update(hash);
  file.close();
  return digest.digest('hex');
}

async function hashesInDatabase(server: PostgresServer, database: string): Promise<string | undefined> {
  const [found] = await server.query<{ all: string }>(
    `SELECT md5(string_agg(hash, '' ORDER BY sequence)) AS all FROM (${hashes}) AS records`,
    database,
  );
  return found?.all;
}

/** Milliseconds that the server alone takes to COPY the same records and entries, with the same indices. */
async function copyAlone(server: PostgresServer, database: string): Promise<number> {
  let takenMs = 0;
  for (const table of ['requests', 'meter_entries']) {
    const file = join(server.socket, `${table}.copy`);
    await server.query(
      `COPY ${table} TO '${file}'; CREATE TABLE twin_${table} (LIKE ${table} INCLUDING ALL)`,
      database,
    );
    const from = performance.now();
    await server.query(`COPY twin_${table} FROM '${file}'`, database);
    takenMs += since(from);
  }
  return takenMs;
}

const server = await startPostgres();
const database = await server.createEmptyDatabase();
const copiedFrom = performance.now();
let servingMs = 0;
const copied = await copyStore({
  path,
  url: database.url,
  keyFile: join(folder, 'writ.key'),
  shownUrl: database.url,
  who: 'bench',
  onProgress: ({ kind }) => {
    if (kind !== 'waiting') return;
    servingMs = since(copiedFrom);
    console.log(`copied while the service runs: ${shown(servingMs)}`);
    void store.close();
  },
});
const [size] = await server.query<{ bytes: string }>(`SELECT pg_database_size('${database.name}') AS bytes`);
const areSame = hashesInFile() === (await hashesInDatabase(server, database.name));
const aloneMs = await copyAlone(server, database.name);
const ratio = (servingMs + copied.stoppedMs) / aloneMs;
const text = `# A store moves to PostgreSQL

Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}. A file of ${count} records, each with ${recordJson.length} bytes of JSON and an entry in a meter, while other programs use the machine.

| | measured | target |
|---|---|---|
| nobody serves | ${shown(copied.stoppedMs)} | at most ${shown(stoppedMaxMs)} |
| hashes of all ${copied.recordCount} records, byte for byte | ${areSame ? 'the same' : 'they DIFFER'} | the same |
| copied while the service runs | ${shown(servingMs)} | |
| COPY of the same records and entries by the server alone, with the same indices | ${shown(aloneMs)} | |
| the whole move to that COPY | ${ratio.toFixed(1)} | at most ${toCopyMax} |
| bytes a record with its meter entry | ${(Number(size?.bytes) / copied.recordCount).toFixed(0)} | |
`;
console.log(text);
if (values.out !== undefined) writeFileSync(values.out, text);
await server.stop();
rmSync(folder, { recursive: true });
process.exitCode = areSame && copied.stoppedMs <= stoppedMaxMs ? 0 : 1;
