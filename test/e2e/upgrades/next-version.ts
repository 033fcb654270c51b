// A later version of Writ, to run beside this one: a copy of this checkout's program with one migration more
// for each kind of store. INVARIANT: nothing but the migrations differs, so it runs as a real version would.

import { cpSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { keptWrit, type RunWrit, writ } from '../../cli/writ.ts';

/** The schemas that only the later version knows. */
const laterSchema = { file: 900, database: 900 } as const;

const root = join(import.meta.dirname, '../../..');
/** A column of rows that are sealed, and one of a record. */
const migration = `ALTER TABLE agents ADD COLUMN colour TEXT;
ALTER TABLE refusals ADD COLUMN colour TEXT;
`;

export interface Version {
  /** The path of its `writ`. */
  readonly entry: string;
  readonly writ: RunWrit;
}

export const thisVersion: Version = { entry: join(root, 'src/cli/writ.js'), writ };

let made: Version | null = null;

/** The later version: one for all tests of this process. */
export function nextVersion(): Version {
  made ??= makeVersion(mkdtempSync(join(tmpdir(), 'writ-next-')));
  return made;
}

function makeVersion(folder: string): Version {
  for (const part of ['src', 'integrations'])
    cpSync(join(root, part), join(folder, part), {
      recursive: true,
      filter: (path) => !path.startsWith(join(root, 'src/dashboard')) && !path.includes('node_modules'),
    });
  for (const file of ['package.json', 'test/cli/kept-writ.ts']) cpSync(join(root, file), join(folder, file));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const store = join(folder, 'src/service/store');
  writeFileSync(join(store, `sqlite/migrations/${laterSchema.file}.sql`), migration);
  writeFileSync(join(store, `postgres/server/migrations/${laterSchema.database}.sql`), migration);
  return {
    entry: join(folder, 'src/cli/writ.js'),
    writ: keptWrit(pathToFileURL(join(folder, 'test/cli/kept-writ.ts'))),
  };
}
