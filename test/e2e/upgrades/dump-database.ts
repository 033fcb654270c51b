// A database of Writ as SQL: what the version under test runs to make its tables and functions, and the rows.
// INVARIANT: a database made by the SQL has the same catalogue and the same rows, which is looked at here.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PostgresServer } from '../../service/store/postgres-server.ts';

const source = join(import.meta.dirname, '../../../src/service/store/postgres');

/** Rejects when the SQL does not make the same database. */
export async function dumpDatabase(server: PostgresServer, database: string): Promise<string> {
  const text = [
    ...schemaFiles().map((path) => readFileSync(path, 'utf8')),
    await rowsOf(server, database),
  ].join('\n');
  const copy = await server.createEmptyDatabase();
  await server.query(text, copy.name);
  for (const look of [catalogueOf, rowsOf])
    if (!isDeepStrictEqual(await look(server, copy.name), await look(server, database)))
      throw new Error('the SQL makes another database');
  await copy.drop();
  return text;
}

function schemaFiles(): readonly string[] {
  const migrations = join(source, 'server/migrations');
  const steps = readdirSync(migrations).toSorted();
  return [
    ...steps.map((name) => join(migrations, name)),
    join(source, 'server/functions.sql'),
    join(source, 'search/search.sql'),
  ];
}

/** SQL that replaces all rows by those of the database, and sets its sequences. */
async function rowsOf(server: PostgresServer, database: string): Promise<string> {
  const tables = await server.query<{ readonly name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    database,
  );
  const parts = ['SET session_replication_role = replica;'];
  for (const { name } of tables) {
    const [found] = await server.query<{ readonly rows: string }>(
      `SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS rows FROM "${name}" t`,
      database,
    );
    parts.push(`DELETE FROM "${name}";`);
    parts.push(
      `INSERT INTO "${name}" SELECT * FROM json_populate_recordset(NULL::"${name}", $rows$${found?.rows}$rows$);`,
    );
  }
  const sequences = await server.query<{ readonly set: string }>(
    `SELECT format('SELECT setval(%L, %s);', sequencename, last_value) AS set FROM pg_sequences
     WHERE schemaname = 'public' AND last_value IS NOT NULL ORDER BY 1`,
    database,
  );
  for (const { set } of sequences) parts.push(set);
  return [...parts, 'SET session_replication_role = DEFAULT;', ''].join('\n');
}

/** Tables, columns, indexes, constraints and functions. */
function catalogueOf(server: PostgresServer, database: string): Promise<readonly object[]> {
  return server.query(
    `SELECT table_name AS a, column_name AS b, concat_ws(' ', ordinal_position, data_type, is_nullable, column_default) AS c
       FROM information_schema.columns WHERE table_schema = 'public'
     UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace
     UNION ALL SELECT proname, pg_get_function_identity_arguments(oid), prosrc FROM pg_proc
       WHERE pronamespace = 'public'::regnamespace AND proname <> 'clock_timestamp'
     ORDER BY 1, 2, 3`,
    database,
  );
}
