// Each kind of write into its statements. INVARIANT: a write looks before it changes anything, under the lock of its
// batch's transaction, so one that is refused for what it finds leaves no trace and harms no other of its batch.

import type { Database } from 'better-sqlite3';
import type { AgentRow, KeyRow, PlantRow } from './records.ts';
import {
  type AgentColumns,
  agentColumns,
  type KeyColumns,
  keyColumns,
  type RefusalColumns,
  type RequestColumns,
} from './sqlite-rows.ts';
import {
  type AppendResult,
  type KeyRotation,
  liveKeysMax,
  type SigningChange,
  type StatusChange,
  type StatusChangeResult,
} from './store.ts';

export type Write =
  | { readonly kind: 'add-agent'; readonly agent: AgentRow; readonly key: KeyRow }
  | { readonly kind: 'set-status'; readonly change: StatusChange }
  | { readonly kind: 'set-signing'; readonly change: SigningChange }
  | { readonly kind: 'rotate-key'; readonly rotation: KeyRotation }
  | { readonly kind: 'note-uses'; readonly uses: readonly KeyUse[] }
  | { readonly kind: 'append-request'; readonly row: RequestColumns; readonly openMax: number }
  | { readonly kind: 'append-refusal'; readonly row: RefusalColumns }
  | { readonly kind: 'add-plant'; readonly plant: PlantRow }
  | { readonly kind: 'put-setting'; readonly name: string; readonly value: string };

interface KeyUse {
  readonly keyId: string;
  readonly atMs: number;
}

/** What each kind of write answers. */
export interface WriteResults {
  readonly 'add-agent': 'added' | 'name-taken';
  readonly 'set-status': StatusChangeResult;
  readonly 'set-signing': 'changed' | 'unknown-agent';
  readonly 'rotate-key': 'added' | 'too-many-keys' | 'unknown-agent';
  readonly 'note-uses': 'noted';
  readonly 'append-request': AppendResult | 'duplicate-id';
  readonly 'append-refusal': 'stored' | 'duplicate-id';
  readonly 'add-plant': 'added' | 'used';
  readonly 'put-setting': 'put' | 'there';
}

export type WriteKind = keyof WriteResults & Write['kind'];
type WriteOf<K extends WriteKind> = Extract<Write, { readonly kind: K }>;
export type ApplyWrite = (write: Write) => WriteResults[WriteKind];

/** Prepares all statements. The function returned is to be called inside a transaction that holds the write lock. */
export function prepareWrites(database: Database): ApplyWrite {
  const agents = prepareAgentWrites(database);
  const requests = prepareRequestWrites(database);
  const rest = prepareOtherWrites(database);
  return (write) => {
    switch (write.kind) {
      case 'add-agent':
        return agents.add(write);
      case 'set-status':
        return agents.setStatus(write.change);
      case 'set-signing':
        return agents.setSigning(write.change);
      case 'rotate-key':
        return agents.rotateKey(write.rotation);
      case 'note-uses':
        return agents.noteUses(write.uses);
      case 'append-request':
        return requests.append(write);
      case 'append-refusal':
        return requests.appendRefusal(write.row);
      case 'add-plant':
        return rest.addPlant(write.plant);
      case 'put-setting':
        return rest.putSetting(write);
    }
  };
}

