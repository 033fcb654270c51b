// Changes of agents and keys into statements, each with its record at the end of the chain. INVARIANT: what a write
// changes about who may ask, and the record of that, are stored together or not at all.

import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'better-sqlite3';
import type { AgentRow, AgentStatus } from '../contract/records.ts';
import {
  type AgentDescription,
  type AgentDescriptionResult,
  type KeyRotation,
  liveKeysMax,
  type SigningChange,
  type StatusChange,
  type StatusChangeResult,
} from '../contract/store.ts';
import { prepareChanges } from './changes.ts';
import { type AgentColumns, agentColumns, agentRow, type KeyColumns, keyColumns } from './rows.ts';
import type { KeyUse, WriteOf, WriteOptions, WriteResults } from './writes.ts';

export function prepareAgentWrites(database: Database, options: WriteOptions) {
  const record = prepareChanges(database, options);
  const agents = prepareAgentStatements(database);
  const keys = prepareKeyStatements(database);
  return {
    add({ agent, key, who }: WriteOf<'add-agent'>): WriteResults['add-agent'] {
      if (agents.insert.run(agentColumns(agent)).changes === 0) return 'name-taken';
      keys.insert.run(keyColumns(key));
      const after = { ...shownAgent(agent), keys: keys.ends(agent.id) };
      record({ atMs: agent.createdAtMs, who, what: 'agent-added', subject: agent.id, before: null, after });
      return 'added';
    },
    describe({ agentId: subject, atMs, who, ...described }: AgentDescription): AgentDescriptionResult {
      const present = agents.find(subject);
      if (present === null) return 'unknown-agent';
      if (present.status === 'revoked') return 'already-revoked';
      const [before, after] = [shownDescription(present), shownDescription(described)];
      if (isDeepStrictEqual(before, after)) return 'unchanged';
      const holder = agents.holderOf(described.name);
      if (holder !== null && holder !== subject) return 'name-taken';
      const changed = agentColumns({ ...present, ...described, changedAtMs: atMs });
      agents.updateDescription.run(changed);
      record({ atMs, who, what: 'agent-changed', subject, before, after });
      return 'changed';
    },
    setStatus(change: StatusChange): StatusChangeResult {
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
    setSigning({
      agentId: subject,
      signing,
      newSealedSecret,
      atMs,
      who,
    }: SigningChange): WriteResults['set-signing'] {
      const present = agents.find(subject);
      if (present === null) return 'unknown-agent';
      const sealedSigningSecret = signing === 'off' ? null : (newSealedSecret ?? present.sealedSigningSecret);
      if (signing !== 'off' && sealedSigningSecret === null) return 'no-secret';
      agents.updateSigning.run({ agentId: subject, signing, sealedSigningSecret, atMs });
      const before = shownSigning(present);
      const after = {
        ...shownSigning({ signing, sealedSigningSecret }),
        isSecretNew: signing !== 'off' && newSealedSecret !== null,
      };
      record({ atMs, who, what: 'signing-changed', subject, before, after });
      return 'changed';
    },
    rotateKey({ key, othersNotAfterMs: atMs, who }: KeyRotation): WriteResults['rotate-key'] {
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
    noteUses(uses: readonly KeyUse[]): 'noted' {
      for (const use of uses) keys.updateUse.run(use);
      return 'noted';
    },
  };
}

const statusNames = {
  active: 'agent-enabled',
  disabled: 'agent-disabled',
  revoked: 'agent-revoked',
} as const satisfies Record<AgentStatus, string>;

function shownAgent(agent: AgentRow) {
  const { sealedSigningSecret: _, createdAtMs: __, changedAtMs: ___, version: ____, ...shown } = agent;
  return shown;
}

function shownDescription({
  name,
  riskTier,
  controlOwner,
  tags,
  ratePerMinute,
  burst,
}: Pick<AgentDescription, 'name' | 'riskTier' | 'controlOwner' | 'tags' | 'ratePerMinute' | 'burst'>) {
  return { name, riskTier, controlOwner, tags: [...tags], ratePerMinute, burst };
}

function shownSigning({ signing, sealedSigningSecret }: Pick<AgentRow, 'signing' | 'sealedSigningSecret'>) {
  return { signing, hasSecret: sealedSigningSecret !== null };
}

function prepareAgentStatements(database: Database) {
  const select = database.prepare<[string], AgentColumns>('SELECT * FROM agents WHERE id = ?');
  const byName = database.prepare<[string], Pick<AgentRow, 'id'>>('SELECT id FROM agents WHERE name = ?');
  return {
    holderOf: (name: string): string | null => byName.get(name)?.id ?? null,
    updateDescription: database.prepare<[AgentColumns]>(
      `UPDATE agents SET name = @name, risk_tier = @risk_tier, control_owner = @control_owner,
         tags_json = @tags_json, rate_per_minute = @rate_per_minute, burst = @burst, changed_ms = @changed_ms,
         version = version + 1
       WHERE id = @id`,
    ),
    find(id: string): AgentRow | null {
      const columns = select.get(id);
      return columns === undefined ? null : agentRow(columns);
    },
    insert: database.prepare<[AgentColumns]>(
      `INSERT INTO agents (id, name, risk_tier, control_owner, tags_json, status, signing, sealed_signing_secret,
         created_ms, changed_ms, rate_per_minute, burst, version)
       VALUES (@id, @name, @risk_tier, @control_owner, @tags_json, @status, @signing, @sealed_signing_secret,
         @created_ms, @changed_ms, @rate_per_minute, @burst, @version)
       ON CONFLICT (name) DO NOTHING`,
    ),
    /** For a change of its keys. */
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
  /** Null for the current key. */
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
