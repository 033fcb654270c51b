// The seal as the writer keeps it: triggers of the writer's own connection see every row that changes, except
// for entries that are added to meters, which what adds them notes; and the transaction that changes rows stores
// the new seal. INVARIANT: nothing is written on top of a seal that is not genuine, or of records that the seal
// does not know, so a write never legitimises what was changed behind the service's back.

import type { Database } from 'better-sqlite3';
import { memo } from '../../../../language/value/memo.ts';
import type { Link } from '../../contract/chain.ts';
import {
  createSum,
  openSeal,
  type RunningSum,
  rowTag,
  type SealColumns,
  type SealedState,
  type SealKey,
  type StoredValue,
  sealCode,
  sealColumns,
  type TableSum,
} from '../../contract/seal.ts';
import { quotedColumn, rowKeyOf, type SealedTable, sealedTables } from '../../contract/sealed-tables.ts';
import { tampered } from '../../contract/store-error.ts';

export interface Seal {
  /**
   * Begins a transaction on records that end at `end`; throws StoreError when the seal does not hold. The
   * seal is read again if another process may have written since the last transaction (`mayDiffer`).
   */
  begin(end: Link, mayDiffer: boolean): void;
  /** Stores the seal over everything written since `begin`. */
  finish(end: Link): void;
  /** To be called for each row that is added to `meter_entries`, with its columns in the order of the schema. */
  noteEntry(values: readonly StoredValue[]): void;
  /** To be called when everything written since `begin` was rolled back. */
  forget(): void;
  /** Returns the state to which `rewind` goes back, when everything written since was rolled back. */
  mark(): SealMark;
  rewind(mark: SealMark): void;
  /** Makes a new seal over what is stored now, whatever the last seal holds. */
  renew(end: Link): void;
}

interface SealMark {
  readonly sums: ReadonlyMap<string, TableSum>;
  readonly tags: ReadonlyMap<string, ChangedRow>;
}

/** A row whose tag has to be stored; a null tag means that the row is gone. */
interface ChangedRow {
  readonly table: string;
  readonly key: string;
  readonly tag: string | null;
}

const functionName = 'writ_seal';
/**
 * Nearly every request adds rows here. Under a trigger, SQLite would copy each page that such a row changes, so that it
 * could undo the statement alone.
 */
const entriesTable = 'meter_entries';

export function prepareSeal(database: Database, key: SealKey): Seal {
  const tables = new Map(sealedTables(database).map((table) => [table.name, table]));
  const rows = prepareSealRows(database, key);
  let sums = new Map<string, RunningSum>();
  let tags = new Map<string, ChangedRow>();
  let version = 0;
  /** Whether rows that the seal covers have changed since the seal was stored. */
  let isChanged = false;
  /** The end of the chain that the stored seal has; null when the seal must be read. */
  let last: Link | null = null;

  function note(name: string, sign: 1 | -1, values: readonly StoredValue[]): void {
    const table = tables.get(name);
    if (table === undefined) throw new RangeError(`no table \`${name}\` is sealed`);
    isChanged = true;
    const tag = rowTag(key, name, values);
    const sum = memo(sums, name, () => createSum());
    if (sign === 1) sum.add(tag);
    else sum.remove(tag);
    if (!table.hasTags) return;
    const rowKey = rowKeyOf(table, values);
    tags.set(`${name} ${rowKey}`, { table: name, key: rowKey, tag: sign === 1 ? tag : null });
  }
  watchRows(database, tables.values(), note);

  function load(): void {
    const state = rows.read();
    sums = runningSums(Object.entries(state.tables));
    version = state.version;
    last = state.end;
  }

  return {
    begin(end, mayDiffer) {
      tags = new Map();
      isChanged = false;
      if (last === null || mayDiffer) load();
      if (last?.sequence !== end.sequence || last.hash !== end.hash) {
        last = null;
        throw tampered(`the last records of \`${database.name}\` do not match what the service wrote`);
      }
    },
    finish(end) {
      if (isChanged) rows.write({ end, version, tables: Object.fromEntries(valuesOf(sums)) }, tags.values());
      else rows.moveEnd(end);
      last = end;
    },
    noteEntry: (values) => note(entriesTable, 1, values),
    forget() {
      last = null;
    },
    mark: () => ({ sums: valuesOf(sums), tags: new Map(tags) }),
    rewind(mark) {
      sums = runningSums(mark.sums);
      tags = new Map(mark.tags);
    },
    renew(end) {
      sealAll(database, key, end);
      load();
      tags = new Map();
    },
  };
}

function runningSums(values: Iterable<readonly [string, TableSum]>): Map<string, RunningSum> {
  return new Map([...values].map(([name, value]) => [name, createSum(value)]));
}

function valuesOf(sums: ReadonlyMap<string, RunningSum>): ReadonlyMap<string, TableSum> {
  return new Map([...sums].map(([name, sum]) => [name, sum.value()]));
}

