// The place of a test's store: a file in a folder of the test, or a database of its own with
// TEST_STORE=postgres.

import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type StoreLocation, storeLocationOf } from '../../../src/service/store/open.ts';
import { keptPostgres } from './postgres-server.ts';

export const isOnPostgres = process.env.TEST_STORE === 'postgres';

export interface TestPosition {
  readonly place: StoreLocation;
  /** Removes the store, once no process has it open. */
  readonly drop: () => Promise<void>;
}

export function placeInFile(folder: string): TestPosition {
  return { place: { path: join(folder, 'writ.db') }, drop: async () => {} };
}

export async function newPlace(folder: string): Promise<TestPosition> {
  if (!isOnPostgres) return placeInFile(folder);
  const server = await keptPostgres();
  const { url, keyFile, drop } = await server.createDatabase();
  return { place: { url, keyFile }, drop };
}

const databases = new Map<string, string>();

/** The environment of commands on a data directory: always the same database for the same directory. */
export async function storeEnvironment(data: string): Promise<Readonly<Record<string, string>>> {
  if (!isOnPostgres) return {};
  let url = databases.get(data);
  if (url === undefined) {
    const server = await keptPostgres();
    const database = await server.createDatabase();
    url = database.url;
    databases.set(data, url);
    const key = join(data, 'writ.key');
    if (!existsSync(key)) copyFileSync(database.keyFile, key);
  }
  return { WRIT_STORE: url };
}

/** The place of the store for commands on a data directory. */
export async function locationOfStore(data: string): Promise<StoreLocation> {
  const { WRIT_STORE: database = null } = await storeEnvironment(data);
  return storeLocationOf({ data, database });
}

/**
 * Changes the store behind the service's back, like an intruder with access to the file or the database. The
 * statement must work in both dialects.
 */
export async function tamper(place: StoreLocation, statement: string): Promise<void> {
  if ('url' in place) {
    const server = await keptPostgres();
    await server.query(statement, new URL(place.url).pathname.slice(1));
    return;
  }
  const database = new Database(place.path);
  database.exec(statement);
  database.close();
}
