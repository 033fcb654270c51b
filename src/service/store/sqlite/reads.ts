// Look-ups as prepared statements, on a read-only connection of the calling thread. Outside of a transaction
// each query sees the latest commit of any process. All other reads are in `queries`.

import type { Database } from 'better-sqlite3';
import type { AgentRow, AgentWithKey, PlantRow } from '../contract/records.ts';
import type { SealKey } from '../contract/seal.ts';
import { type AgentColumns, agentRow, type KeyColumns, keyRow } from '../shared/rows.ts';
import { prepareChainReads } from './chain/chain-reads.ts';
import { prepareDocumentReads } from './documents.ts';
import { prepareMeterReads } from './meters.ts';
import { prepareRequestReads } from './request-reads.ts';

export type Reads = ReturnType<typeof prepareReads>;

export function prepareReads(database: Database, key: SealKey) {
  return {
    ...prepareAgentReads(database),
    ...prepareRequestReads(database, key),
    ...prepareChainReads(database),
    ...prepareDocumentReads(database),
    ...prepareMeterReads(database),
    ...prepareOtherReads(database),
  };
}

function prepareAgentReads(database: Database) {
  const byId = database.prepare<[string], AgentColumns>('SELECT * FROM agents WHERE id = ?');
  const byName = database.prepare<[string], AgentColumns>('SELECT * FROM agents WHERE name = ?');
  const keyById = database.prepare<[string], KeyColumns>('SELECT * FROM keys WHERE id = ?');
  return {
    agent(idOrName: string): AgentRow | null {
      const columns = byId.get(idOrName) ?? byName.get(idOrName);
      return columns === undefined ? null : agentRow(columns);
    },
    // A transaction, so that agent and key are of one moment: the agent's version covers its keys, too.
    agentByKeyId: database.transaction((keyId: string): AgentWithKey | null => {
      const key = keyById.get(keyId);
      const agent = key && byId.get(key.agent_id);
      return key === undefined || agent === undefined ? null : { agent: agentRow(agent), key: keyRow(key) };
    }),
  };
}

function prepareOtherReads(database: Database) {
  // Read as bigint, since an id may be larger than a number holds exactly.
  const plantById = database.prepare<[bigint], PlantRow>('SELECT * FROM plants WHERE id = ?').safeIntegers();
  const settingByName = database.prepare<[string], { value: string }>(
    'SELECT value FROM settings WHERE name = ?',
  );
  return {
    plant: (id: bigint): PlantRow | null => plantById.get(id) ?? null,
    setting: (name: string): string | null => settingByName.get(name)?.value ?? null,
  };
}
