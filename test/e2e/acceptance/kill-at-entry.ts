// Loaded before a service: kills its process within the write of a request, after the request itself was
// inserted and before the entry that counts it. TEST_KILL_AT_ENTRY says at which entry.

import Database from 'better-sqlite3';

const { prototype } = Database as unknown as { readonly prototype: Pick<Database.Database, 'prepare'> };
const prepare = prototype.prepare as (source: string) => Database.Statement;
let left = Number(process.env.TEST_KILL_AT_ENTRY);

prototype.prepare = function (this: Database.Database, source: string) {
  const statement = prepare.call(this, source);
  if (!source.startsWith('INSERT INTO meter_entries')) return statement;
  const run = statement.run.bind(statement);
  statement.run = (...values: unknown[]) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    return run(...values);
  };
  return statement;
} as Database.Database['prepare'];
