// Checks, under the lock of a batch's transaction, whether agent, key, switches and people are still as a
// decision saw them. Versions that many requests share are read once. INVARIANT: a remembered version is
// forgotten after each write that may change it, and at the beginning of a transaction when another process
// may have written or the transaction before was rolled back.

import type { Database } from 'better-sqlite3';
import { BoundedMap, memo } from '../../../language/value/memo.ts';
import { type GrantPrecondition, switchKind } from '../contract/grant-precondition.ts';

export interface PreconditionCheck {
  /**
   * Whether everything is as the decision saw it, and the key is valid at `atMs`, the moment of the decision.
   */
  holds(precondition: GrantPrecondition, atMs: number): boolean;
  /**
   * To be called when something may have changed: by another process, by a write to an agent or a document,
   * or by a write that was undone.
   */
  forget(): void;
}

/** Beyond this many agents all are forgotten and read again. */
const agentsMax = 10_000;

/** Stands for the version of a row that does not exist. */
const noVersion = 0;

export function preparePreconditionCheck(database: Database): PreconditionCheck {
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
