// Defines each kind of write once: the types of a write and of its result, and the way to its statements, are
// inferred from one table. INVARIANT: a write looks before it changes anything, under the lock of its batch's
// transaction, so a write that is refused because of what it finds leaves no trace and does no harm to others
// of its batch.

import type { Database } from 'better-sqlite3';
import type { PlantRow } from '../contract/records.ts';
import { prepareAgentWrites } from './agent-writes.ts';
import { prepareChainWrites } from './chain-writes.ts';
import { prepareDocumentWrites } from './documents.ts';
import { prepareEventWrites } from './event-writes.ts';
import { prepareSnapshotWrites } from './meter-snapshots.ts';
import { prepareMeterWrites } from './meters.ts';
import { prepareRecordWrites } from './record-writes.ts';
import { prepareStatisticsWrites } from './statistics.ts';
import { prepareWriteContext, type WriteContext, type WriteOptions } from './write-context.ts';

/** The kinds of write by name, each as a function that makes the write and returns its result. */
type WriteKinds = ReturnType<typeof prepareWriteKinds>;

function prepareWriteKinds(database: Database, context: WriteContext, { sealKey }: WriteOptions) {
  return {
    ...prepareBasisWrites(database, context),
    ...prepareRecordWrites(database, context),
    ...prepareEventWrites(database, context),
    ...prepareMeterWrites(database, context.meterEntries),
    ...prepareSnapshotWrites(database, sealKey),
    ...prepareChainWrites(database, context),
    ...prepareStatisticsWrites(database),
    ...prepareOtherWrites(database),
  };
}

/** The writes that may change what a grant rests on. */
function prepareBasisWrites(database: Database, context: WriteContext) {
  return { ...prepareAgentWrites(database, context), ...prepareDocumentWrites(database, context) };
}

function prepareOtherWrites(database: Database) {
  const insertPlant = database.prepare<[PlantRow]>(
    'INSERT INTO plants VALUES (@id, @name, @tag) ON CONFLICT (id) DO NOTHING',
  );
  const insertSetting = database.prepare<[string, string]>(
    'INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
  );
  return {
    'add-plant': ({ plant }: { readonly plant: PlantRow }): 'added' | 'used' =>
      insertPlant.run(plant).changes === 0 ? 'used' : 'added',
    'put-setting': ({ name, value }: { readonly name: string; readonly value: string }): 'put' | 'there' =>
      insertSetting.run(name, value).changes === 0 ? 'there' : 'put',
  };
}

export type WriteKind = keyof WriteKinds;

/** The result of each kind of write. */
export type WriteResults = { readonly [K in WriteKind]: ReturnType<WriteKinds[K]> };

type WritesByKind = { readonly [K in WriteKind]: { readonly kind: K } & Parameters<WriteKinds[K]>[0] };
export type WriteOf<K extends WriteKind> = WritesByKind[K];
export type Write = WriteOf<WriteKind>;

export type ApplyWrite = (write: Write) => WriteResults[WriteKind];

/**
 * Prepares all statements. The returned function is to be called inside a transaction that holds the write
 * lock.
 */
export function prepareWrites(database: Database, options: WriteOptions): ApplyWrite {
  const context = prepareWriteContext(database, options);
  const basisKinds = new Set(Object.keys(prepareBasisWrites(database, context)));
  const kinds = prepareWriteKinds(database, context, options);
  return (write) => {
    // The type of a write follows from its kind, but the compiler does not see that through the table.
    const apply = kinds[write.kind] as (write: Write) => WriteResults[WriteKind];
    const result = apply(write);
    if (basisKinds.has(write.kind)) options.basis.forget();
    return result;
  };
}
