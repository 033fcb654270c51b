// Turns changes of agents and keys into statements, each with its record at the end of the chain. INVARIANT:
// what a write changes about who may ask, and the record of that change, are stored together or not at all.

import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'better-sqlite3';
import type { AgentRow, KeyRow } from '../contract/records.ts';
import {
  type AgentDescription,
  type AgentDescriptionResult,
  type KeyRotation,
  liveKeysMax,
  type SigningChange,
  type SigningChangeResult,
  type StatusChange,
  type StatusChangeResult,
} from '../contract/store.ts';
import { agentOnRecord, descriptionOnRecord, signingOnRecord, statusNames } from '../shared/agent-changes.ts';
import type { KeyUse } from '../shared/key-uses.ts';
import { type AgentColumns, agentColumns, agentRow, type KeyColumns, keyColumns } from '../shared/rows.ts';
import type { WriteContext } from './write-context.ts';

interface NewAgent {
  readonly agent: AgentRow;
  readonly key: KeyRow;
  readonly who?: string | undefined;
}

export function prepareAgentWrites(database: Database, { recordChange: record }: WriteContext) {
  const agents = prepareAgentStatements(database);
  const keys = prepareKeyStatements(database);
  return {
    'add-agent'({ agent, key, who }: NewAgent): 'added' | 'name-taken' {
      if (agents.insert.run(agentColumns(agent)).changes === 0) return 'name-taken';
      keys.insert.run(keyColumns(key));
      const after = { ...agentOnRecord(agent), keys: keys.ends(agent.id) };
      record({ atMs: agent.createdAtMs, who, what: 'agent-added', subject: agent.id, before: null, after });
      return 'added';
    },
    'describe-agent'({ change }: { readonly change: AgentDescription }): AgentDescriptionResult {
      const { agentId: subject, atMs, who, ...described } = change;
      const present = agents.find(subject);
      if (present === null) return 'unknown-agent';
      if (present.status === 'revoked') return 'already-revoked';
      const [before, after] = [descriptionOnRecord(present), descriptionOnRecord(described)];
      if (isDeepStrictEqual(before, after)) return 'unchanged';
      const holder = agents.holderOf(described.name);
      if (holder !== null && holder !== subject) return 'name-taken';
      const changed = agentColumns({ ...present, ...described, changedAtMs: atMs });
      agents.updateDescription.run(changed);
      record({ atMs, who, what: 'agent-changed', subject, before, after });
      return 'changed';
    },
    'set-status'({ change }: { readonly change: StatusChange }): StatusChangeResult {
      const { agentId: subject, atMs, status, who } = change;
      const present = agents.find(subject)?.status;
      if (present === undefined) return 'unknown-agent';
      if (present === status) return 'unchanged';
      if (present === 'revoked') return 'already-revoked';
      agents.updateStatus.run(change);
      const what = statusNames[status];
      record({ atMs, who, what, subject, before: { status: present }, after: { status } });
      return 'changed';
    },
    'set-signing'({ change }: { readonly change: SigningChange }): SigningChangeResult {
      const { agentId: subject, signing, newSealedSecret, atMs, who } = change;
      const present = agents.find(subject);
      if (present === null) return 'unknown-agent';
      const sealedSigningSecret = signing === 'off' ? null : (newSealedSecret ?? present.sealedSigningSecret);
      if (signing !== 'off' && sealedSigningSecret === null) return 'no-secret';
      agents.updateSigning.run({ agentId: subject, signing, sealedSigningSecret, atMs });
      const before = signingOnRecord(present);
      const after = {
        ...signingOnRecord({ signing, sealedSigningSecret }),
        isSecretNew: signing !== 'off' && newSealedSecret !== null,
      };
      record({ atMs, who, what: 'signing-changed', subject, before, after });
      return 'changed';
    },
    'rotate-key'({ rotation }: { readonly rotation: KeyRotation }): KeyRotationResult {
      const { key, othersNotAfterMs: atMs, who } = rotation;
      const { agentId: subject, createdAtMs } = key;
      if (agents.find(subject) === null) return 'unknown-agent';
      const live = keys.countLive.get(subject, createdAtMs)?.count ?? 0;
      if (atMs > createdAtMs && live >= liveKeysMax) return 'too-many-keys';
      const before = { keys: keys.ends(subject) };
      keys.end.run({ agentId: subject, atMs });
      keys.insert.run(keyColumns(key));
      agents.raiseVersion.run(subject);
      const after = { keys: keys.ends(subject) };
      record({ atMs: createdAtMs, who, what: 'key-rotated', subject, before, after });
      return 'added';
    },
    'note-uses'({ uses }: { readonly uses: readonly KeyUse[] }): 'noted' {
      for (const use of uses) keys.updateUse.run(use);
      return 'noted';
    },
  };
}

