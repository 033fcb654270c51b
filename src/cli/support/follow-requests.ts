// Follows the requests of a running service: fetches the new ones every second, and goes on after the service
// was away for a while. INVARIANT: each request is handed on once, the earlier ones first.

import { setTimeout as pause } from 'node:timers/promises';
import { type Api, ApiError, allItems, type Page } from '../client/api-client.ts';
import { printError } from '../output/output.ts';
import type { ShownRequest } from './request-text.ts';

const everyMs = 1_000;
/** Milliseconds by which a request may become visible after a later one: replicas share no order. */
const lateMs = 10_000;
const firstCount = '20';

type Query = Readonly<
  Partial<Record<'status' | 'decision' | 'text' | 'agent' | 'action' | 'policy' | 'from' | 'limit', string>>
>;

/** Hands on requests as they arrive. Never resolves; rejects when the service refuses a call. */
export async function followRequests(
  api: Api,
  { status, decision, text, agent, action, policy, from, limit = firstCount }: Query,
  hand: (items: readonly ShownRequest[]) => void,
): Promise<never> {
  const query = { status, decision, text, agent, action, policy };
  const handed = new Map<string, number>();
  let newestMs = 0;
  /** Time of the earliest request of the first page; earlier requests are of no interest. */
  let sinceMs = 0;
  let isAway = false;
  for (let isFirst = true; ; ) {
    try {
      const items = isFirst
        ? (await api.get<Page<ShownRequest>>('/v1/requests', { ...query, from, limit })).items
        : await allItems<ShownRequest>(api, '/v1/requests', {
            ...query,
            from: moment(Math.max(sinceMs, newestMs - lateMs)),
          });
      if (isAway) printError('the service answers again\n');
      isAway = false;
      if (isFirst) sinceMs = Date.parse(items.at(-1)?.created_at ?? '1970-01-01');
      isFirst = false;
      const fresh = items.filter((one) => !handed.has(one.request_id)).toReversed();
      for (const one of fresh) {
        handed.set(one.request_id, Date.parse(one.created_at));
        newestMs = Math.max(newestMs, Date.parse(one.created_at));
      }
      for (const [id, ms] of handed) if (ms < newestMs - lateMs) handed.delete(id);
      hand(fresh);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isAway || isFirst) throw error;
      if (!isAway) printError(`${error.message} Trying again.\n`);
      isAway = true;
    }
    await pause(everyMs);
  }
}

function moment(ms: number): string {
  return new Date(ms).toISOString();
}
