// Seals the requests and events of a database from before they had seals. A step of the migration, in its
// transaction. A database has no seal over the end of its records, so what was changed before that is sealed
// as it is found.

import type { SealKey } from '../../contract/seal.ts';
import type { StoredEventRow, StoredRequestRow } from '../../shared/rows.ts';
import { textArray } from '../server/arrays.ts';
import type { Connection } from '../server/connection.ts';
import { eventSeal, requestSeal } from './request-seals.ts';

const rowsAtOnce = 1_000;

export async function sealEarlierRows(connection: Connection, key: SealKey): Promise<void> {
  const numbers = new Map<string, number>();
  await sealRows<StoredRequestRow>(connection, 'requests', (row) => requestSeal(key, row));
  await sealRows<StoredEventRow>(connection, 'request_events', (row) => {
    const number = (numbers.get(row.request_id) ?? 0) + 1;
    numbers.set(row.request_id, number);
    return eventSeal(key, row, number);
  });
}

async function sealRows<R extends { readonly sequence: number }>(
  connection: Connection,
  table: 'requests' | 'request_events',
  sealOf: (row: R) => string,
): Promise<void> {
  for (let after = -1; ; ) {
    const rows = await connection.query<R>(
      { text: `SELECT * FROM ${table} WHERE sequence > $1 ORDER BY sequence LIMIT ${rowsAtOnce}` },
      [after],
    );
    await connection.query(
      {
        text: `UPDATE ${table} SET seal = sealed.seal FROM unnest($1::int8[], $2::text[]) AS sealed(sequence, seal)
          WHERE ${table}.sequence = sealed.sequence`,
      },
      [rows.map(({ sequence }) => sequence), textArray(rows.map(sealOf))],
    );
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)?.sequence ?? after;
  }
}
