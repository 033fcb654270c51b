// The rows of the list, as they come page by page, and what the newest page changes about them. INVARIANT: a request
// is in the list once, in the order of the service, and a row without a change stays the same object.

import type { Operations } from '../../api/types.ts';

export type RequestItem = Operations['listRequests']['reply']['items'][number];

export interface Row {
  readonly item: RequestItem;
  /** It matched the filters once, and no longer does. */
  readonly isPast: boolean;
}

/** Appends the rows of an older page. */
export function withOlder(rows: readonly Row[], items: readonly RequestItem[]): readonly Row[] {
  const known = idsOf(rows);
  return [...rows, ...freshRows(items.filter(({ request_id: id }) => !known.has(id)))];
}

export interface ShownRows {
  readonly rows: readonly Row[];
  /** Newer than all rows, and not shown yet. */
  readonly waiting: readonly Row[];
  /** More is new than could be told apart: showing it restarts the list. */
  readonly hasGap: boolean;
  /** Where older ones go on; null at the end. */
  readonly cursor: string | null;
}

export interface NewestItems {
  readonly items: readonly RequestItem[];
  /** Null where they are all. */
  readonly cursor: string | null;
}

/** What the newest items make of the list; `isReading` where what is read may not be moved. */
export function withNewest(
  before: ShownRows,
  { items, cursor }: NewestItems,
  isReading: boolean,
): Partial<ShownRows> {
  const known = idsOf(before.rows);
  const now = new Map(items.map((item) => [item.request_id, item]));
  const oldest = items.findLast(({ request_id: id }) => known.has(id))?.request_id;
  // Up to this row the newest items give the state of each.
  const reach =
    cursor === null
      ? before.rows.length
      : before.rows.findIndex(({ item }) => item.request_id === oldest) + 1;
  const rows = before.rows.map((row, index) =>
    index < reach ? rowNow(row, now.get(row.item.request_id)) : row,
  );
  const fresh = freshRows(items.filter(({ request_id: id }) => !known.has(id)));
  if (fresh.length === 0) return { rows, waiting: [] };
  const hasGap = rows.length > 0 && oldest === undefined && cursor !== null;
  if (isReading && rows.length > 0) return { rows, waiting: fresh, hasGap };
  // Start again from the latest page: what lies between it and the rows would be missing.
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
