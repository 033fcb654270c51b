// An SQLite file of any earlier schema into one of the present schema, a numbered SQL file at a time. INVARIANT: a
// database that Writ did not write, or that a later version wrote, is refused before anything in it is changed.

import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { chainEarlierRecords } from './chain-earlier.ts';
import { StoreError } from './store-error.ts';

/** "WRIT", as the first schema sets it. */
const applicationId = 0x57524954;
const folder = new URL('./migrations/sqlite/', import.meta.url);

/** What SQL cannot do, by the version whose file it follows. */
const stepsAfter: Readonly<Record<number, (database: Database) => void>> = { 2: chainEarlierRecords };

/** Applies what is missing, all in one transaction. Throws StoreError, or what SQLite throws. */
export function migrate(database: Database): void {
  const files = readdirSync(folder)
    .filter((name) => /^\d{3}\.sql$/.test(name))
    .sort();
  const latest = versionOf(files.at(-1) ?? '');
  if (schemaVersion(database, latest) === latest) return;
  // The version is read again under the lock: another process may have done the work meanwhile.
  const apply = database.transaction(() => {
    const present = schemaVersion(database, latest);
    for (const file of files.filter((name) => versionOf(name) > present)) {
      database.exec(readFileSync(new URL(file, folder), 'utf8'));
      stepsAfter[versionOf(file)]?.(database);
      database.pragma(`user_version = ${versionOf(file)}`);
    }
  });
  apply.immediate();
}

/** The version of the database's schema; 0 where it is empty. */
function schemaVersion(database: Database, latest: number): number {
  const version = numberOf(database, 'user_version');
  const tables = database.prepare<[], { count: number }>('SELECT count(*) AS count FROM sqlite_schema').get();
  const isEmpty = version === 0 && tables?.count === 0;
  if (!isEmpty && numberOf(database, 'application_id') !== applicationId) {
    throw new StoreError(
      'foreign-database',
      `\`${database.name}\` is a database of another program: name a new file for the store`,
    );
  }
  if (version > latest) {
    throw new StoreError(
      'newer-database',
      `\`${database.name}\` was written by a later version of Writ (schema ${version}, this one knows ${latest}): run that version, or restore a backup`,
    );
  }
  return version;
}

function numberOf(database: Database, pragma: 'user_version' | 'application_id'): number {
  return Number(database.pragma(pragma, { simple: true }));
}

function versionOf(file: string): number {
  return Number.parseInt(file, 10);
}
