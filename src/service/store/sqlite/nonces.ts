// Stores uses of nonces in rows, which are deleted when their time is over: the table holds little more than
// ten minutes of them.

import type { Database } from 'better-sqlite3';
import type { NonceUse } from '../contract/records.ts';

/** Returns a function that stores uses of nonces, to be called inside a transaction. */
export function prepareNonceWrites(database: Database): (uses: readonly NonceUse[]) => void {
  // Bound by position, which takes less time than by name.
  const insert = database.prepare<[number, number, string]>(
    'INSERT INTO nonces (kept_until_ms, used_ms, nonce) VALUES (?, ?, ?)',
  );
  const forget = database.prepare<[number]>('DELETE FROM nonces WHERE kept_until_ms < ?');
  return (uses) => {
    for (const { keptUntilMs, usedAtMs, nonce } of uses) insert.run(keptUntilMs, usedAtMs, nonce);
    const latest = uses.at(-1);
    if (latest !== undefined) forget.run(latest.usedAtMs);
  };
}

export function prepareNonceReads(database: Database): () => readonly NonceUse[] {
  const select = database.prepare<[], NonceUse>(
    'SELECT nonce, used_ms AS usedAtMs, kept_until_ms AS keptUntilMs FROM nonces ORDER BY kept_until_ms',
  );
  return () => select.all();
}
