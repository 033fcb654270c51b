// Queries as prepared statements, on a read-only connection of the calling thread. Outside of a transaction
// each query sees the latest commit of any process.

import type { Database } from 'better-sqlite3';
import type {
  CountedOutcomes,
  GrantedPage,
  GrantedRequest,
  GrantPage,
  OutcomeCount,
  OutcomePage,
} from '../contract/agent-activity.ts';
import type {
  AgentRow,
  AgentWithKey,
  KeyRow,
  NonceUse,
  PlantRow,
  RefusalRecord,
  RequestEvent,
  RequestRow,
} from '../contract/records.ts';
import type { SealKey } from '../contract/seal.ts';
import type { AgentPage, IdempotencyQuery } from '../contract/store.ts';
import {
  type AgentColumns,
  agentRow,
  type KeyColumns,
  keptUntil,
  keyRow,
  type RefusalColumns,
  refusalRecord,
} from '../shared/rows.ts';
import { prepareChangeReads } from './audit-log.ts';
import { prepareChainReads } from './chain/chain-reads.ts';
import { prepareDocumentReads } from './documents.ts';
import { prepareMeterReads } from './meters.ts';
import { prepareNumbers, prepareRequestLists } from './request-lists.ts';
import { prepareStatisticsReads } from './statistics.ts';

// Reads what came of all requests of one agent. INVARIANT: each read looks at a bounded stretch of the
// agent's own records.

/** How many records are looked through at once. */
export const activityAtOnce = 2_000;

interface CountRow extends OutcomeCount {
  readonly last: number;
}

interface SequenceRow extends GrantedRequest {
  readonly sequence: number;
  readonly isFound: 0 | 1;
}

const countText = (columns: string, table: string): string => `
  SELECT day, outcome, count(*) AS count, max(sequence) AS last
  FROM (SELECT sequence, ${columns} FROM ${table}
    WHERE agent_id = @agentId AND sequence > @afterSequence ORDER BY sequence LIMIT ${activityAtOnce})
  GROUP BY day, outcome`;

const dayOf = (column: string): string => `${column} / 86400000 AS day`;

export const outcomeTexts = {
  requests: countText(`${dayOf('created_ms')}, outcome`, 'requests'),
  refusals: countText(`${dayOf('at_ms')}, 'refused' AS outcome`, 'refusals'),
} as const;

/**
 * Whether a request was granted. An expired request with a time of decision is a grant that is over; a wait
 * that ended without a grant has no such time.
 */
const isGranted = `(coalesce(now_status, status) IN ('auto_approved', 'approved', 'consumed')
  OR (coalesce(now_status, status) = 'expired' AND coalesce(now_decided_ms, decided_ms) IS NOT NULL))`;

export const grantedText = `
  SELECT sequence, created_ms AS createdAtMs, action_key = @actionKey AND ${isGranted} AS isFound,
    iif(action_key = @actionKey AND ${isGranted}, record_json -> '$.payload', '') AS payloadJson
  FROM requests WHERE agent_id = @agentId AND sequence < @before
  ORDER BY sequence DESC LIMIT ${activityAtOnce}`;

function prepareActivityReads(database: Database) {
  const counts = {
    requests: database.prepare<[OutcomePage], CountRow>(outcomeTexts.requests),
    refusals: database.prepare<[OutcomePage], CountRow>(outcomeTexts.refusals),
  };
  const granted = database.prepare<[object], SequenceRow>(grantedText);
  return {
    outcomes(page: OutcomePage): CountedOutcomes {
      const found = counts[page.kind].all(page);
      const through = found.length === 0 ? null : Math.max(...found.map(({ last }) => last));
      return { counts: found.map(({ day, outcome, count }) => ({ day, outcome, count })), through };
    },
    granted({ agentId, actionKey, beforeSequence, countMax }: GrantedPage): GrantPage {
      const found: GrantedRequest[] = [];
      let looked = 0;
      let last: number | null = null;
      const before = beforeSequence ?? Number.MAX_SAFE_INTEGER;
      for (const { sequence, isFound, ...one } of granted.iterate({ agentId, actionKey, before })) {
        if (found.length === countMax) return { found, next: last };
        looked += 1;
        last = sequence;
        if (isFound === 1) found.push(one);
      }
      return { found, next: looked === activityAtOnce ? last : null };
    },
  };
}

export type Reads = ReturnType<typeof prepareReads>;

