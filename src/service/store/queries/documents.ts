// Reads lists of documents. A document is found by its id or name in the stores: SQLite has it prepared, and the
// index of PostgreSQL takes names in lower case.

import type { DocumentRow, DocumentStore } from '../contract/documents.ts';
import { type QueryRunner, query } from './dialect.ts';

export const documentColumns =
  'kind, id, version, name, parent, created_ms AS "createdAtMs", ends_ms AS "endsAtMs", document_json AS json';

export function documentReads({ rows }: QueryRunner): Pick<DocumentStore, 'list'> {
  return {
    list({ kind, parent, after, countMax }) {
      const text = `SELECT ${documentColumns} FROM documents
        WHERE kind = @kind ${parent === null ? '' : 'AND parent = @parent'} AND (created_ms, id) < (@afterMs, @afterId)
        ORDER BY created_ms DESC, id DESC LIMIT @countMax`;
      const [afterMs, afterId] = [after?.createdAtMs ?? Number.MAX_SAFE_INTEGER, after?.id ?? ''];
      return rows(query<DocumentRow>(text, { kind, parent, afterMs, afterId, countMax }));
    },
  };
}
