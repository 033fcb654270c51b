// Exported lines: their content, and that a reader without this program can check them.

import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type ExportOptions, exportRecords } from '../../../src/service/audit/export.ts';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { refusalRecord, startMs } from '../store/rows.ts';
import { createChainedStore } from './chained.ts';

async function linesOf(store: Store, options: ExportOptions): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of exportRecords(store, options)) lines.push(line);
  return lines;
}

interface Line {
  readonly sequence: number;
  readonly at: string;
  readonly previous: string;
  readonly hash: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

test('each JSON line can be verified against the one before', async () => {
  const { store } = await createChainedStore();
  await pruneRecords(store, { beforeMs: startMs + 1000, nowMs: startMs + 1000 });
  const lines = (await linesOf(store, { format: 'jsonl' })).map((line) => JSON.parse(line) as Line);
  expect(lines.map(({ sequence }) => sequence)).toEqual([2, 3, 4, 5, 6, 7, 8]);
  let previous = lines[0]?.previous;
  for (const line of lines) {
    const { record_json: record = '', ...entry } = line.entry;
    const sorted = Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)));
    const text = `${line.previous}${JSON.stringify(sorted)}${record}`;
    const hash = createHash('sha256').update(text).digest('hex');
    expect([line.previous, line.hash]).toEqual([previous, hash]);
    previous = line.hash;
  }
  expect(lines[0]).toMatchObject({
    at: '2026-03-02T10:00:01.000Z',
    entry: { kind: 'request', outcome: 'ALLOW', record_json: expect.stringContaining('Staples') },
  });
});

test('a slow reader does not keep the write-ahead log from shrinking', async () => {
  const { store } = await createChainedStore();
  const lines = exportRecords(store, { format: 'jsonl', recordsAtOnce: 2 });
  expect((await lines.next()).done).toBe(false);
  for (let count = 0; count < 50; count += 1) await store.requests.appendRefusal(refusalRecord());
  const path = 'path' in store.records ? store.records.path : '';
  const database = new Database(path);
  // A reader within a transaction would keep the log from being folded whole.
  expect(database.pragma('wal_checkpoint(TRUNCATE)')).toMatchObject([{ busy: 0, log: 0 }]);
  database.close();
  let count = 1;
  for await (const _ of lines) count += 1;
  expect(count).toBeGreaterThan(8);
});

test('`since` is inclusive, `until` is exclusive', async () => {
  const { store } = await createChainedStore();
  const lines = await linesOf(store, { format: 'jsonl', sinceMs: startMs + 2000, untilMs: startMs + 5000 });
  expect(lines.map((line) => (JSON.parse(line) as Line).sequence)).toEqual([3, 4, 5]);
});

test('consecutive periods have each record once, and none has a gap', async () => {
  const { store } = await createChainedStore();
  // A record that is older than the one before it.
  await store.requests.appendRefusal(refusalRecord({ atMs: startMs + 2_500 }));
  const numbers = async (options: Omit<ExportOptions, 'format'>) =>
    (await linesOf(store, { format: 'jsonl', ...options })).map(
      (line) => (JSON.parse(line) as Line).sequence,
    );
  expect(await numbers({ untilMs: startMs + 3_000 })).toEqual([1, 2, 3]);
  expect(await numbers({ sinceMs: startMs + 3_000 })).toEqual([4, 5, 6, 7, 8]);
  // A clock that was set back: the record counts at its own time.
  await store.requests.appendRefusal(refusalRecord({ atMs: startMs - 3_600_000 }));
  expect(await numbers({ untilMs: startMs - 1 })).toEqual([9]);
});

test('CSV has a line of names, quotes fields, and defuses formulas', async () => {
  const { store } = await createChainedStore();
  await store.requests.appendRefusal(refusalRecord({ id: '=1+1', code: 'a "b", c', atMs: startMs + 9000 }));
  const lines = await linesOf(store, { format: 'csv' });
  expect(lines[0]).toBe('sequence,at,kind,id,agent_id,action,result,who,previous,hash,entry\r\n');
  expect(lines).toHaveLength(9);
  expect(lines[5]).toMatch(/^5,2026-03-02T10:00:04.000Z,change,,agent-1,agent-disabled,,ops,/);
  expect(lines[8]).toMatch(/^8,2026-03-02T10:00:09.000Z,refusal,'=1\+1,agent-1,,"a ""b"", c",,/);
});

test('a chain with a gap is exported, too', async () => {
  const { store, tamper } = await createChainedStore();
  tamper('UPDATE requests SET sequence = 5000 WHERE sequence = 7', 'DELETE FROM refusals');
  const lines = await linesOf(store, { format: 'jsonl' });
  expect(lines.map((line) => (JSON.parse(line) as Line).sequence)).toEqual([1, 2, 3, 5, 6, 5000]);
});
