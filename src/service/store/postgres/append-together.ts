// Appends pending requests of one agent together with the documents and the record of the change that they belong
// to. INVARIANT: all of it is stored or nothing, and only while everything that the decisions rest on is as they
// saw it; no batch of requests is under way meanwhile.

import type { SealKey } from '../contract/seal.ts';
import type { AppendResult, BatchedRequest, RequestBatch } from '../contract/store.ts';
import { type PreparedRequest, prepareRequest } from './append.ts';
import { writeDocuments } from './documents.ts';
import { haveMoved, holds } from './event-writes.ts';
import { idArray } from './server/arrays.ts';
import { toStoreFailure } from './server/errors.ts';
import type { Transaction, Work } from './transaction.ts';

export function appendTogether(batch: RequestBatch, sealKey: SealKey): Work<AppendResult> {
  return async (transaction) => {
    const prepared = preparedOrThrow(batch, sealKey);
    await transaction.alone();
    const refusal = await refusalOf(transaction, batch);
    if (refusal !== null) return refusal;
    const written = await writeDocuments(batch.documents, batch.change)(transaction);
    if (written !== 'changed') return 'duplicate-key';
    for (const request of prepared) transaction.appendRequest(request);
    await enterMeters(transaction, batch.requests);
    return 'stored';
  };
}

function preparedOrThrow({ requests, limits }: RequestBatch, sealKey: SealKey): readonly PreparedRequest[] {
  try {
    return requests.map(({ row, entries }) => prepareRequest({ row, limits, entries, series: [] }, sealKey));
  } catch (error) {
    throw toStoreFailure(error);
  }
}

/** Why nothing may be stored; null when it may. */
async function refusalOf(
  transaction: Transaction,
  { agentId, requests, limits, meters, change }: RequestBatch,
): Promise<AppendResult | null> {
  const { precondition, openMax } = limits;
  if (precondition !== undefined && !(await holds(transaction, precondition, change.atMs)))
    return 'precondition-failed';
  if (requests.length > 0 && (await countOpen(transaction, agentId, change.atMs)) + requests.length > openMax)
    return 'too-many-open';
  if (meters !== undefined && (await haveMoved(transaction, meters))) return 'precondition-failed';
  return null;
}

async function countOpen({ rows }: Transaction, agentId: string, atMs: number): Promise<number> {
  const [open] = await rows<{ readonly count: number }>(
    `SELECT count(*)::int4 AS count FROM requests WHERE coalesce(now_status, status) = 'pending'
       AND agent_id = $1 AND coalesce(now_expires_ms, expires_ms) > $2`,
    [agentId, atMs],
  );
  return open?.count ?? 0;
}

async function enterMeters({ rows, slot }: Transaction, requests: readonly BatchedRequest[]): Promise<void> {
  const entered = requests.flatMap(({ row, entries }) => entries.map((entry) => ({ ...entry, id: row.id })));
  if (entered.length === 0) return;
  await rows(
    `INSERT INTO meter_entries (definition, request_id, meter_key, is_certain, value, written, slot)
     SELECT e.definition, e.request_id, e.key, e.certain, e.value, pg_current_xact_id(), $6
     FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bool[], $5::text[])
       AS e(definition, request_id, key, certain, value)`,
    [
      ...[entered.map(({ definition }) => definition), idArray(entered.map(({ id }) => id))],
      ...[entered.map(({ key }) => key), entered.map(({ isCertain }) => isCertain)],
      ...[entered.map(({ value }) => value), slot],
    ],
  );
}
