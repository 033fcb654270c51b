// Requests and refusals into rows at the end of the chain.

import type { Database } from 'better-sqlite3';
import type { Link } from '../contract/chain.ts';
import type { MeterWrites } from './meters.ts';
import { keptUntil, type RefusalColumns, type RequestColumns } from './rows.ts';
import type { WriteOf, WriteOptions, WriteResults } from './writes.ts';

export function prepareRecordWrites(
  database: Database,
  { chain, basis: basisCheck }: WriteOptions,
  meters: MeterWrites,
) {
  const selectByKey = database.prepare<[RequestColumns], unknown>(
    `SELECT 1 FROM requests
     WHERE agent_id = @agent_id AND idempotency_key = @idempotency_key AND ${keptUntil} > @created_ms`,
  );
  const countOpen = database.prepare<[RequestColumns], { count: number }>(
    `SELECT count(*) AS count FROM requests
     WHERE coalesce(now_status, status) = 'pending' AND agent_id = @agent_id
       AND coalesce(now_expires_ms, expires_ms) > @created_ms`,
  );
  // By position, which takes a third less time than by name.
  const insertRequest = database.prepare<(string | number | null)[]>(
    `INSERT INTO requests (sequence, id, agent_id, action_key, outcome, status, created_ms, decided_ms, expires_ms,
       idempotency_key, idempotency_digest, idempotency_until_ms, record_json, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  );
  const insertRow = (row: RequestColumns & Link) =>
    insertRequest.run(
      row.sequence,
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
      row.hash,
    );
  const insertRefusal = database.prepare<[RefusalColumns & Link]>(
    `INSERT INTO refusals (sequence, id, agent_id, key_id, at_ms, http_status, code, detail, client_address,
       body_digest, hash)
     VALUES (@sequence, @id, @agent_id, @key_id, @at_ms, @http_status, @code, @detail, @client_address,
       @body_digest, @hash)
     ON CONFLICT (id) DO NOTHING`,
  );
  return {
    append({ row, openMax, basis, entries }: WriteOf<'append-request'>): WriteResults['append-request'] {
      if (basis !== null && !basisCheck.holds(basis, row.created_ms)) return 'basis-changed';
      if (row.idempotency_key !== null && selectByKey.get(row) !== undefined) return 'duplicate-key';
      if (row.status === 'pending' && (countOpen.get(row)?.count ?? 0) >= openMax) return 'too-many-open';
      if (!chain.append('request', row, insertRow)) return 'duplicate-id';
      for (const entry of entries) meters.put(row.id, row.decided_ms, entry);
      return 'stored';
    },
    appendRefusal(row: RefusalColumns): WriteResults['append-refusal'] {
      return chain.append('refusal', row, insertRefusal.run.bind(insertRefusal)) ? 'stored' : 'duplicate-id';
    },
  };
}
