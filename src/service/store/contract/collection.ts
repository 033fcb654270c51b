// Documents of one kind as typed values. INVARIANT: a value replaces only the version that was read.

import type { DocumentPut, DocumentRemoval, DocumentRow, DocumentStore } from './documents.ts';

/** A value with the version that a change of it has to name. */
export interface ReadDocument<T> {
  readonly value: T;
  /** The version of the document; 0 for a value that is not stored yet. */
  readonly version: number;
}

interface StoredFields {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Keys of a value, besides its id, by which a store finds or deletes its document. */
export interface Facets {
  readonly name?: string;
  readonly parent?: string;
  readonly endsAtMs?: number;
}

export interface Collection<T> {
  find(id: string): Promise<ReadDocument<T> | null>;
  findByName(name: string): Promise<ReadDocument<T> | null>;
  /**
   * Returns values, the latest first: only those after `after` if it is given, and only those of `parent` if
   * it is given.
   */
  list(page: ListPage): Promise<readonly ReadDocument<T>[]>;
  /** A number that grows with every recorded change of a value, by any process. */
  generation(): Promise<number>;
  put(value: T, seen: number): DocumentPut;
  remove(value: T, seen: number): DocumentRemoval;
}

export interface ListPage {
  readonly parent?: string;
  readonly after?: { readonly createdAtMs: number; readonly id: string } | null;
  readonly countMax: number;
}

/**
 * Returns the typed collection of the documents of `kind`. `T` must be plain data that survives JSON, and
 * `put` of this collection must be the only writer of the kind.
 */
export function createCollection<T extends StoredFields>(
  store: DocumentStore,
  kind: string,
  facets: (value: T) => Facets,
): Collection<T> {
  const read = (row: DocumentRow): ReadDocument<T> => ({
    value: JSON.parse(row.json) as T,
    version: row.version,
  });
  const readMaybe = (row: DocumentRow | null): ReadDocument<T> | null => (row === null ? null : read(row));
  return {
    find: async (id) => readMaybe(await store.find(kind, id)),
    findByName: async (name) => readMaybe(await store.findByName(kind, name)),
    list: async ({ parent = null, after = null, countMax }) =>
      (await store.list({ kind, parent: parent ?? null, after, countMax })).map(read),
    generation: () => store.generation(kind),
    put: (value, seen) => {
      const { name = null, parent = null, endsAtMs = null } = facets(value);
      const { id, createdAtMs } = value;
      return { kind, id, seen, name, parent, createdAtMs, endsAtMs, json: JSON.stringify(value) };
    },
    remove: ({ id }, seen) => ({ kind, id, seen, isRemoval: true }),
  };
}
