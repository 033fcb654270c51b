// Records changes of management at the end of the chain: who did what to whom, with the state before and
// after. INVARIANT: no secret is in a record, encrypted or not.

import type { Database } from 'better-sqlite3';
import type { CanonicalValue } from '../contract/canonical-json.ts';
import { canonicalJson } from '../contract/canonical-json.ts';
import type { Link } from '../contract/chain.ts';
import type { Chain } from './chain/chain.ts';

export interface StoredChange {
  readonly atMs: number;
  /** What happened, such as `agent-added`. */
  readonly what: string;
  /** The author's name in the record; the store's own actor when absent. */
  readonly who?: string | undefined;
  /** The id of the agent or document; empty when the change concerns neither. */
  readonly subject: string;
  /** The subject before the change; null when there was none. */
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

interface ChangeColumns {
  readonly at_ms: number;
  readonly who: string;
  readonly what: StoredChange['what'];
  readonly subject: string;
  readonly before_json: string | null;
  readonly after_json: string | null;
}

/** Returns a function that records a change, in the transaction that makes it. */
export function prepareChanges(
  database: Database,
  chain: Chain,
  actor: string,
): (change: StoredChange) => void {
  const insert = database.prepare<[ChangeColumns & Link]>(
    `INSERT INTO changes (sequence, at_ms, who, what, subject, before_json, after_json, hash)
     VALUES (@sequence, @at_ms, @who, @what, @subject, @before_json, @after_json, @hash)`,
  );
  return ({ atMs, what, who = actor, subject, before, after }) => {
    const columns: ChangeColumns = {
      at_ms: atMs,
      who,
      what,
      subject,
      before_json: before === null ? null : canonicalJson(before),
      after_json: after === null ? null : canonicalJson(after),
    };
    chain.append('change', columns, (row, link) => insert.run({ ...row, ...link }));
  };
}
