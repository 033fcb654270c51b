// Whether agent, key, switches and people still are as a decision saw them, judged under the lock of a batch's transaction.
// What many requests share is read once. INVARIANT: what is remembered is forgotten with each write that may change it, and
// at the beginning of a transaction where another process may have written, or where the one before was rolled back.

import type { Database } from 'better-sqlite3';
import { BoundedMap, memo } from '../../../language/value/memo.ts';
import { type GrantBasis, switchKind } from '../contract/grant-basis.ts';

export interface BasisCheck {
  /** Whether all is as it was seen; `atMs` is the moment of the decision, at which the key must be good. */
  holds(basis: GrantBasis, atMs: number): boolean;
  /** Something may have changed: by another process, by an agent or a document that was written, by a write taken back. */
  forget(): void;
}

/** Beyond this many agents all are forgotten, and read again. */
const agentsMax = 10_000;

/** In place of a version where there is no such row. */
const noVersion = 0;

export function prepareBasisCheck(database: Database): BasisCheck {
  const agentVersion = database.prepare<[string], number>('SELECT version FROM agents WHERE id = ?').pluck();
  const generation = database
    .prepare<[string], number>('SELECT generation FROM document_kinds WHERE kind = ?')
    .pluck();
  const documentVersion = database
    .prepare<[string, string], number>('SELECT version FROM documents WHERE kind = ? AND id = ?')
    .pluck();
  const agents = new BoundedMap<string, number>(agentsMax);
  let switches: number | null = null;

  const readVersion = (id: string): number => agentVersion.get(id) ?? noVersion;

  return {
    holds({ agentId, agentVersion: seen, keyNotAfterMs, switchGeneration, documents }, atMs) {
      switches ??= generation.get(switchKind) ?? 0;
      return (
        seen !== noVersion &&
        memo(agents, agentId, readVersion) === seen &&
        (keyNotAfterMs === null || atMs < keyNotAfterMs) &&
        switches === switchGeneration &&
        documents.every(({ kind, id, version }) => (documentVersion.get(kind, id) ?? noVersion) === version)
      );
    },
    forget() {
      agents.clear();
      switches = null;
    },
  };
}
