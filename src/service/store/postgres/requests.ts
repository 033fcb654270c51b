// Requests, their events, and refusals in PostgreSQL: written over the queue of commits, read over the pool.

import type { RequestEvent } from '../contract/records.ts';
import type { SealKey } from '../contract/seal.ts';
import type { RequestStore } from '../contract/store.ts';
import { createEventCounts } from '../shared/event-counts.ts';
import { endNow, statusNow } from '../shared/request-walk.ts';
import { type RefusalColumns, refusalRecord } from '../shared/rows.ts';
import { type SearchThread, searchedList } from '../shared/search/search-thread.ts';
import type { Asking } from './asking.ts';
import type { CommitQueue } from './commit-queue.ts';
import { createChangeWrites, createRefusalWrites, requestWrites } from './event-writes.ts';
import {
  countWaiting,
  findAt,
  findHeld,
  findHistory,
  findPage,
  findWaiting,
  type RequestReading,
} from './request-lists.ts';
import type { ReadPool } from './server/read-pool.ts';
import { requestIdOrNull } from './server/request-ids.ts';

const isPending = `${statusNow} = 'pending'`;

export interface RequestParts {
  readonly pool: ReadPool;
  readonly queue: CommitQueue;
  readonly asking: Asking;
  readonly search: SearchThread;
  readonly sealKey: SealKey;
}

export function requestStore({ pool, queue, asking, search, sealKey }: RequestParts): RequestStore {
  const { rows } = pool;
  const guard = { key: sealKey, counts: createEventCounts() };
  const writes = requestWrites(sealKey);
  const snapshot = <T>(work: (reading: RequestReading) => Promise<T>): Promise<T> =>
    pool.snapshot((rows) => work({ rows, guard }));
  const one = async (condition: string, values: readonly unknown[]) => {
    const [found] = await rows<{ readonly id: string }>(`SELECT id FROM requests WHERE ${condition}`, values);
    return found === undefined ? null : ((await history(found.id))?.row ?? null);
  };
  const history = (id: string) => snapshot((read) => findHistory(read, requestIdOrNull(id)));
  return {
    append: (row, limits, entries = []) => asking.append(row, limits, entries),
    find: (id) => one('id = $1', [requestIdOrNull(id)]),
    findByIdempotencyKey: ({ agentId, key, nowMs }) =>
      one(
        `agent_id = $1 AND idempotency_key = $2
         AND idempotency_until_ms + greatest(0, ${endNow} - expires_ms) > $3`,
        [agentId, key, nowMs],
      ),
    async countOpen(agentId, nowMs) {
      const [open] = await rows<{ readonly count: number }>(
        `SELECT count(*) AS count FROM requests WHERE ${isPending} AND agent_id = $1 AND ${endNow} > $2`,
        [agentId, nowMs],
      );
      return open?.count ?? 0;
    },
    async history(id) {
      const found = await history(id);
      await queue.settle();
      return found;
    },
    events: async (id): Promise<readonly RequestEvent[]> => (await history(id))?.events ?? [],
    list: searchedList(search, {
      walk: (page) => snapshot((read) => findPage(read, page)),
      at: (places) => snapshot((read) => findAt(read, places)),
    }),
    count: search.count,
    waiting: (page) => snapshot((read) => findWaiting(read, page)),
    countWaiting: (query) => snapshot((read) => countWaiting(read, query)),
    heldOf: (query) => snapshot((read) => findHeld(read, query)),
    async openOf(agentId, countMax) {
      const text = `SELECT id FROM requests WHERE ${isPending} AND agent_id = $1 ORDER BY ${endNow} LIMIT $2`;
      return (await rows<{ readonly id: string }>(text, [agentId, countMax])).map(({ id }) => id);
    },
    change: createChangeWrites(queue, sealKey),
    // A write delays all replicas, so a read first finds out whether anything is due; mostly nothing is.
    expireDue: async (atMs, countMax) =>
      (await rows(`SELECT 1 FROM requests WHERE ${isPending} AND ${endNow} <= $1 LIMIT 1`, [atMs])).length > 0
        ? await queue.write(writes.expireDue(atMs, countMax), 'left')
        : [],
    appendRefusal: createRefusalWrites(queue),
    async refusals(agentId, countMax) {
      const text = 'SELECT * FROM refusals WHERE agent_id = $1 ORDER BY sequence DESC LIMIT $2';
      return (await rows<RefusalColumns>(text, [agentId, countMax])).map(refusalRecord);
    },
  };
}
