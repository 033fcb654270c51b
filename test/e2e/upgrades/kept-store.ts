// Stores that versions of Writ have written, one in a file and one in a database for each: with their keys, a
// checkpoint, and what agents and people know of them. INVARIANT: a kept store is never written to; tests lay
// a copy.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { PostgresServer } from '../../service/store/postgres-server.ts';
import { databaseClock } from './clock.ts';
import { dumpDatabase } from './dump-database.ts';
import type { KnownFacts, StoreFlags } from './fill-store.ts';

export interface KeptStore {
  /** One line, as `writ audit checkpoint` prints it. */
  readonly checkpoint: string;
  readonly known: KnownFacts;
}

/** A copy of a kept store, in a data directory of its own. */
export interface LaidStore extends KeptStore {
  readonly flags: StoreFlags;
  /** The options and the environment of commands that name the store. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  drop(): Promise<void>;
}

const engines = ['file', 'database'] as const;
export type Engine = (typeof engines)[number];

const folder = join(import.meta.dirname, 'stores');

/** The names of the kept stores: a release, or what was before a change of the schema. */
export const keptNames: readonly string[] = existsSync(folder) ? readdirSync(folder).toSorted() : [];

/** The name and the engine of each. */
export const keptStores: readonly (readonly [name: string, engine: Engine])[] = keptNames.flatMap((name) =>
  engines.map((engine) => [name, engine] as const),
);

/** The master key of a store, beside it in its data directory. */
const keyNames = { file: 'writ.db.key', database: 'writ.key' } as const;

interface Keeping extends KeptStore {
  readonly name: string;
  /** The data directory of a service that has stopped. */
  readonly data: string;
  /** Where the database is; null for a file. */
  readonly database: { readonly server: PostgresServer; readonly name: string } | null;
}

export async function keepStore({ name, data, database, checkpoint, known }: Keeping): Promise<void> {
  const engine: Engine = database === null ? 'file' : 'database';
  const place = join(folder, name, engine);
  if (existsSync(place)) throw new Error(`there is a ${engine} of ${name} already: ${place}`);
  const content =
    database === null
      ? readFileSync(join(data, 'writ.db'))
      : await dumpDatabase(database.server, database.name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'content.gz'), gzipSync(content, { level: 9 }));
  writeFileSync(join(place, keyNames[engine]), readFileSync(join(data, keyNames[engine])));
  writeFileSync(join(place, 'checkpoint.json'), checkpoint);
  writeFileSync(join(place, 'known.json'), `${JSON.stringify(known, null, 2)}\n`);
}

interface Laying {
  readonly name: string;
  readonly engine: Engine;
  /** A data directory to be made. */
  readonly data: string;
  readonly server: () => Promise<PostgresServer>;
  /** How far ahead of the real time the clock of a database is. */
  readonly aheadMs: (known: KnownFacts) => number;
}

/** Puts a copy of a kept store where a service finds it as its last service left it. */
export async function layStore({ name, engine, data, server, aheadMs }: Laying): Promise<LaidStore> {
  const place = join(folder, name, engine);
  const textOf = (file: string) => readFileSync(join(place, file), 'utf8');
  const kept = {
    checkpoint: textOf('checkpoint.json'),
    known: JSON.parse(textOf('known.json')) as KnownFacts,
  };
  const content = gunzipSync(readFileSync(join(place, 'content.gz')));
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(join(data, keyNames[engine]), textOf(keyNames[engine]));
  chmodSync(join(data, keyNames[engine]), 0o600);
  const options = ['--data', data];
  if (engine === 'file') {
    writeFileSync(join(data, 'writ.db'), content, { mode: 0o600 });
    return { ...kept, flags: { data }, options, env: {}, drop: async () => undefined };
  }
  const running = await server();
  const { name: database, url, drop } = await running.createEmptyDatabase();
  await running.query(content.toString('utf8'), database);
  await running.query(databaseClock(database, aheadMs(kept.known)), database);
  return { ...kept, flags: flagsOf(data, url), options, env: { WRIT_STORE: url }, drop };
}

/** The flags of a service whose store is in a database without standbys. */
export function flagsOf(data: string, url: string): StoreFlags {
  return { data, store: url, 'store.durability': 'single' };
}
