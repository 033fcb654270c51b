// The file beside a database that holds the words of its requests, in full-text tables of SQLite. There is a
// part for each span of record numbers, so that a search ends with the newest parts that fill its page,
// and the words of deleted records can be deleted. INVARIANT: the file holds nothing that the database lacks,
// is made again when it is damaged or belongs to other records, and only its owner can read it.

import { closeSync, openSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { IndexTerm, SequenceSpan } from '../../shared/search/search-index.ts';

/** The format of the tables; a file of another format is replaced. */
const format = 1;
const numbersPerPart = 65_536;

/**
 * The index holds the requests with numbers above `low`, up to and including `high`. `hash` is the hash of
 * the record with the number `marked`, which is one of them.
 */
export interface IndexMark {
  readonly low: number;
  readonly high: number;
  readonly marked: number;
  readonly hash: string;
}

export interface IndexedRequest {
  readonly sequence: number;
  readonly words: readonly string[];
}

export interface IndexFile {
  /** Null when the index is empty. */
  mark(): IndexMark | null;
  /**
   * Adds requests and sets the mark. Returns false, and adds nothing, when another process has changed the
   * mark since it was `seen`.
   */
  put(seen: IndexMark | null, requests: readonly IndexedRequest[], mark: IndexMark): boolean;
  holding(terms: readonly IndexTerm[], span: SequenceSpan): readonly number[];
  /** Yields, for one part after the other, how many requests hold all the words. */
  counts(terms: readonly IndexTerm[]): Iterable<number>;
  /** Deletes the words of all requests with lower numbers. */
  forgetBefore(sequence: number): void;
  close(): void;
}

export function indexPathOf(databasePath: string): string {
  return `${databasePath}.search`;
}

/** Opens the index file, and creates a missing one. Throws what SQLite and the file system report. */
export function openIndexFile(path: string, busyTimeoutMs: number): IndexFile {
  // SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { timeout: busyTimeoutMs });
  try {
    database.pragma('journal_mode = WAL');
    // What a power loss takes is filled in again.
    database.pragma('synchronous = NORMAL');
    database.pragma('trusted_schema = OFF');
    prepareTables(database);
    return createIndexFile(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

export function removeIndexFile(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
}

function prepareTables(database: Database.Database): void {
  const make = database.transaction(() => {
    const version = Number(database.pragma('user_version', { simple: true }));
    if (version === format) return;
    if (version !== 0) throw new Database.SqliteError('an index of another format', 'SQLITE_CORRUPT');
    database.exec(
      `CREATE TABLE mark (id INTEGER PRIMARY KEY CHECK (id = 1), low INTEGER NOT NULL, high INTEGER NOT NULL,
         marked INTEGER NOT NULL, hash TEXT NOT NULL) STRICT`,
    );
    database.pragma(`user_version = ${format}`);
  });
  make.immediate();
}

function createIndexFile(database: Database.Database): IndexFile {
  const selectMark = database.prepare<[], IndexMark>('SELECT low, high, marked, hash FROM mark');
  const setMark = database.prepare<[IndexMark]>(
    'INSERT OR REPLACE INTO mark (id, low, high, marked, hash) VALUES (1, @low, @high, @marked, @hash)',
  );
  const parts = prepareParts(database);
  const mark = () => selectMark.get() ?? null;
  const put = database.transaction(
    (seen: IndexMark | null, requests: readonly IndexedRequest[], next: IndexMark) => {
      const present = mark();
      if (present?.low !== seen?.low || present?.high !== seen?.high) return false;
      for (const { sequence, words } of requests) parts.put(sequence, words.join(' '));
      setMark.run(next);
      return true;
    },
  );
  return {
    mark,
    put: (...args) => put.immediate(...args),
    counts: (terms) => parts.counts(wantedOf(terms)),
    holding(terms, { before, countMax }) {
      const match = wantedOf(terms);
      const ids: number[] = [];
      for (const part of parts.downFrom(before)) {
        ids.push(...parts.holding(part, match, { before, countMax: countMax - ids.length }));
        if (ids.length === countMax) break;
      }
      return ids;
    },
    forgetBefore: database.transaction(parts.forgetBefore).immediate,
    close: () => void database.close(),
  };
}

function wantedOf(terms: readonly IndexTerm[]): string {
  return terms.map(({ word, isWhole }) => `"${word}"${isWhole ? '' : ' *'}`).join(' AND ');
}

/** Full-text tables, one for each span of record numbers, named after its place. */
function prepareParts(database: Database.Database) {
  const inserts = new Map<number, Database.Statement<[number, string]>>();
  const selects = new Map<number, Database.Statement<[string, number, number], { rowid: number }>>();
  const names = database.prepare<[], { name: string }>(
    "SELECT name FROM sqlite_schema WHERE name GLOB 'words_[0-9]*' AND sql LIKE 'CREATE VIRTUAL TABLE%'",
  );
  const partOf = (sequence: number) => Math.floor(sequence / numbersPerPart);
  const all = () => names.all().map(({ name }) => Number(name.slice('words_'.length)));
  const insertOf = (part: number) => {
    const cached = inserts.get(part);
    if (cached !== undefined) return cached;
    // Words come in the form in which they are searched for, so the tokeniser must not make two words equal.
    // The table only keeps which request holds a word.
    database.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS words_${part} USING fts5(words, content='', contentless_delete=1, detail=none,
         tokenize='ascii')`,
    );
    const statement = database.prepare<[number, string]>(
      `INSERT INTO words_${part} (rowid, words) VALUES (?, ?)`,
    );
    inserts.set(part, statement);
    return statement;
  };
  const selectOf = (part: number) => {
    const cached = selects.get(part);
    if (cached !== undefined) return cached;
    const made = database.prepare<[string, number, number], { rowid: number }>(
      `SELECT rowid FROM words_${part} WHERE words_${part} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`,
    );
    selects.set(part, made);
    return made;
  };
  return {
    put: (sequence: number, text: string): void => void insertOf(partOf(sequence)).run(sequence, text),
    downFrom: (before: number): readonly number[] =>
      all()
        .filter((part) => part * numbersPerPart < before)
        .sort((a, b) => b - a),
    holding: (part: number, match: string, { before, countMax }: SequenceSpan): readonly number[] =>
      selectOf(part)
        .all(match, before, countMax)
        .map(({ rowid }) => rowid),
    *counts(wanted: string): Iterable<number> {
      for (const part of all()) {
        const text = `SELECT count(*) AS count FROM words_${part} WHERE words_${part} MATCH ?`;
        yield database.prepare<[string], { count: number }>(text).get(wanted)?.count ?? 0;
      }
    },
    forgetBefore(sequence: number): void {
      for (const part of all()) {
        if ((part + 1) * numbersPerPart <= sequence) {
          inserts.delete(part);
          selects.delete(part);
          database.exec(`DROP TABLE words_${part}`);
        } else if (part === partOf(sequence)) {
          const { changes } = database.prepare(`DELETE FROM words_${part} WHERE rowid < ?`).run(sequence);
          // Deleted words stay in the file until the part is written again.
          if (changes > 0) database.exec(`INSERT INTO words_${part} (words_${part}) VALUES ('optimize')`);
        }
      }
    },
  };
}