export function prepareReads(database: Database, key: SealKey) {
  const lists = prepareRequestLists(database, key);
  return {
    ...prepareAgentReads(database),
    ...prepareRequestReads(database, lists),
    ...lists,
    ...prepareNumbers(database),
    ...prepareChainReads(database),
    ...prepareChangeReads(database),
    ...prepareDocumentReads(database),
    ...prepareMeterReads(database),
    ...prepareStatisticsReads(database),
    ...prepareActivityReads(database),
    keptNonces: prepareNonceReads(database),
    ...prepareOtherReads(database),
  };
}

function prepareAgentReads(database: Database) {
  const all = database.prepare<[], AgentColumns>('SELECT * FROM agents');
  const page = database.prepare<
    [{ readonly atMs: number; readonly id: string; readonly countMax: number }],
    AgentColumns
  >(
    `SELECT * FROM agents WHERE (created_ms, id) < (@atMs, @id)
     ORDER BY created_ms DESC, id DESC LIMIT @countMax`,
  );
  const byId = database.prepare<[string], AgentColumns>('SELECT * FROM agents WHERE id = ?');
  const byName = database.prepare<[string], AgentColumns>('SELECT * FROM agents WHERE name = ?');
  const keyById = database.prepare<[string], KeyColumns>('SELECT * FROM keys WHERE id = ?');
  const keysOf = database.prepare<[string], KeyColumns>(
    'SELECT * FROM keys WHERE agent_id = ? ORDER BY created_ms, id',
  );
  return {
    agents(): readonly AgentRow[] {
      return all
        .all()
        .map(agentRow)
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    agentPage: ({ after, countMax }: AgentPage): readonly AgentRow[] =>
      page
        .all({ atMs: after?.createdAtMs ?? Number.MAX_SAFE_INTEGER, id: after?.id ?? '', countMax })
        .map(agentRow),
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
    keys(agentId: string): readonly KeyRow[] {
      return keysOf.all(agentId).map(keyRow);
    },
  };
}

function prepareRequestReads(
  database: Database,
  { history }: Pick<ReturnType<typeof prepareRequestLists>, 'history'>,
) {
  const byKey = database.prepare<[IdempotencyQuery], { readonly id: string }>(
    `SELECT id FROM requests
     WHERE agent_id = @agentId AND idempotency_key = @key AND ${keptUntil} > @nowMs`,
  );
  const openOf = database.prepare<[string, number], { count: number }>(
    `SELECT count(*) AS count FROM requests
     WHERE coalesce(now_status, status) = 'pending' AND agent_id = ? AND coalesce(now_expires_ms, expires_ms) > ?`,
  );
  const refusalsOf = database.prepare<[string, number], RefusalColumns>(
    'SELECT * FROM refusals WHERE agent_id = ? ORDER BY sequence DESC LIMIT ?',
  );
  const request = (id: string): RequestRow | null => history(id)?.row ?? null;
  return {
    request,
    events: (id: string): readonly RequestEvent[] => history(id)?.events ?? [],
    requestByKey(query: IdempotencyQuery): RequestRow | null {
      const found = byKey.get(query);
      return found === undefined ? null : request(found.id);
    },
    countOpen: (agentId: string, nowMs: number): number => openOf.get(agentId, nowMs)?.count ?? 0,
    refusals(agentId: string, countMax: number): readonly RefusalRecord[] {
      return refusalsOf.all(agentId, countMax).map(refusalRecord);
    },
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

/** Returns a function that stores uses of nonces, to be called inside a transaction. */
export function prepareNonceWrites(database: Database): (uses: readonly NonceUse[]) => void {
  // Bound by position, which takes less time than by name.
  const insert = database.prepare<[number, number, string]>(
    'INSERT INTO nonces (kept_until_ms, used_ms, nonce) VALUES (?, ?, ?)',
  );
  const forget = database.prepare<[number]>('DELETE FROM nonces WHERE kept_until_ms < ?');
  return (uses) => {
    for (const { keptUntilMs, usedAtMs, nonce } of uses) insert.run(keptUntilMs, usedAtMs, nonce);
    const latest = uses.at(-1);
    if (latest !== undefined) forget.run(latest.usedAtMs);
  };
}

function prepareNonceReads(database: Database): () => readonly NonceUse[] {
  const select = database.prepare<[], NonceUse>(
    'SELECT nonce, used_ms AS usedAtMs, kept_until_ms AS keptUntilMs FROM nonces ORDER BY kept_until_ms',
  );
  return () => select.all();
}
