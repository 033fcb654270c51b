// Stores the uses of nonces, those of one batch in one row: they come with nearly every signed request.

import type { Database } from 'better-sqlite3';
import type { NonceUse } from '../contract/records.ts';

/** The uses of nonces that a batch stores. */
export interface NonceBatch {
  /** The end of the last of them, in milliseconds since 1970. */
  readonly keptUntilMs: number;
  /** When the last of them was used. */
  readonly usedAtMs: number;
  readonly usesJson: string;
}

/** Returns one batch, or none when there are no uses. */
export function nonceBatchesOf(uses: readonly NonceUse[]): readonly NonceBatch[] {
  if (uses.length === 0) return [];
  return [
    {
      keptUntilMs: Math.max(...uses.map(({ keptUntilMs }) => keptUntilMs)),
      usedAtMs: Math.max(...uses.map(({ usedAtMs }) => usedAtMs)),
      usesJson: JSON.stringify(
        uses.map(({ nonce, usedAtMs, keptUntilMs }) => [nonce, usedAtMs, keptUntilMs]),
      ),
    },
  ];
}

const forgetEveryMs = 1_000;

/** Returns a function that stores uses, and forgets old ones now and then; to be called inside a transaction. */
export function prepareNonceWrites(database: Database): (batch: NonceBatch) => void {
  const insert = database.prepare<[number, string]>(
    'INSERT INTO nonce_batches (kept_until_ms, uses_json) VALUES (?, ?)',
  );
  // The first rows end first, give or take the clocks of the senders.
  const forget = database.prepare<[number]>(
    `DELETE FROM nonce_batches
     WHERE id < (SELECT id FROM nonce_batches WHERE kept_until_ms >= ? ORDER BY id LIMIT 1)`,
  );
  let forgottenAtMs = 0;
  return ({ keptUntilMs, usedAtMs, usesJson }) => {
    insert.run(keptUntilMs, usesJson);
    if (usedAtMs - forgottenAtMs < forgetEveryMs) return;
    forgottenAtMs = usedAtMs;
    forget.run(usedAtMs);
  };
}
