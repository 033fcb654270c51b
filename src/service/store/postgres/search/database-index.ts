// Fills a table with the words of requests, by whichever process comes first. The newest requests go first,
// then those from before the index existed, from newer to older.

import { indexedTerms, type SearchedRequest } from '../../contract/search-text.ts';
import { postgresDialect } from '../../queries/dialect.ts';
import type { IndexTerm, SearchIndex, SequenceSpan } from '../../shared/search/search-index.ts';
import { searchReads } from '../../shared/search/search-reads.ts';
import { settledSequence } from '../chain.ts';
import { type Connection, connect } from '../server/connection.ts';
import { withNames } from '../server/named-parameters.ts';
import type { Rows } from '../server/read-pool.ts';

interface Mark {
  readonly low: number | null;
  readonly high: number | null;
}

interface Ends {
  readonly first: number | null;
  readonly last: number | null;
}

const columns =
  'sequence, id, agent_id AS "agentId", action_key AS "actionKey", outcome, record_json AS "recordJson"';
const endsText =
  'SELECT (SELECT min(sequence) FROM requests) AS first, (SELECT max(sequence) FROM requests) AS last';
const markText = `SELECT low, high, first, last FROM search_mark, (${endsText}) AS ends WHERE id = 1`;
const unindexed = {
  newer: `SELECT ${columns} FROM requests WHERE sequence > $1 AND sequence <= $3 ORDER BY sequence LIMIT $2`,
  older: `SELECT ${columns} FROM requests WHERE sequence <= $1 AND sequence <= $3 ORDER BY sequence DESC LIMIT $2`,
} as const;

/**
 * The newest rows are looked through first: they hold a page of whatever is common, and faster than the index
 * returns all of it. Of what is rare, the index returns little.
 */
const newestRows = 5_000;
const newest = `SELECT sequence, words FROM request_words WHERE sequence < $1 ORDER BY sequence DESC LIMIT ${newestRows}`;

export function openDatabaseIndex(url: string): SearchIndex {
  let connection: Connection | null = null;
  let forgotten = 0;

  async function connected(): Promise<Connection> {
    if (connection === null || connection.isLost()) connection = await connect(url);
    return connection;
  }
  const rows: Rows = async <R>(text: string, values: readonly unknown[] = []) =>
    (await connected()).query<R>({ text }, values);

  const queries = { sql: postgresDialect, rows: withNames(rows) };

  async function transaction<T>(work: () => Promise<T>): Promise<T> {
    await rows('BEGIN');
    try {
      const value = await work();
      await rows('COMMIT');
      return value;
    } catch (error) {
      // The server rolls back when the connection breaks.
      connection?.destroy();
      connection = null;
      throw error;
    }
  }

  /** Returns whether more may follow. Beyond `settled`, requests may still appear between stored ones. */
  async function takeIn(which: 'newer' | 'older', countMax: number, settled: number): Promise<boolean> {
    const [mark] = await rows<Mark>('SELECT low, high FROM search_mark WHERE id = 1 FOR UPDATE');
    const [ends] = await rows<Ends>(endsText);
    const [first, last] = [ends?.first ?? 0, Math.min(ends?.last ?? 0, settled)];
    if (first > forgotten) await rows('DELETE FROM request_words WHERE sequence < $1', [first]);
    forgotten = Math.max(forgotten, first);
    const [low, high] = [mark?.low ?? last, mark?.high ?? last];
    const from = which === 'newer' ? high : low;
    const rowsRead = await rows<SearchedRequest & { readonly sequence: number }>(unindexed[which], [
      from,
      countMax,
      settled,
    ]);
    const isMore = rowsRead.length === countMax;
    await putWords(rows, rowsRead);
    const end = rowsRead.at(-1)?.sequence;
    // There is nothing below the oldest stored request.
    const next =
      which === 'newer'
        ? { low, high: end ?? high }
        : { low: isMore && end !== undefined ? end - 1 : 0, high };
    await rows('UPDATE search_mark SET low = $1, high = $2 WHERE id = 1', [next.low, next.high]);
    return isMore;
  }

  /** Whether the index already has everything of this side. Takes no lock. */
  async function isIn(which: 'newer' | 'older'): Promise<boolean> {
    const [mark] = await rows<Mark & Ends>(markText);
    if (mark === undefined || mark.low === null || mark.high === null) return false;
    if ((mark.first ?? 0) > forgotten) return false;
    return which === 'newer' ? mark.high >= (mark.last ?? 0) : mark.low < (mark.first ?? 1);
  }

  return {
    async takeIn(which, countMax) {
      if (await isIn(which)) return false;
      // Read before the transaction, in which its lock would keep all writers waiting.
      const settled = await settledSequence(rows);
      return await transaction(() => takeIn(which, countMax, settled));
    },
    async unsearched() {
      const [mark] = await rows<Mark & Ends>(markText);
      const { low = null, high = null, first = null, last = null } = mark ?? {};
      if (first === null || last === null) return 0;
      if (low === null || high === null) return last - first + 1;
      return Math.max(0, low - first + 1) + Math.max(0, last - high);
    },
    holding: (terms, span) => holding(rows, terms, span),
    async count(terms) {
      const text =
        terms.length === 0
          ? 'SELECT count(*) AS count FROM requests'
          : 'SELECT count(*) AS count FROM request_words WHERE words @@ $1::tsquery';
      const values = terms.length === 0 ? [] : [wantedOf(terms)];
      const [counted] = await rows<{ readonly count: number }>(text, values);
      return { count: counted?.count ?? 0, isWhole: true };
    },
    ...searchReads(queries),
    close: async () => await connection?.end(),
  };
}

async function putWords(
  rows: Rows,
  rowsRead: readonly (SearchedRequest & { readonly sequence: number })[],
): Promise<void> {
  await rows(
    `INSERT INTO request_words SELECT sequence, array_to_tsvector(string_to_array(words, ' '))
     FROM unnest($1::int8[], $2::text[]) AS taken (sequence, words) ON CONFLICT DO NOTHING`,
    [rowsRead.map(({ sequence }) => sequence), rowsRead.map((one) => indexedTerms(one).join(' '))],
  );
}

function wantedOf(terms: readonly IndexTerm[]): string {
  return terms.map(({ word, isWhole }) => `'${word}'${isWhole ? '' : ':*'}`).join(' & ');
}

async function holding(
  rows: Rows,
  terms: readonly IndexTerm[],
  { before, countMax }: SequenceSpan,
): Promise<readonly number[]> {
  const match = wantedOf(terms);
  const hits = await rows<{ readonly sequence: number }>(
    `SELECT sequence FROM (${newest}) AS newest WHERE words @@ $2::tsquery LIMIT $3`,
    [before, match, countMax],
  );
  const near = hits.map(({ sequence }) => sequence);
  if (near.length === countMax) return near;
  const [end] = await rows<{ readonly low: number | null }>(
    `SELECT min(sequence) AS low FROM (${newest}) AS newest`,
    [before],
  );
  if (end === undefined || end.low === null) return near;
  const far = await rows<{ readonly sequence: number }>(
    `WITH held AS MATERIALIZED (SELECT sequence FROM request_words WHERE words @@ $2::tsquery AND sequence < $1)
     SELECT sequence FROM held ORDER BY sequence DESC LIMIT $3`,
    [end.low, match, countMax - near.length],
  );
  return [...near, ...far.map(({ sequence }) => sequence)];
}
