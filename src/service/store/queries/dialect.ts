// What makes a read one text for both stores. The text names parameters `@name`, puts names with capital letters in
// quotation marks, and gives each subquery a name; a dialect has the SQL where SQLite and PostgreSQL differ.

/** An array is a parameter of `isIn`. */
type Parameter = string | number | boolean | null | readonly (string | number)[];
export type Parameters = Readonly<Record<string, Parameter>>;

/** `R` has the columns that the text names. */
export interface Query<R> {
  readonly text: string;
  readonly parameters: Parameters;
  /** Always absent: gives the query the type of its rows. */
  readonly row?: R;
}

export function query<R>(text: string, parameters: Parameters = {}): Query<R> {
  return { text, parameters };
}

/** The types of the rows of several queries, as a tuple. */
type RowTypes = readonly unknown[] | [];
export type QueriesOf<Rs extends RowTypes> = { readonly [K in keyof Rs]: Query<Rs[K]> };
export type RowsOf<Rs extends RowTypes> = { [K in keyof Rs]: readonly Rs[K][] };

/** What a store provides to run the reads of this folder. Each promise rejects with a StoreError. */
export interface QueryRunner {
  readonly sql: Dialect;
  rows<R>(query: Query<R>): Promise<readonly R[]>;
  /** Returns the rows of each query, all read at one moment. */
  snapshot<Rs extends readonly unknown[] | []>(queries: QueriesOf<Rs>): Promise<RowsOf<Rs>>;
  /** Returns the result of `read`, which may stop before the last row. */
  scan<R, T>(query: Query<R>, read: (rows: Iterable<R>) => T): Promise<T>;
}

/** Each function returns SQL; `json` is SQL for a JSON text. */
export interface Dialect {
  /** The text at the path; NULL if there is none. */
  textAt(json: string, ...path: readonly string[]): string;
  numberAt(json: string, ...path: readonly string[]): string;
  /** The JSON text of the member. */
  memberOf(json: string, name: string): string;
  /** A table of the elements of the array at the path, in a column `value`. */
  elementsOf(json: string, ...path: readonly string[]): string;
  /** The JSON text of an array of all values that meet the condition. */
  arrayOf(value: string, condition: string): string;
  /** Whether the parameter is null; the type is that of its other values. */
  isNull(parameter: string, type: 'text' | 'bigint' | 'float8'): string;
  /** Whether the value is one of the elements of the parameter. */
  isIn(value: string, parameter: string, type: 'text' | 'bigint'): string;
  /** Whether the column equals the parameter, without regard to ASCII case. */
  equalsNoCase(column: string, parameter: string): string;
  /** The texts of a group as lines, in the order of `slot`. */
  linesOf(text: string): string;
  /** Whether the slot is that of the process, `@slot`; in a file there is only one process. */
  isOwn(slot: string): string;
}

export const sqliteDialect: Dialect = {
  textAt: (json, ...path) => `${json} ->> '$.${path.join('.')}'`,
  numberAt: (json, ...path) =>
    `CASE WHEN json_type(${json}, '$.${path.join('.')}') IN ('integer', 'real') THEN ${json} ->> '$.${path.join('.')}' END`,
  memberOf: (json, name) => `${json} -> '$.${name}'`,
  elementsOf: (json, ...path) => `json_each(${json}, '$.${path.join('.')}')`,
  arrayOf: (value, condition) => `json_group_array(${value}) FILTER (WHERE ${condition})`,
  isNull: (parameter) => `${parameter} IS NULL`,
  isIn: (value, parameter) => `${value} IN (SELECT value FROM json_each(${parameter}))`,
  equalsNoCase: (column, parameter) => `${column} = ${parameter} COLLATE NOCASE`,
  linesOf: (text) => `group_concat(${text}, char(10))`,
  isOwn: () => 'TRUE',
};

export const postgresDialect: Dialect = {
  textAt: (json, ...path) => `(${json})::json #>> '{${path.join(',')}}'`,
  numberAt: (json, ...path) =>
    `CASE WHEN json_typeof((${json})::json #> '{${path.join(',')}}') = 'number' THEN ((${json})::json #>> '{${path.join(',')}}')::float8 END`,
  memberOf: (json, name) => `((${json})::json -> '${name}')::text`,
  elementsOf: (json, ...path) => `json_array_elements((${json})::json #> '{${path.join(',')}}')`,
  arrayOf: (value, condition) => `coalesce(json_agg(${value}) FILTER (WHERE ${condition}), '[]')::text`,
  isNull: (parameter, type) => `${parameter}::${type} IS NULL`,
  isIn: (value, parameter, type) => `${value} = ANY (${parameter}::${type}[])`,
  equalsNoCase: (column, parameter) => `lower(${column} COLLATE "C") = lower(${parameter}::text COLLATE "C")`,
  linesOf: (text) => `string_agg(${text}, E'\\n' ORDER BY slot)`,
  isOwn: (slot) => `${slot} = @slot`,
};
