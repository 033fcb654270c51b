// What is kept of a release: a store that its service has written, with its key, a checkpoint, and an agent's
// key and request ids.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

export interface KnownToAgent {
  readonly apiKey: string;
  /** Ids of three requests, in order: allowed, waiting, denied. */
  readonly requestIds: readonly string[];
}

interface KeptStore {
  readonly release: string;
  /** One line, as `writ audit checkpoint` prints it. */
  readonly checkpoint: string;
  readonly agent: KnownToAgent;
}

const folder = import.meta.dirname;

export const releases: readonly string[] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

/** Keeps a store; `data` is the data directory of a service that has stopped. */
export function keepStore({ release, checkpoint, agent }: KeptStore, data: string): void {
  const place = join(folder, release);
  if (existsSync(place)) throw new Error(`the store of release ${release} is kept already`);
  mkdirSync(place);
  writeFileSync(join(place, 'writ.db.gz'), gzipSync(readFileSync(join(data, 'writ.db')), { level: 9 }));
  writeFileSync(join(place, 'writ.db.key'), readFileSync(join(data, 'writ.db.key')));
  writeFileSync(join(place, 'checkpoint.json'), checkpoint);
  writeFileSync(join(place, 'agent.json'), `${JSON.stringify(agent, null, 2)}\n`);
}

/** Puts the store into `data` as its service left it. */
export function layStore(release: string, data: string): KeptStore {
  const place = join(folder, release);
  const textOf = (name: string) => readFileSync(join(place, name), 'utf8');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(join(data, 'writ.db'), gunzipSync(readFileSync(join(place, 'writ.db.gz'))), { mode: 0o600 });
  writeFileSync(join(data, 'writ.db.key'), textOf('writ.db.key'));
  chmodSync(join(data, 'writ.db.key'), 0o600);
  return {
    release,
    checkpoint: textOf('checkpoint.json'),
    agent: JSON.parse(textOf('agent.json')) as KnownToAgent,
  };
}
