// Documents in an SQLite database: queries for the thread that reads, statements for the writer.

import type { Database } from 'better-sqlite3';
import type {
  DocumentPut,
  DocumentResult,
  DocumentRow,
  DocumentWrite,
  ManagementChange,
} from '../contract/documents.ts';
import { documentColumns } from '../queries/documents.ts';
import type { WriteContext } from './write-context.ts';

export function prepareDocumentReads(database: Database) {
  const byId = database.prepare<[string, string], DocumentRow>(
    `SELECT ${documentColumns} FROM documents WHERE kind = ? AND id = ?`,
  );
  const byName = database.prepare<[string, string], DocumentRow>(
    `SELECT ${documentColumns} FROM documents WHERE kind = ? AND name = ?`,
  );
  const generation = database
    .prepare<[string], number>('SELECT generation FROM document_kinds WHERE kind = ?')
    .pluck();
  return {
    generation: (kind: string): number => generation.get(kind) ?? 0,
    document: (kind: string, id: string): DocumentRow | null => byId.get(kind, id) ?? null,
    documentByName: (kind: string, name: string): DocumentRow | null => byName.get(kind, name) ?? null,
  };
}

interface DocumentBatch {
  readonly writes: readonly DocumentWrite[];
  readonly change: ManagementChange | null;
}

interface EndedDocuments {
  readonly documentKind: string;
  readonly atMs: number;
  readonly countMax: number;
}

export function prepareDocumentWrites(database: Database, { recordChange: record }: WriteContext) {
  const versionOf = database.prepare<[string, string], Pick<DocumentRow, 'version'>>(
    'SELECT version FROM documents WHERE kind = ? AND id = ?',
  );
  const holderOf = database.prepare<[string, string], Pick<DocumentRow, 'id'>>(
    'SELECT id FROM documents WHERE kind = ? AND name = ?',
  );
  const put = database.prepare<[DocumentPut]>(
    `INSERT INTO documents (kind, id, version, name, parent, created_ms, ends_ms, document_json)
     VALUES (@kind, @id, @seen + 1, @name, @parent, @createdAtMs, @endsAtMs, @json)
     ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, name = excluded.name,
       parent = excluded.parent, ends_ms = excluded.ends_ms, document_json = excluded.document_json`,
  );
  const remove = database.prepare<[string, string]>('DELETE FROM documents WHERE kind = ? AND id = ?');
  const raiseGeneration = database.prepare<[string]>(
    `INSERT INTO document_kinds (kind, generation) VALUES (?, 1)
     ON CONFLICT (kind) DO UPDATE SET generation = generation + 1`,
  );
  const removeEnded = database.prepare<[string, number, number]>(
    `DELETE FROM documents WHERE (kind, id) IN (
       SELECT kind, id FROM documents WHERE kind = ? AND ends_ms < ? LIMIT ?)`,
  );

  /** Returns what prevents a write, before anything is changed; null when nothing does. */
  function problemOf(write: DocumentWrite): Exclude<DocumentResult, 'changed'> | null {
    const { kind, id, seen } = write;
    if ((versionOf.get(kind, id)?.version ?? 0) !== seen) return 'conflict';
    if ('isRemoval' in write || write.name === null) return null;
    const holder = holderOf.get(kind, write.name)?.id ?? id;
    return holder === id ? null : 'name-taken';
  }

  return {
    'write-documents'({ writes, change }: DocumentBatch): DocumentResult {
      for (const write of writes) {
        const problem = problemOf(write);
        if (problem !== null) return problem;
      }
      for (const write of writes) {
        if ('isRemoval' in write) remove.run(write.kind, write.id);
        else put.run(write);
      }
      if (change !== null) {
        for (const kind of new Set(writes.map((write) => write.kind))) raiseGeneration.run(kind);
        record(change);
      }
      return 'changed';
    },
    'remove-documents': ({ documentKind, atMs, countMax }: EndedDocuments): number =>
      removeEnded.run(documentKind, atMs, countMax).changes,
  };
}
