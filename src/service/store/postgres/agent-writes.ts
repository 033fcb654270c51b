// Changes agents and keys, each change with its record at the end of the chain. INVARIANT: what a write
// changes about who may ask, and the record of that change, are stored together or not at all.

import { isDeepStrictEqual } from 'node:util';
import type { AgentRow, KeyRow } from '../contract/records.ts';
import {
  type AgentDescription,
  type AgentDescriptionResult,
  type AgentStore,
  type ChangeAuthor,
  type KeyRotation,
  liveKeysMax,
  type SigningChange,
  type SigningChangeResult,
  type StatusChange,
  type StatusChangeResult,
} from '../contract/store.ts';
import { agentOnRecord, descriptionOnRecord, signingOnRecord, statusNames } from '../shared/agent-changes.ts';
import type { KeyUse } from '../shared/key-uses.ts';
import { type AgentColumns, agentColumns, agentRow, keyColumns } from '../shared/rows.ts';
import type { Transaction, Work } from './transaction.ts';

interface NewAgent extends ChangeAuthor {
  readonly agent: AgentRow;
  readonly key: KeyRow;
}

export const agentWrites = { add, describe, setStatus, setSigning, rotateKey, noteUses };

function add({ agent, key, who }: NewAgent): Work<Awaited<ReturnType<AgentStore['add']>>> {
  return async (transaction) => {
    const count = await transaction.insert('agents', { ...agentColumns(agent) }, 'ON CONFLICT DO NOTHING');
    if (count === 0) return 'name-taken';
    await transaction.insert('keys', { ...keyColumns(key) });
    const after = { ...agentOnRecord(agent), keys: await keyEnds(transaction, agent.id) };
    const change = { atMs: agent.createdAtMs, who, what: 'agent-added', subject: agent.id };
    transaction.recordChange({ ...change, before: null, after });
    return 'added';
  };
}

function describe(change: AgentDescription): Work<AgentDescriptionResult> {
  const { agentId: subject, atMs, who, ...described } = change;
  return async (transaction) => {
    const present = await find(transaction, subject);
    if (present === null) return 'unknown-agent';
    if (present.status === 'revoked') return 'already-revoked';
    const [before, after] = [descriptionOnRecord(present), descriptionOnRecord(described)];
    if (isDeepStrictEqual(before, after)) return 'unchanged';
    const [holder] = await transaction.rows(
      'SELECT 1 FROM agents WHERE lower(name) = lower($1) AND id <> $2',
      [described.name, subject],
    );
    if (holder !== undefined) return 'name-taken';
    const columns = agentColumns({ ...present, ...described, changedAtMs: atMs });
    await transaction.rows(
      `UPDATE agents SET name = $2, risk_tier = $3, control_owner = $4, tags_json = $5, rate_per_minute = $6,
         burst = $7, changed_ms = $8, tells_change = $9, version = version + 1 WHERE id = $1`,
      [
        ...[subject, columns.name, columns.risk_tier, columns.control_owner, columns.tags_json],
        ...[columns.rate_per_minute, columns.burst, columns.changed_ms, columns.tells_change],
      ],
    );
    transaction.recordChange({ atMs, who, what: 'agent-changed', subject, before, after });
    return 'changed';
  };
}

function setStatus({ agentId: subject, atMs, status, who }: StatusChange): Work<StatusChangeResult> {
  return async (transaction) => {
    const present = (await find(transaction, subject))?.status;
    if (present === undefined) return 'unknown-agent';
    if (present === status) return 'unchanged';
    if (present === 'revoked') return 'already-revoked';
    await transaction.rows(
      'UPDATE agents SET status = $2, changed_ms = $3, version = version + 1 WHERE id = $1',
      [subject, status, atMs],
    );
    const [before, after] = [{ status: present }, { status }];
    transaction.recordChange({ atMs, who, what: statusNames[status], subject, before, after });
    return 'changed';
  };
}

function setSigning(change: SigningChange): Work<SigningChangeResult> {
  const { agentId: subject, signing, newSealedSecret, atMs, who } = change;
  return async (transaction) => {
    const present = await find(transaction, subject);
    if (present === null) return 'unknown-agent';
    const sealedSigningSecret = signing === 'off' ? null : (newSealedSecret ?? present.sealedSigningSecret);
    if (signing !== 'off' && sealedSigningSecret === null) return 'no-secret';
    await transaction.rows(
      `UPDATE agents SET signing = $2, sealed_signing_secret = $3, changed_ms = $4, version = version + 1
       WHERE id = $1`,
      [subject, signing, sealedSigningSecret, atMs],
    );
    const before = signingOnRecord(present);
    const isSecretNew = signing !== 'off' && newSealedSecret !== null;
    const after = { ...signingOnRecord({ signing, sealedSigningSecret }), isSecretNew };
    transaction.recordChange({ atMs, who, what: 'signing-changed', subject, before, after });
    return 'changed';
  };
}

function rotateKey(rotation: KeyRotation): Work<Awaited<ReturnType<AgentStore['rotateKey']>>> {
  const { key, othersNotAfterMs, who } = rotation;
  const { agentId: subject, createdAtMs: atMs } = key;
  return async (transaction) => {
    if ((await find(transaction, subject)) === null) return 'unknown-agent';
    const live = await transaction.rows(
      'SELECT 1 FROM keys WHERE agent_id = $1 AND (not_after_ms IS NULL OR not_after_ms > $2)',
      [subject, atMs],
    );
    if (othersNotAfterMs > atMs && live.length >= liveKeysMax) return 'too-many-keys';
    const before = { keys: await keyEnds(transaction, subject) };
    await transaction.rows(
      `UPDATE keys SET not_after_ms = $2 WHERE agent_id = $1 AND (not_after_ms IS NULL OR not_after_ms > $2)`,
      [subject, othersNotAfterMs],
    );
    await transaction.insert('keys', { ...keyColumns(key) });
    await transaction.rows('UPDATE agents SET version = version + 1 WHERE id = $1', [subject]);
    const after = { keys: await keyEnds(transaction, subject) };
    transaction.recordChange({ atMs, who, what: 'key-rotated', subject, before, after });
    return 'added';
  };
}

function noteUses(uses: readonly KeyUse[]): Work<void> {
  return async ({ rows }) => {
    await rows(
      `UPDATE keys SET last_used_ms = greatest(coalesce(last_used_ms, 0), at)
       FROM unnest($1::text[], $2::int8[]) AS use(key, at) WHERE keys.id = use.key`,
      [uses.map(({ keyId }) => keyId), uses.map(({ atMs }) => atMs)],
    );
  };
}

async function find({ rows }: Transaction, id: string): Promise<AgentRow | null> {
  const [columns] = await rows<AgentColumns>('SELECT * FROM agents WHERE id = $1', [id]);
  return columns === undefined ? null : agentRow(columns);
}

interface KeyEnd {
  readonly id: string;
  /** When the key ends; null for the current key. */
  readonly notAfterMs: number | null;
}

async function keyEnds(
  { rows }: Transaction,
  agentId: string,
): Promise<readonly { id: string; notAfterMs: number | null }[]> {
  const ends = await rows<KeyEnd>(
    'SELECT id, not_after_ms AS "notAfterMs" FROM keys WHERE agent_id = $1 ORDER BY created_ms, id',
    [agentId],
  );
  return ends.map(({ id, notAfterMs }) => ({ id, notAfterMs }));
}
