// How SQLite executes queries for lists of requests: along an index, whatever the filter.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { grantedText, outcomeTexts } from '../../../src/service/store/sqlite/reads.ts';
import {
  anyHeldText,
  heldText,
  listText,
  waitingCountText,
  waitingText,
  walks,
} from '../../../src/service/store/sqlite/request-lists.ts';
import { everything, temporaryFolder } from './rows.ts';

async function makeStore(): Promise<string> {
  const path = join(temporaryFolder(), 'writ.db');
  await (await openStore({ path })).close();
  return path;
}

describe('a walk', () => {
  /** The steps of SQLite's plan for a query. */
  function planOf(path: string, text: string): readonly string[] {
    const database = new Database(path, { readonly: true });
    try {
      const rows = database.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all({
        ...everything,
        isOfAll: 1,
        email: null,
        askedEmail: null,
        askedId: null,
        personId: null,
        groups: '[]',
        countMax: 50,
        fromMs: 0,
        untilMs: 1,
        before: 1,
        afterMs: 1,
        afterId: '',
        afterSequence: 1,
        taker: '',
        person: '',
      });
      return rows.map(({ detail }) => detail);
    } finally {
      database.close();
    }
  }

  test.each([
    ['agent', listText(walks.agent), 'SEARCH requests USING INDEX requests_by_agent'],
    ['status', listText(walks.status), 'SEARCH requests USING INDEX requests_by_status'],
    ['number', listText(walks.all), 'SEARCH requests USING INTEGER PRIMARY KEY'],
    ['the queue', waitingText, 'SEARCH requests USING INDEX requests_due'],
    ['the count of the queue', waitingCountText, 'SEARCH requests USING INDEX requests_due'],
    [
      'whether an agent has something to come back for',
      anyHeldText,
      'SEARCH requests USING INDEX requests_held',
    ],
    ['whether it has taken something', anyHeldText, 'SEARCH request_events USING INDEX request_events_taken'],
    ['what an agent may come back for', heldText, 'SEARCH requests USING INDEX requests_held'],
    ['what it has taken', heldText, 'SEARCH request_events USING INDEX request_events_taken'],
    ['granted', grantedText, 'SEARCH requests USING INDEX requests_by_agent'],
    ['outcomes', outcomeTexts.requests, 'SEARCH requests USING INDEX requests_by_agent'],
    ['refusals', outcomeTexts.refusals, 'SEARCH refusals USING INDEX refusals_by_agent'],
  ])('by %s goes along its index, and sorts and scans no requests', async (_, text, walk) => {
    const path = await makeStore();
    const plan = planOf(path, text);
    expect(plan.filter((step) => step.startsWith(walk))).toHaveLength(1);
    expect(plan.filter((step) => /SCAN (requests|request_events|refusals)\b/.test(step))).toEqual([]);
    // Only requests with the same deadline are sorted.
    expect(plan.filter((step) => /TEMP B-TREE FOR ORDER BY/.test(step))).toEqual([]);
  });
});
