// `node test/e2e/upgrades/keep.ts [NAME]`: lets the service of this version fill a store in a file and one in a
// database, and keeps both for the tests of later versions. Run once for each release, before it is tagged.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { startPostgres } from '../../service/store/postgres-server.ts';
import { databaseClock } from './clock.ts';
import { fillStore, type StoreFlags } from './fill-store.ts';
import { flagsOf, keepStore } from './kept-store.ts';

const name = process.argv[2] ?? manifest.version;
const writ = join(import.meta.dirname, '../../../src/cli/writ.js');
const folder = mkdtempSync(join(tmpdir(), 'writ-kept-'));
const server = await startPostgres();

function checkpointOf({ data, store }: StoreFlags): string {
  const env = { ...process.env, ...(store === undefined ? {} : { WRIT_STORE: store }) };
  const args = [writ, 'audit', 'checkpoint', '--data', data];
  return execFileSync(process.execPath, args, { encoding: 'utf8', env });
}

try {
  const inFile = { data: join(folder, 'file') };
  const known = await fillStore(inFile);
  await keepStore({ name, data: inFile.data, database: null, checkpoint: checkpointOf(inFile), known });

  const { name: database, url } = await server.createEmptyDatabase();
  const inDatabase = flagsOf(join(folder, 'database'), url);
  const knownThere = await fillStore(inDatabase, async (aheadMs) => {
    await server.query(databaseClock(database, aheadMs), database);
  });
  await keepStore({
    name,
    data: inDatabase.data,
    database: { server, name: database },
    checkpoint: checkpointOf(inDatabase),
    known: knownThere,
  });
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
