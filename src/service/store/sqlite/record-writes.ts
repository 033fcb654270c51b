// Stores requests and refusals in rows at the end of the chain.

import type { Database } from 'better-sqlite3';
import type { Link } from '../contract/chain.ts';
import type { GrantBasis } from '../contract/grant-basis.ts';
import type { MeterEntryRow } from '../contract/metering.ts';
import type { RefusalRecord, RequestRow } from '../contract/records.ts';
import type { AppendResult } from '../contract/store.ts';
import {
  keptUntil,
  type RefusalColumns,
  type RequestColumns,
  refusalColumns,
  requestColumns,
} from '../shared/rows.ts';
import type { WriteContext } from './write-context.ts';

interface NewRequest {
  readonly row: RequestRow;
  readonly openMax: number;
  /** What the decision rests on; null when that is not judged. */
  readonly basis: GrantBasis | null;
  readonly entries: readonly MeterEntryRow[];
}

export function prepareRecordWrites(database: Database, context: WriteContext) {
  const { chain, meterEntries } = context;
  const selectByKey = database.prepare<[RequestColumns], unknown>(
    `SELECT 1 FROM requests
     WHERE agent_id = @agent_id AND idempotency_key = @idempotency_key AND ${keptUntil} > @created_ms`,
  );
  const countOpen = database.prepare<[RequestColumns], { count: number }>(
    `SELECT count(*) AS count FROM requests
     WHERE coalesce(now_status, status) = 'pending' AND agent_id = @agent_id
       AND coalesce(now_expires_ms, expires_ms) > @created_ms`,
  );
  // Bound by position, which takes a third less time than by name.
  const insertRequest = database.prepare<(string | number | null)[]>(
    `INSERT INTO requests (sequence, id, agent_id, action_key, outcome, status, created_ms, decided_ms, expires_ms,
       idempotency_key, idempotency_digest, idempotency_until_ms, record_json, hash, seal)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  );
  const insertRow = (row: RequestColumns, { sequence, hash }: Link) =>
    insertRequest.run(
      sequence,
      row.id,
      row.agent_id,
      row.action_key,
      row.outcome,
      row.status,
      row.created_ms,
      row.decided_ms,
      row.expires_ms,
      row.idempotency_key,
      row.idempotency_digest,
      row.idempotency_until_ms,
      row.record_json,
      hash,
      context.sealOf(hash),
    );
  const insertRefusal = database.prepare<[RefusalColumns & Link]>(
    `INSERT INTO refusals (sequence, id, agent_id, key_id, at_ms, http_status, code, detail, client_address,
       body_digest, hash)
     VALUES (@sequence, @id, @agent_id, @key_id, @at_ms, @http_status, @code, @detail, @client_address,
       @body_digest, @hash)
     ON CONFLICT (id) DO NOTHING`,
  );
  return {
    'append-request'({ row, openMax, basis, entries }: NewRequest): AppendResult | 'duplicate-id' {
      if (basis !== null && !context.basis.holds(basis, row.createdAtMs)) return 'basis-changed';
      const columns = requestColumns(row);
      if (row.idempotency !== null && selectByKey.get(columns) !== undefined) return 'duplicate-key';
      if (row.status === 'pending' && (countOpen.get(columns)?.count ?? 0) >= openMax) return 'too-many-open';
      if (!chain.append('request', columns, insertRow)) return 'duplicate-id';
      for (const entry of entries) meterEntries.put(row.id, row.decidedAtMs, entry);
      return 'stored';
    },
    'append-refusal'({ record }: { readonly record: RefusalRecord }): 'stored' | 'duplicate-id' {
      const isStored = chain.append('refusal', refusalColumns(record), (columns, link) =>
        insertRefusal.run({ ...columns, ...link }),
      );
      return isStored ? 'stored' : 'duplicate-id';
    },
  };
}
