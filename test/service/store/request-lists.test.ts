// How both stores execute queries for lists of requests: along an index, whatever the filter.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { withNames } from '../../../src/service/store/postgres/server/named-parameters.ts';
import { activityTexts } from '../../../src/service/store/queries/agent-activity.ts';
import {
  type Dialect,
  postgresDialect,
  type Query,
  query,
  sqliteDialect,
} from '../../../src/service/store/queries/dialect.ts';
import { requestQueries } from '../../../src/service/store/queries/request-lists.ts';
import { createSyncQueryRunner } from '../../../src/service/store/sqlite/query-runner.ts';
import { anyResumableQuery, resumableQuery } from '../../../src/service/store/sqlite/request-reads.ts';
import { keptPostgres, type TestDatabase } from './postgres-server.ts';
import { everything, startMs, temporaryFolder } from './rows.ts';

/** The lists with the index that each goes along in both stores; null for the order of the records. */
function listsOf(sql: Dialect): readonly (readonly [string, Query<unknown>, string | null])[] {
  const { page, stretch, waiting, waitingCount } = requestQueries(sql);
  const { requests, refusals, granted } = activityTexts(sql);
  const asked = { groups: ['finance'], owner: { email: 'ann@example.com', id: 'p1' } };
  const ofAgent = { ...everything, agentId: 'agent-1' };
  const rejected = { ...everything, status: 'rejected' } as const;
  const unanswered = { ...everything, status: 'unanswered' } as const;
  const activity = { agentId: 'agent-1', actionKey: 'pay', before: 9, afterSequence: 0 };
  return [
    ['agent', page(ofAgent, 9), 'requests_by_agent'],
    ['agent for a search', stretch(ofAgent, 9, 9), 'requests_by_agent'],
    ['status', page(rejected, 9), 'requests_by_status'],
    ['unanswered requests', page(unanswered, 9), 'requests_by_status'],
    ['number', page(everything, 9), null],
    ['the queue', waiting({ identity: asked, nowMs: startMs, after: null, countMax: 9 }), 'requests_due'],
    [
      'the count of the queue',
      waitingCount({ identity: asked, nowMs: startMs, person: asked.owner }),
      'requests_due|requests_open|requests_held',
    ],
    ['granted', query(granted, activity), 'requests_by_agent'],
    ['outcomes', query(requests, activity), 'requests_by_agent'],
    ['refusals', query(refusals, activity), 'refusals_by_agent'],
  ];
}

const tables = '(requests|request_events|refusals)';

function explain({ text, parameters }: Query<unknown>, how: string): Query<{ readonly detail: string }> {
  return query(`EXPLAIN ${how} ${text}`, parameters);
}

describe('in a file, a walk', () => {
  const held = { agentId: '', actionKey: '', taker: '', nowMs: 0, countMax: 9 };
  const [anyHeld, allHeld] = [query<unknown>(anyResumableQuery, held), query<unknown>(resumableQuery, held)];

  test.each([
    ...listsOf(sqliteDialect),
    ['whether an agent has something to come back for', anyHeld, 'requests_held'] as const,
    ['whether it has taken something', anyHeld, 'request_events_taken'] as const,
    ['what an agent may come back for', allHeld, 'requests_held'] as const,
    ['what it has taken', allHeld, 'request_events_taken'] as const,
  ])('by %s goes along its index, and sorts and scans no requests', async (_, list, index) => {
    const path = join(temporaryFolder(), 'writ.db');
    await (await openStore({ path })).close();
    const database = new Database(path, { readonly: true });
    const rows = createSyncQueryRunner(database).all(explain(list, 'QUERY PLAN'));
    database.close();
    const plan = rows.map(({ detail }) => detail);
    const along = index === null ? 'INTEGER PRIMARY KEY' : `INDEX (${index})`;
    expect(plan.filter((step) => new RegExp(`^SEARCH ${tables} USING ${along}`).test(step))).not.toEqual([]);
    expect(plan.filter((step) => new RegExp(`SCAN ${tables}\\b`).test(step))).toEqual([]);
    // Only requests with the same deadline are sorted, and the parts of the unanswered requests among each other.
    const sorted = plan.filter((step) => /TEMP B-TREE FOR ORDER BY/.test(step));
    expect(sorted).toHaveLength(plan.filter((step) => step === 'SCAN part').length);
  });
});

describe('in a database, a walk', () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await (await keptPostgres()).createDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    // In an empty table the planner would scan; it now scans and sorts only where no index serves.
    await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off');
  }, 60_000);
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  test.each(listsOf(postgresDialect))(
    'by %s goes along its index, and scans no requests',
    async (_, list, index) => {
      const explain = withNames(async <R>(text: string, values: readonly unknown[] = []) => {
        const { rows } = await client.query(`EXPLAIN (COSTS OFF) ${text}`, [...values]);
        return rows as readonly R[];
      });
      const rows = await explain(list as Query<{ readonly 'QUERY PLAN': string }>);
      const plan = rows.map((row) => row['QUERY PLAN'].trim());
      const along = new RegExp(
        `Index (Only )?Scan (Backward )?using (${index ?? 'requests_pkey'}) on ${tables}`,
      );
      expect(plan.filter((step) => along.test(step))).not.toEqual([]);
      expect(plan.filter((step) => new RegExp(`Seq Scan on ${tables}\\b`).test(step))).toEqual([]);
    },
  );
});
