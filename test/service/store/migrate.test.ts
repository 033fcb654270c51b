// A database of the first schema, left by an earlier version and opened by the present one.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { refusalColumns, requestColumns } from '../../../src/service/store/shared/rows.ts';
import { refusalRecord, requestRow, temporaryFolder } from './rows.ts';

const firstSchema = readFileSync(
  new URL('../../../src/service/store/sqlite/migrations/001.sql', import.meta.url),
  'utf8',
);

test('records from before the chain are numbered in the order of their ids and chained', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const rows = [requestRow(), refusalRecord(), refusalRecord(), requestRow(), requestRow()];
  const database = new Database(path);
  database.exec(firstSchema);
  database.pragma('user_version = 1');
  for (const row of rows) {
    const columns = 'recordJson' in row ? requestColumns(row) : refusalColumns(row);
    const names = Object.keys(columns);
    database
      .prepare(
        `INSERT INTO ${'recordJson' in row ? 'requests' : 'refusals'} (${names}) VALUES (${names.map((name) => `@${name}`)})`,
      )
      .run(columns);
  }
  database.close();

  const store = await openStore({ path, isUpgradeAllowed: true });
  onTestFinished(() => store.close());
  const { records } = await store.chain.segment(0, 10);
  expect(records.map(({ entry }) => [entry.sequence, entry.id])).toEqual(
    rows.map(({ id }, index) => [index + 1, id]),
  );
  await store.requests.append(requestRow(), { openMax: 1 });
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', firstSequence: 1, end: { sequence: 6 } });
  expect(await store.requests.find(rows[0]?.id ?? '')).toEqual(rows[0]);
});