/**
 * Creates triggers of the connection: they are in no file, and see every change of a row, whatever causes it.
 */
function watchRows(
  database: Database,
  tables: Iterable<SealedTable>,
  note: (table: string, sign: 1 | -1, values: readonly StoredValue[]) => void,
): void {
  // With this setting, the replacement of a row calls both triggers, for the old row and for the new one.
  database.pragma('recursive_triggers = ON');
  database.function(functionName, { varargs: true, safeIntegers: true }, (table, sign, ...values) => {
    note(String(table), sign === 1n ? 1 : -1, values as StoredValue[]);
    return null;
  });
  for (const { name, columns } of tables) {
    const call = (sign: 1 | -1) => {
      const row = columns.map((column) => `${sign === 1 ? 'NEW' : 'OLD'}.${quotedColumn(column)}`);
      return `SELECT ${functionName}('${name}', ${sign}, ${row.join(', ')});`;
    };
    const trigger = (event: string, body: string) =>
      database.exec(
        `CREATE TEMP TRIGGER ${quotedColumn(`seal_${name}_${event}`)} AFTER ${event} ON main.${quotedColumn(name)}
         BEGIN ${body} END`,
      );
    if (name !== entriesTable) trigger('INSERT', call(1));
    trigger('UPDATE', call(-1) + call(1));
    trigger('DELETE', call(-1));
  }
}

function prepareSealRows(database: Database, key: SealKey) {
  const put = database.prepare<[SealColumns]>(
    `INSERT INTO state_seal VALUES (1, @sequence, @hash, @sums_json, @mac)
     ON CONFLICT (id) DO UPDATE SET sequence = @sequence, hash = @hash, sums_json = @sums_json, mac = @mac`,
  );
  const putTag = database.prepare<[ChangedRow]>(
    `INSERT INTO row_seals VALUES (@table, @key, @tag)
     ON CONFLICT (table_name, row_key) DO UPDATE SET tag = @tag`,
  );
  const removeTag = database.prepare<[string, string]>(
    'DELETE FROM row_seals WHERE table_name = ? AND row_key = ?',
  );
  const moveEnd = database.prepare<[number, string, string]>(
    'UPDATE state_seal SET sequence = ?, hash = ?, mac = ? WHERE id = 1',
  );
  /** The sums of tables in the stored seal. */
  let sumsJson = '';
  return {
    read(): SealedState {
      const columns = readSealColumns(database);
      const state = columns === null ? null : openSeal(key, columns);
      if (columns === null || state === null)
        throw tampered(`the seal of \`${database.name}\` is missing or is not this service's`);
      sumsJson = columns.sums_json;
      return state;
    },
    /**
     * Stores a seal with a new end and the same sums: most transactions add records and change no sealed row.
     */
    moveEnd({ sequence, hash }: Link): void {
      moveEnd.run(sequence, hash, sealCode(key, { sequence, hash, sums_json: sumsJson }));
    },
    write(state: SealedState, tags: Iterable<ChangedRow>): void {
      for (const touched of tags) {
        if (touched.tag === null) removeTag.run(touched.table, touched.key);
        else putTag.run(touched);
      }
      const columns = sealColumns(key, state);
      sumsJson = columns.sums_json;
      put.run(columns);
    },
  };
}

/** Returns the stored seal; null when there is none, more than one, or one that is not genuine. */
export function readSeal(database: Database, key: SealKey): SealedState | null {
  const columns = readSealColumns(database);
  return columns === null ? null : openSeal(key, columns);
}

function readSealColumns(database: Database): SealColumns | null {
  const rowsRead = database
    .prepare<[], SealColumns & { id: number }>('SELECT * FROM state_seal LIMIT 2')
    .all();
  const [columns] = rowsRead;
  return columns === undefined || rowsRead.length > 1 || columns.id !== 1 ? null : columns;
}

/** Seals what is stored, in the open transaction. */
export function sealAll(database: Database, key: SealKey, end: Link): void {
  const rows = prepareSealRows(database, key);
  const version = Number(database.pragma('user_version', { simple: true }));
  const sums: Record<string, TableSum> = {};
  const tags: ChangedRow[] = [];
  database.exec('DELETE FROM row_seals');
  for (const table of sealedTables(database)) {
    const sum = createSum();
    for (const values of rowsOf(database, table)) {
      const tag = rowTag(key, table.name, values);
      sum.add(tag);
      if (table.hasTags) tags.push({ table: table.name, key: rowKeyOf(table, values), tag });
    }
    sums[table.name] = sum.value();
  }
  rows.write({ end, version, tables: sums }, tags);
}

/** All rows of a table, one at a time, with the columns in the order of the schema. */
export function rowsOf(database: Database, { name, columns }: SealedTable): Iterable<readonly StoredValue[]> {
  return database
    .prepare<[], StoredValue[]>(`SELECT ${columns.map(quotedColumn).join(', ')} FROM ${quotedColumn(name)}`)
    .raw()
    .safeIntegers()
    .iterate();
}
