// Writes documents into rows. INVARIANT: several documents are written together or not at all, by a writer
// that has seen their latest versions, and with the record of who did it.

import type { DocumentPut, DocumentResult, DocumentWrite, ManagementChange } from '../contract/documents.ts';
import type { Transaction, Work } from './transaction.ts';

export function writeDocuments(
  writes: readonly DocumentWrite[],
  change: ManagementChange | null,
): Work<DocumentResult> {
  return async (transaction) => {
    for (const write of writes) {
      const problem = await problemOf(transaction, write);
      if (problem !== null) return problem;
    }
    for (const write of writes) {
      if ('isRemoval' in write) await remove(transaction, write.kind, write.id);
      else await put(transaction, write);
    }
    if (change === null) return 'changed';
    for (const kind of new Set(writes.map((write) => write.kind))) await raiseGeneration(transaction, kind);
    transaction.recordChange(change);
    return 'changed';
  };
}

export function removeEnded(kind: string, atMs: number, countMax: number): Work<number> {
  return async ({ rows }) => {
    const removed = await rows(
      `DELETE FROM documents WHERE kind = $1 AND id IN (
         SELECT id FROM documents WHERE kind = $1 AND ends_ms < $2 LIMIT $3) RETURNING 1`,
      [kind, atMs, countMax],
    );
    return removed.length;
  };
}

/** Returns what prevents a write, before anything is changed; null when nothing does. */
async function problemOf(
  { rows }: Transaction,
  write: DocumentWrite,
): Promise<Exclude<DocumentResult, 'changed'> | null> {
  const { kind, id, seen } = write;
  const [present] = await rows<{ readonly version: number }>(
    'SELECT version FROM documents WHERE kind = $1 AND id = $2',
    [kind, id],
  );
  if ((present?.version ?? 0) !== seen) return 'conflict';
  if ('isRemoval' in write || write.name === null) return null;
  const holders = await rows(
    'SELECT 1 FROM documents WHERE kind = $1 AND lower(name) = lower($2 COLLATE "C") AND id <> $3',
    [kind, write.name, id],
  );
  return holders.length === 0 ? null : 'name-taken';
}

async function put({ rows }: Transaction, write: DocumentPut): Promise<void> {
  const { kind, id, seen, name, parent, createdAtMs, endsAtMs, json } = write;
  await rows(
    `INSERT INTO documents (kind, id, version, name, parent, created_ms, ends_ms, document_json)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, name = excluded.name,
       parent = excluded.parent, ends_ms = excluded.ends_ms, document_json = excluded.document_json`,
    [kind, id, seen + 1, name, parent, createdAtMs, endsAtMs, json],
  );
}

async function remove({ rows }: Transaction, kind: string, id: string): Promise<void> {
  await rows('DELETE FROM documents WHERE kind = $1 AND id = $2', [kind, id]);
}

async function raiseGeneration({ rows }: Transaction, kind: string): Promise<void> {
  await rows(
    `INSERT INTO document_kinds (kind, generation) VALUES ($1, 1)
     ON CONFLICT (kind) DO UPDATE SET generation = document_kinds.generation + 1`,
    [kind],
  );
}