function prepareAgentWrites(database: Database) {
  const insertAgent = database.prepare<[AgentColumns]>(
    `INSERT INTO agents VALUES (@id, @name, @risk_tier, @control_owner, @tags_json, @status, @signing,
       @sealed_signing_secret, @created_ms, @changed_ms)
     ON CONFLICT (name) DO NOTHING`,
  );
  const insertKey = database.prepare<[KeyColumns]>(
    'INSERT INTO keys VALUES (@id, @agent_id, @digest, @created_ms, @not_after_ms, @last_used_ms)',
  );
  const selectStatus = database.prepare<[string], { status: string }>(
    'SELECT status FROM agents WHERE id = ?',
  );
  const updateStatus = database.prepare<[StatusChange]>(
    'UPDATE agents SET status = @status, changed_ms = @atMs WHERE id = @agentId',
  );
  const updateSigning = database.prepare<[SigningChange]>(
    `UPDATE agents SET signing = @signing, sealed_signing_secret = @sealedSigningSecret, changed_ms = @atMs
     WHERE id = @agentId`,
  );
  const countLiveKeys = database.prepare<[string, number], { count: number }>(
    'SELECT count(*) AS count FROM keys WHERE agent_id = ? AND (not_after_ms IS NULL OR not_after_ms > ?)',
  );
  const endKeys = database.prepare<[{ agentId: string; atMs: number }]>(
    `UPDATE keys SET not_after_ms = @atMs
     WHERE agent_id = @agentId AND (not_after_ms IS NULL OR not_after_ms > @atMs)`,
  );
  const updateUse = database.prepare<[KeyUse]>(
    'UPDATE keys SET last_used_ms = max(coalesce(last_used_ms, 0), @atMs) WHERE id = @keyId',
  );
  return {
    add({ agent, key }: WriteOf<'add-agent'>): WriteResults['add-agent'] {
      if (insertAgent.run(agentColumns(agent)).changes === 0) return 'name-taken';
      insertKey.run(keyColumns(key));
      return 'added';
    },
    setStatus(change: StatusChange): StatusChangeResult {
      const present = selectStatus.get(change.agentId)?.status;
      if (present === undefined) return 'unknown-agent';
      if (present === change.status) return 'unchanged';
      if (present === 'revoked') return 'already-revoked';
      updateStatus.run(change);
      return 'changed';
    },
    setSigning(change: SigningChange): WriteResults['set-signing'] {
      return updateSigning.run(change).changes === 0 ? 'unknown-agent' : 'changed';
    },
    rotateKey({ key, othersNotAfterMs: atMs }: KeyRotation): WriteResults['rotate-key'] {
      if (selectStatus.get(key.agentId) === undefined) return 'unknown-agent';
      const live = countLiveKeys.get(key.agentId, key.createdAtMs)?.count ?? 0;
      if (atMs > key.createdAtMs && live >= liveKeysMax) return 'too-many-keys';
      endKeys.run({ agentId: key.agentId, atMs });
      insertKey.run(keyColumns(key));
      return 'added';
    },
    noteUses(uses: readonly KeyUse[]): 'noted' {
      for (const use of uses) updateUse.run(use);
      return 'noted';
    },
  };
}

function prepareRequestWrites(database: Database) {
  const selectByKey = database.prepare<[RequestColumns], unknown>(
    `SELECT 1 FROM requests
     WHERE agent_id = @agent_id AND idempotency_key = @idempotency_key AND idempotency_until_ms > @created_ms`,
  );
  const countOpen = database.prepare<[RequestColumns], { count: number }>(
    `SELECT count(*) AS count FROM requests
     WHERE status = 'pending' AND agent_id = @agent_id AND expires_ms > @created_ms`,
  );
  const insertRequest = database.prepare<[RequestColumns]>(
    `INSERT INTO requests (id, agent_id, action_key, outcome, status, created_ms, decided_ms, expires_ms,
       idempotency_key, idempotency_digest, idempotency_until_ms, record_json)
     VALUES (@id, @agent_id, @action_key, @outcome, @status, @created_ms, @decided_ms, @expires_ms,
       @idempotency_key, @idempotency_digest, @idempotency_until_ms, @record_json)
     ON CONFLICT (id) DO NOTHING`,
  );
  const insertRefusal = database.prepare<[RefusalColumns]>(
    `INSERT INTO refusals (id, agent_id, key_id, at_ms, http_status, code, detail, client_address, body_digest)
     VALUES (@id, @agent_id, @key_id, @at_ms, @http_status, @code, @detail, @client_address, @body_digest)
     ON CONFLICT (id) DO NOTHING`,
  );
  return {
    append({ row, openMax }: WriteOf<'append-request'>): WriteResults['append-request'] {
      if (row.idempotency_key !== null && selectByKey.get(row) !== undefined) return 'duplicate-key';
      if (row.status === 'pending' && (countOpen.get(row)?.count ?? 0) >= openMax) return 'too-many-open';
      return insertRequest.run(row).changes === 0 ? 'duplicate-id' : 'stored';
    },
    appendRefusal(row: RefusalColumns): WriteResults['append-refusal'] {
      return insertRefusal.run(row).changes === 0 ? 'duplicate-id' : 'stored';
    },
  };
}

function prepareOtherWrites(database: Database) {
  const insertPlant = database.prepare<[PlantRow]>(
    'INSERT INTO plants VALUES (@id, @name, @tag) ON CONFLICT (id) DO NOTHING',
  );
  const insertSetting = database.prepare<[{ name: string; value: string }]>(
    'INSERT INTO settings VALUES (@name, @value) ON CONFLICT (name) DO NOTHING',
  );
  return {
    addPlant(plant: PlantRow): WriteResults['add-plant'] {
      return insertPlant.run(plant).changes === 0 ? 'used' : 'added';
    },
    putSetting({ name, value }: WriteOf<'put-setting'>): WriteResults['put-setting'] {
      return insertSetting.run({ name, value }).changes === 0 ? 'there' : 'put';
    },
  };
}
