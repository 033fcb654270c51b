// What can be told of a stored request from its rows alone: the state in its row against its last event, and
// from when on it grants nothing.

import type { EventColumns, StoredRequestColumns } from './rows.ts';

/** From when on the request grants nothing, whichever of its events are looked at. */
export function latestExpiry(
  row: Pick<StoredRequestColumns, 'expires_ms'>,
  events: readonly Pick<EventColumns, 'expires_ms'>[],
): number {
  return Math.max(row.expires_ms, ...events.map((event) => event.expires_ms));
}

/** Says how the state in the row differs from the one after the last event; null when it does not. */
export function stateDifference(row: StoredRequestColumns, last: EventColumns | undefined): string | null {
  const { now_status: status, now_decided_ms: decidedMs, now_expires_ms: expiresMs } = row;
  const expected = last?.status ?? null;
  if (status !== expected)
    return `its status is \`${status ?? row.status}\`, but \`${expected ?? row.status}\` in the records of its changes`;
  if (decidedMs === (last?.decided_ms ?? null) && expiresMs === (last?.expires_ms ?? null)) return null;
  return 'its decision or end time differs from the records of its changes';
}
