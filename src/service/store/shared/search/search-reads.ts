// Reads the requests that a search looks at. Each store has an index of its own that names them.

import type { SearchedRequest } from '../../contract/search-text.ts';
import type { QueryRunner } from '../../queries/dialect.ts';
import { numberReads, requestQueries, type ScanRow } from '../../queries/request-lists.ts';
import type { SearchCandidate, SearchIndex } from './search-index.ts';

type SearchReads = Pick<SearchIndex, 'candidates' | 'walk' | 'numberAfter'>;

export function searchReads({ sql, rows }: Pick<QueryRunner, 'sql' | 'rows'>): SearchReads {
  const queries = requestQueries(sql);
  return {
    async candidates(sequences, { filter, isTextAsked }) {
      const rowsRead = await rows(queries.candidates(filter, sequences));
      return rowsRead.map((one) => lookedAtOf(one, isTextAsked ? one : null));
    },
    async walk({ before, countMax }, filter) {
      const rowsRead = await rows(queries.stretch(filter, before, countMax));
      return rowsRead.map((one) => lookedAtOf(one, null));
    },
    numberAfter: numberReads({ rows }).numberAfter,
  };
}

function lookedAtOf(
  { sequence, createdAtMs, isFit }: ScanRow,
  searched: SearchedRequest | null,
): SearchCandidate {
  return { sequence, createdAtMs, isFit: Boolean(isFit), searched };
}
