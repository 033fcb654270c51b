// A store with seven records of every kind, and the means of an intruder who has its file but not its key.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import {
  agentRow,
  keyRow,
  pendingRow,
  refusalRecord,
  requestRow,
  startMs,
  temporaryFolder,
} from '../store/rows.ts';

export interface ChainedStore {
  readonly store: Store;
  readonly path: string;
  /** Runs statements on the file behind the store's back. */
  readonly tamper: (...statements: readonly string[]) => void;
}

/**
 * Records 1 to 7: agent added, requests, refusal, agent disabled, requests; a second apart from `startMs` on.
 */
export async function createChainedStore(): Promise<ChainedStore> {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path, actor: 'ops' });
  onTestFinished(() => store.close());
  const agent = agentRow({ id: 'agent-1' });
  await store.agents.add(agent, keyRow(agent.id));
  const append = (secondsLater: number) =>
    store.requests.append(requestRow({ createdAtMs: startMs + secondsLater * 1000 }), { openMax: 20 });
  await append(1);
  await append(2);
  await store.requests.appendRefusal(refusalRecord({ atMs: startMs + 3000 }));
  await store.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: startMs + 4000 });
  await append(5);
  const open = pendingRow({ createdAtMs: startMs + 6000, expiresAtMs: startMs + 1_000_000 });
  await store.requests.append(open, { openMax: 20 });
  return { store, path, tamper: (...statements) => tamper(path, statements) };
}

function tamper(path: string, statements: readonly string[]): void {
  const database = new Database(path);
  try {
    for (const statement of statements) {
      if (database.prepare(statement).run().changes === 0) throw new Error(`nothing changed: ${statement}`);
    }
  } finally {
    database.close();
  }
}

/** The number and the name of each record. */
export async function listRecords(store: Store): Promise<readonly (readonly [number, string])[]> {
  const { records } = await store.chain.segment(0, 1000);
  return records.map(({ entry }) => [
    entry.sequence,
    String(entry.kind === 'change' ? entry.what : entry.kind),
  ]);
}
