// A store with rows in every table, and the means of an intruder who can write its file but does not have its
// key.

import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { createCheckpointSigner } from '../../../src/service/audit/checkpoint.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { DocumentPut } from '../../../src/service/store/contract/documents.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { growTree } from '../../../src/service/transparency-log/grow-tree.ts';
import { createTransparencyLog } from '../../../src/service/transparency-log/transparency-log.ts';
import { agentRow, keyRow, pendingRow, refusalRecord, requestRow, startMs } from '../store/rows.ts';

const entry = { definition: 'd1', key: 'agent-1', isCertain: true, value: '12.5' };

function document(id: string, kind: string): DocumentPut {
  const json = JSON.stringify({ id, roles: ['approver'], groups: ['finance'] });
  const times = { createdAtMs: startMs, endsAtMs: startMs + 1_000_000 };
  return { kind, id, seen: 0, name: `${id}@example.com`, parent: 'p', ...times, json };
}

/** Adds at least two rows to each table, except for the hash tree, of which a tile has all records. */
export async function fillStore(store: Store): Promise<void> {
  for (const id of ['agent-1', 'agent-2']) {
    await store.agents.add(agentRow({ id, sealedSigningSecret: `sealed ${id}` }), keyRow(id));
  }
  await store.meters.note(['d1', 'd2'], startMs);
  const [first, second] = [requestRow(), pendingRow({ expiresAtMs: startMs + 1_000_000 })];
  const idempotency = { key: 'k', bodyDigest: 'd', keptUntilMs: startMs + 1 };
  for (const row of [first, second, requestRow({ idempotency })]) {
    await store.requests.append(row, { openMax: 20 }, [entry, { ...entry, definition: 'd2' }]);
  }
  const state = { status: 'pending', decidedAtMs: null, expiresAtMs: startMs + 1_000_000 } as const;
  const event = { who: 'ann', atMs: startMs + 1, what: 'approved', detail: null, state } as const;
  await store.requests.change({
    requestId: second.id,
    events: [event, event],
    from: ['pending'],
    seen: null,
  });
  const granted = { fromMs: startMs - 1, untilMs: startMs + 9, countMax: 1 };
  for (const definition of ['d1', 'd2']) await store.meters.keepSnapshot(definition, granted);
  for (const bodyDigest of ['b1', 'b2']) await store.requests.appendRefusal(refusalRecord({ bodyDigest }));
  for (const [at, kind] of ['person', 'session', 'token', 'switch', 'group', 'webhook'].entries()) {
    const change = {
      atMs: startMs,
      who: 'ann',
      what: `${kind}-made`,
      subject: kind,
      before: null,
      after: {},
    };
    await store.documents.write([document(`${kind}-${at}`, kind)], at % 2 === 0 ? change : null);
  }
  for (const id of [1n, 2n ** 62n]) await store.plants.add({ id, name: `plant ${id}`, tag: null });
  await store.settings.putIfAbsent('sandbox.token_sha256', 'ab');
  const puts = [1, 2].map((atMs) => ({ atMs, spanMs: 60_000, json: '{}' }));
  const hits = ['a', 'b'].map((rule) => ({ rule, decided: 1, met: 2, lastAtMs: 7 }));
  const shadowChanges = ['a', 'b'].map((rule) => ({ rule, from: 'ALLOW', to: 'DENY', count: 3 }));
  const mark = { throughMs: 5, afterSequence: 1, sinceMs: 2 };
  await store.statistics.change({ puts, removed: null, hits, shadowChanges, mark });
  const signer = createCheckpointSigner(store.masterKey);
  const chain = await verifyChain(store);
  if (chain.kind === 'broken') throw new Error(chain.break.message);
  for (const atMs of [startMs, startMs + 1])
    await store.chain.addCheckpoint(signer.sign(chain.end, 'end', atMs));
  for (const nonce of ['n1', 'n2']) {
    store.nonces.note({ nonce, usedAtMs: startMs, keptUntilMs: startMs + 600_000 });
  }
  await store.requests.append(requestRow(), { openMax: 20 });
  await growTree(store.tree);
  await createTransparencyLog({
    store,
    origin: 'writ.example.com/writ',
    witnesses: [],
    quorum: 0,
    clock: () => startMs,
    onFault: (message) => {
      throw new Error(message);
    },
    onFailure: () => undefined,
  }).turn();
}

export interface Tampering {
  readonly database: Database.Database;
  readonly tables: readonly string[];
  columnsOf(table: string): readonly Column[];
  /** Saves the rows of a table; the returned function restores them. */
  keep(table: string): () => void;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
}

/** Opens the file with all checks of the database itself turned off. */
export function openForTampering(path: string): Tampering {
  const database = new Database(path);
  onTestFinished(() => void database.close());
  database.pragma('foreign_keys = OFF');
  database.pragma('ignore_check_constraints = ON');
  database.defaultSafeIntegers();
  const tables = database
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all();
  const columnsOf = (table: string) =>
    database
      .prepare<[string], { name: string; type: string; notnull: bigint; pk: bigint }>(
        'SELECT * FROM pragma_table_info(?)',
      )
      .all(table)
      .map(({ name, type, notnull, pk }) => ({ name, type, isNullable: notnull === 0n && pk === 0n }));
  return {
    database,
    tables,
    columnsOf,
    keep(table) {
      const rows = database.prepare<[], unknown[]>(`SELECT * FROM ${table}`).raw().all();
      const holes = columnsOf(table).map(() => '?');
      const insert = database.prepare(`INSERT INTO ${table} VALUES (${holes})`);
      return database.transaction(() => {
        database.exec(`DELETE FROM ${table}`);
        for (const row of rows) insert.run(...row);
      });
    },
  };
}
