// Documents in PostgreSQL: read over the pool, changed over the queue of commits.

import { type DocumentRow, type DocumentStore, kindsOf } from '../contract/documents.ts';
import { createChangeCount } from '../shared/change-count.ts';
import type { CommitQueue } from './commit-queue.ts';
import { removeEnded, writeDocuments } from './document-writes.ts';
import type { ReadPool } from './server/read-pool.ts';

const columns =
  'kind, id, version, name, parent, created_ms AS "createdAtMs", ends_ms AS "endsAtMs", document_json AS json';

export function documentStore({ rows }: ReadPool, queue: Pick<CommitQueue, 'write'>): DocumentStore {
  const changes = createChangeCount();
  return {
    async find(kind, id) {
      const text = `SELECT ${columns} FROM documents WHERE kind = $1 AND id = $2`;
      return (await rows<DocumentRow>(text, [kind, id]))[0] ?? null;
    },
    async findByName(kind, name) {
      const text = `SELECT ${columns} FROM documents WHERE kind = $1 AND lower(name) = lower($2 COLLATE "C")`;
      return (await rows<DocumentRow>(text, [kind, name]))[0] ?? null;
    },
    list: ({ kind, parent, after, countMax }) =>
      rows<DocumentRow>(
        `SELECT ${columns} FROM documents
         WHERE kind = $1 AND ($2::text IS NULL OR parent = $2) AND (created_ms, id) < ($3, $4)
         ORDER BY created_ms DESC, id DESC LIMIT $5`,
        [kind, parent, after?.createdAtMs ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', countMax],
      ),
    async generation(kind) {
      const text = 'SELECT generation FROM document_kinds WHERE kind = $1';
      return (await rows<{ readonly generation: number }>(text, [kind]))[0]?.generation ?? 0;
    },
    write: (writes, change) =>
      changes.during(kindsOf(writes), () =>
        queue.write(writeDocuments(writes, change), change === null ? 'left' : 'kept'),
      ),
    removeEnded: (kind, atMs, countMax) =>
      changes.during([kind], () => queue.write(removeEnded(kind, atMs, countMax), 'left')),
    changesHere: changes.of,
  };
}
