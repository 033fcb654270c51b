// Agents and keys in PostgreSQL: read over the pool, changed over the queue of commits.

import type { AgentStore } from '../contract/store.ts';
import { createChangeCount } from '../shared/change-count.ts';
import { type AgentColumns, agentRow, type KeyColumns, keyRow } from '../shared/rows.ts';
import { agentWrites } from './agent-writes.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { ReadPool } from './server/read-pool.ts';
import type { Work } from './transaction.ts';

export function agentStore(
  { rows }: ReadPool,
  queue: Pick<CommitQueue, 'write'>,
  noteUse: AgentStore['noteUse'],
): AgentStore {
  const changes = createChangeCount();
  const change = <T>(work: Work<T>): Promise<T> => changes.during(['agent'], () => queue.write(work));
  return {
    add: (agent, key, by) => change(agentWrites.add({ agent, key, ...by })),
    async list() {
      const all = await rows<AgentColumns>('SELECT * FROM agents');
      return all.map(agentRow).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async page({ after, countMax }) {
      const page = await rows<AgentColumns>(
        `SELECT * FROM agents WHERE (created_ms, id) < ($1, $2) ORDER BY created_ms DESC, id DESC LIMIT $3`,
        [after?.createdAtMs ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', countMax],
      );
      return page.map(agentRow);
    },
    async find(idOrName) {
      const [found] = await rows<AgentColumns>(
        'SELECT * FROM agents WHERE id = $1 OR lower(name) = lower($1 COLLATE "C") ORDER BY (id = $1) DESC LIMIT 1',
        [idOrName],
      );
      return found === undefined ? null : agentRow(found);
    },
    // One statement, so that agent and key are of one moment: the agent's version covers its keys, too.
    async findByKeyId(keyId) {
      const [found] = await rows<{ readonly agent: AgentColumns; readonly key: KeyColumns }>(
        `SELECT row_to_json(agents) AS agent, row_to_json(keys) AS key
         FROM keys JOIN agents ON agents.id = keys.agent_id WHERE keys.id = $1`,
        [keyId],
      );
      return found === undefined ? null : { agent: agentRow(found.agent), key: keyRow(found.key) };
    },
    async keys(agentId) {
      const keys = await rows<KeyColumns>('SELECT * FROM keys WHERE agent_id = $1 ORDER BY created_ms, id', [
        agentId,
      ]);
      return keys.map(keyRow);
    },
    describe: (description) => change(agentWrites.describe(description)),
    setStatus: (statusChange) => change(agentWrites.setStatus(statusChange)),
    setSigning: (signingChange) => change(agentWrites.setSigning(signingChange)),
    rotateKey: (rotation) => change(agentWrites.rotateKey(rotation)),
    noteUse,
    changesHere: () => changes.of('agent'),
  };
}
