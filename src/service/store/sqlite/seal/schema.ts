// Compares the schema of a database with the one that its migrations make. INVARIANT: a table, index, trigger
// or view that no migration made is found, and so is one that is missing or has another text.

import Database from 'better-sqlite3';

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** The normalised SQL of each object, by its kind and name. */
export type Schema = ReadonlyMap<string, string>;

/**
 * Returns the first difference, as a sentence in lower case without a final period; null when nothing
 * differs.
 */
export function schemaDifference(database: Database.Database, expected: Schema): string | null {
  const schema = objectsOf(database);
  for (const [name, text] of schema) {
    if (!expected.has(name)) return `${name} is no part of Writ`;
    if (expected.get(name) !== text) return `${name} is not as Writ made it`;
  }
  for (const name of expected.keys()) if (!schema.has(name)) return `${name} is missing`;
  return null;
}

/** Returns the schema that `build` makes in an empty database. */
export function schemaMadeBy(build: (empty: Database.Database) => void): Schema {
  const empty = new Database(':memory:');
  try {
    build(empty);
    return objectsOf(empty);
  } finally {
    empty.close();
  }
}

function objectsOf(database: Database.Database): Schema {
  const objects = database
    .prepare<[], SchemaObject>('SELECT type, name, sql FROM main.sqlite_schema ORDER BY name')
    .all();
  return new Map(objects.map(({ type, name, sql }) => [`the ${type} \`${name}\``, normalised(sql ?? '')]));
}

/** Removes differences in white space, which versions of SQLite may store differently. */
function normalised(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim();
}
