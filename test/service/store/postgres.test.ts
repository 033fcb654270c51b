// The contract of a store, on PostgreSQL.

import { beforeAll } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { describeAppendTogether } from './append-together-contract.ts';
import { describeStore } from './contract.ts';
import { describeDocuments } from './documents-contract.ts';
import { describeGrantPrecondition } from './grant-precondition-contract.ts';
import { describeMeters } from './meters-contract.ts';
import { keptPostgres, type PostgresServer } from './postgres-server.ts';
import { describeRecords } from './records-contract.ts';
import { describeRequestLists } from './request-lists-contract.ts';
import { describeSearch } from './search-contract.ts';
import { describeStatistics } from './statistics-contract.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await keptPostgres();
}, 60_000);

const createPlace = async () => {
  const database = await server.createDatabase();
  return { open: () => openStore(database), remove: () => database.drop() };
};

describeStore('the PostgreSQL store', createPlace);
describeDocuments('the PostgreSQL store', createPlace);
describeAppendTogether('the PostgreSQL store', createPlace);
describeGrantPrecondition('the PostgreSQL store', createPlace);
describeRequestLists('the PostgreSQL store', createPlace);
describeMeters('the PostgreSQL store', createPlace);
describeRecords('the PostgreSQL store', createPlace);
describeStatistics('the PostgreSQL store', createPlace);
describeSearch('the PostgreSQL store', createPlace);
