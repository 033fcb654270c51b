// Replaces the ids of lets. During a check, a read of a let names its variant by where the read occurs. At
// the end variants with equal expressions are joined, and every read gets the final id. Data is renamed again
// only when the final id of a let in it has changed.

import type { LetRead } from '../../model/expression.ts';

/** The result of renaming a piece of data, and the ids for which it holds. */
export interface Renaming {
  /** Previous and new ids, in alternation. */
  readonly ids: readonly (string | undefined)[];
  readonly result: unknown;
}

/** Returns the data with the final ids of lets; parts without lets are shared, not copied. */
export function rename<T extends object>(
  data: T,
  ids: ReadonlyMap<string, string>,
  renamings: WeakMap<object, Renaming>,
): T {
  const cached = renamings.get(data);
  // Renamed data keeps its type.
  if (cached !== undefined && stillHolds(cached, ids)) return cached.result as T;
  const seen: (string | undefined)[] = [];
  const result = renamed(data, ids, seen);
  renamings.set(data, { ids: seen, result });
  return result;
}

function stillHolds({ ids: seen }: Renaming, ids: ReadonlyMap<string, string>): boolean {
  for (let at = 0; at < seen.length; at += 2) if (ids.get(seen[at] ?? '') !== seen[at + 1]) return false;
  return true;
}

function renamed<T>(data: T, ids: ReadonlyMap<string, string>, seen: (string | undefined)[]): T {
  if (typeof data !== 'object' || data === null) return data;
  // A copy has the keys of the original, with values of the same kinds.
  if (Array.isArray(data)) {
    const copy = data.map((part) => renamed(part, ids, seen));
    return copy.every((part, index) => part === data[index]) ? data : (copy as T);
  }
  if (isLetRead(data)) {
    const id = ids.get(data.id);
    seen.push(data.id, id);
    return { ...data, id };
  }
  const entries = Object.entries(data).map(([key, part]) => [key, part, renamed(part, ids, seen)] as const);
  if (entries.every(([, before, after]) => before === after)) return data;
  return Object.fromEntries(entries.map(([key, , after]) => [key, after])) as T;
}

function isLetRead(data: object): data is LetRead {
  return 'kind' in data && data.kind === 'let' && 'id' in data;
}
