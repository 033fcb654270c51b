// What is said of a store whose tables are those of another version of Writ. INVARIANT: only a start of the
// service and `writ store migrate` bring a store up to date, and never while a process serves it.

import { StoreError } from './store-error.ts';

export interface SchemaVersions {
  /** The number of the schema that the store has; 0 for one without tables. */
  readonly actual: number;
  /** The number of the schema that this version of Writ works on. */
  readonly own: number;
}

interface OtherSchema extends SchemaVersions {
  /** The store in words, such as the name of its file in backquotes. */
  readonly store: string;
}

export function olderSchema({ store, actual, own }: OtherSchema): StoreError {
  return new StoreError(
    'older-database',
    `${store} was written by an earlier version of Writ (schema ${actual}, this one needs ${own}): stop the service of that version, then start that of this one or run \`writ store migrate\`; until then use the commands of that version`,
  );
}

export function newerSchema({ store, actual, own }: OtherSchema): StoreError {
  return new StoreError(
    'newer-database',
    `${store} was written by a later version of Writ (schema ${actual}, this one knows ${own}): use that version, or restore a backup from before`,
  );
}
