// Reads agents, their keys, and the nonces of their signatures. The look-ups for a call of an agent are in the
// stores, prepared for speed.

import type { NonceUse } from '../contract/records.ts';
import type { AgentStore, NonceStore } from '../contract/store.ts';
import { type AgentColumns, agentRow, type KeyColumns, keyRow } from '../shared/rows.ts';
import { type QueryRunner, query } from './dialect.ts';

export function agentReads({ rows }: QueryRunner): Pick<AgentStore, 'list' | 'page' | 'keys'> {
  return {
    async list() {
      const all = await rows(query<AgentColumns>('SELECT * FROM agents'));
      return all.map(agentRow).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async page({ after, countMax }) {
      const text = `SELECT * FROM agents WHERE (created_ms, id) < (@afterMs, @afterId)
        ORDER BY created_ms DESC, id DESC LIMIT @countMax`;
      const [afterMs, afterId] = [after?.createdAtMs ?? Number.MAX_SAFE_INTEGER, after?.id ?? ''];
      return (await rows(query<AgentColumns>(text, { afterMs, afterId, countMax }))).map(agentRow);
    },
    async keys(agentId) {
      const text = 'SELECT * FROM keys WHERE agent_id = @agentId ORDER BY created_ms, id';
      return (await rows(query<KeyColumns>(text, { agentId }))).map(keyRow);
    },
  };
}

export function nonceReads({ rows }: QueryRunner): Pick<NonceStore, 'list' | 'validFromMs'> {
  const text =
    'SELECT nonce, used_ms AS "usedAtMs", kept_until_ms AS "keptUntilMs" FROM nonces ORDER BY kept_until_ms';
  return {
    list: () => rows(query<NonceUse>(text)),
    validFromMs: async () => null,
  };
}