type KeyRotationResult = 'added' | 'too-many-keys' | 'unknown-agent';

function prepareAgentStatements(database: Database) {
  const select = database.prepare<[string], AgentColumns>('SELECT * FROM agents WHERE id = ?');
  const byName = database.prepare<[string], Pick<AgentRow, 'id'>>('SELECT id FROM agents WHERE name = ?');
  return {
    holderOf: (name: string): string | null => byName.get(name)?.id ?? null,
    updateDescription: database.prepare<[AgentColumns]>(
      `UPDATE agents SET name = @name, risk_tier = @risk_tier, control_owner = @control_owner,
         tags_json = @tags_json, rate_per_minute = @rate_per_minute, burst = @burst, tells_change = @tells_change,
         changed_ms = @changed_ms, version = version + 1
       WHERE id = @id`,
    ),
    find(id: string): AgentRow | null {
      const columns = select.get(id);
      return columns === undefined ? null : agentRow(columns);
    },
    insert: database.prepare<[AgentColumns]>(
      `INSERT INTO agents (id, name, risk_tier, control_owner, tags_json, status, signing, sealed_signing_secret,
         created_ms, changed_ms, rate_per_minute, burst, tells_change, version)
       VALUES (@id, @name, @risk_tier, @control_owner, @tags_json, @status, @signing, @sealed_signing_secret,
         @created_ms, @changed_ms, @rate_per_minute, @burst, @tells_change, @version)
       ON CONFLICT (name) DO NOTHING`,
    ),
    /** Run for a change of the agent's keys. */
    raiseVersion: database.prepare<[string]>('UPDATE agents SET version = version + 1 WHERE id = ?'),
    updateStatus: database.prepare<[StatusChange]>(
      'UPDATE agents SET status = @status, changed_ms = @atMs, version = version + 1 WHERE id = @agentId',
    ),
    updateSigning: database.prepare<
      [Pick<AgentRow, 'signing' | 'sealedSigningSecret'> & { agentId: string; atMs: number }]
    >(
      `UPDATE agents SET signing = @signing, sealed_signing_secret = @sealedSigningSecret, changed_ms = @atMs,
         version = version + 1
       WHERE id = @agentId`,
    ),
  };
}

interface KeyEnd {
  readonly id: string;
  /** When the key ends; null for the current key. */
  readonly notAfterMs: number | null;
}

function prepareKeyStatements(database: Database) {
  const selectEnds = database.prepare<[string], KeyEnd>(
    'SELECT id, not_after_ms AS notAfterMs FROM keys WHERE agent_id = ? ORDER BY created_ms, id',
  );
  return {
    ends: (agentId: string) => selectEnds.all(agentId).map(({ id, notAfterMs }) => ({ id, notAfterMs })),
    insert: database.prepare<[KeyColumns]>(
      'INSERT INTO keys VALUES (@id, @agent_id, @digest, @created_ms, @not_after_ms, @last_used_ms)',
    ),
    countLive: database.prepare<[string, number], { count: number }>(
      'SELECT count(*) AS count FROM keys WHERE agent_id = ? AND (not_after_ms IS NULL OR not_after_ms > ?)',
    ),
    end: database.prepare<[{ agentId: string; atMs: number }]>(
      `UPDATE keys SET not_after_ms = @atMs
       WHERE agent_id = @agentId AND (not_after_ms IS NULL OR not_after_ms > @atMs)`,
    ),
    updateUse: database.prepare<[KeyUse]>(
      'UPDATE keys SET last_used_ms = max(coalesce(last_used_ms, 0), @atMs) WHERE id = @keyId',
    ),
  };
}
