// The rows of the list, which arrive page by page, and the changes that the newest page makes to them.
// INVARIANT: a request is in the list once, in the order of the service, and an unchanged row stays the same
// object.

import type { Operations } from '../../../api/operations.ts';

export type RequestItem = Operations['listRequests']['reply']['items'][number];

export interface Row {
  readonly item: RequestItem;
  /** Whether the request matched the filters once, but no longer does. */
  readonly isPast: boolean;
}

/** Appends the rows of an older page. */
export function withOlder(rows: readonly Row[], items: readonly RequestItem[]): readonly Row[] {
  const loadedIds = idsOf(rows);
  return [...rows, ...freshRows(items.filter(({ request_id: id }) => !loadedIds.has(id)))];
}

export interface LoadedRows {
  readonly rows: readonly Row[];
  /** Rows newer than all others that are not shown yet. */
  readonly waiting: readonly Row[];
  /** Whether there are more new requests than were loaded: showing them restarts the list. */
  readonly hasGap: boolean;
  /** Cursor for older rows; null at the end. */
  readonly cursor: string | null;
}

export interface NewestItems {
  readonly items: readonly RequestItem[];
  /** Null when these are all items. */
  readonly cursor: string | null;
}

/** The list after the newest items have arrived. `isReading`: rows that are being read must not move. */
export function withNewest(
  before: LoadedRows,
  { items, cursor }: NewestItems,
  isReading: boolean,
): Partial<LoadedRows> {
  const loadedIds = idsOf(before.rows);
  const now = new Map(items.map((item) => [item.request_id, item]));
  const oldest = items.findLast(({ request_id: id }) => loadedIds.has(id))?.request_id;
  // The newest items tell the state of each row up to this one.
  const reach =
    cursor === null
      ? before.rows.length
      : before.rows.findIndex(({ item }) => item.request_id === oldest) + 1;
  const rows = before.rows.map((row, index) =>
    index < reach ? rowNow(row, now.get(row.item.request_id)) : row,
  );
  const fresh = freshRows(items.filter(({ request_id: id }) => !loadedIds.has(id)));
  if (fresh.length === 0) return { rows, waiting: [] };
  const hasGap = rows.length > 0 && oldest === undefined && cursor !== null;
  if (isReading && rows.length > 0) return { rows, waiting: fresh, hasGap };
  // Restart from the newest page, because requests between it and the rows are missing.
  if (hasGap) return { rows: fresh, cursor, waiting: [], hasGap: false };
  return { rows: [...fresh, ...rows], waiting: [], hasGap: false };
}

function rowNow(row: Row, item: RequestItem | undefined): Row {
  if (item === undefined) return row.isPast ? row : { ...row, isPast: true };
  const isSame = !row.isPast && JSON.stringify(item) === JSON.stringify(row.item);
  return isSame ? row : { item, isPast: false };
}

function freshRows(items: readonly RequestItem[]): readonly Row[] {
  return items.map((item) => ({ item, isPast: false }));
}

function idsOf(rows: readonly Row[]): ReadonlySet<string> {
  return new Set(rows.map(({ item }) => item.request_id));
}
