// Checks the state of an SQLite store against its seal. The check has a connection of its own, so a long one
// reads one snapshot and keeps nobody waiting.

import { setImmediate as pause } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { type SealKey, sealKeyOf } from '../contract/seal.ts';
import type { StateCheck, StateDifference, StateStore } from '../contract/state.ts';
import { withStoreErrors } from './file/errors.ts';
import { checkStored, quickRowsMax } from './seal/seal-check.ts';
import type { WriteQueue } from './write-queue.ts';

export interface StateSource {
  readonly path: string;
  readonly openReader: () => Database;
  readonly masterKey: Uint8Array;
}

export function stateStore({ path, openReader, masterKey }: StateSource, queue: WriteQueue): StateStore {
  const key = sealKeyOf(masterKey);
  return {
    async differences(check) {
      const database = withStoreErrors(path, openReader);
      try {
        database.exec('BEGIN');
        return await differencesOf({ path, database, key }, check);
      } finally {
        database.close();
      }
    },
    async accept(acceptance) {
      await queue.write({ kind: 'accept-state', acceptance });
    },
  };
}

interface OpenState {
  readonly path: string;
  readonly database: Database;
  readonly key: SealKey;
}

async function differencesOf(
  { path, database, key }: OpenState,
  { isQuick, onProgress }: StateCheck,
): Promise<readonly StateDifference[]> {
  // A query over an index does not find rows that a damaged index leaves out.
  const damage = isQuick ? 'ok' : withStoreErrors(path, () => integrityOf(database));
  const damaged = damage === 'ok' ? [] : [{ table: 'sqlite_schema', row: null, message: damage }];
  const checking = checkStored(database, { key, rowsMax: isQuick ? quickRowsMax : null });
  const next = () => withStoreErrors(path, () => checking.next());
  let step = next();
  for (; step.done !== true; step = next()) {
    onProgress?.(step.value);
    await pause();
  }
  return [...damaged, ...step.value];
}

function integrityOf(database: Database): string {
  return String(database.pragma('integrity_check(1)', { simple: true }));
}
