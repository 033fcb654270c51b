// Logs as files: an export equals the store, and every unreadable line is named.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../../src/analysis/replay/engine/log.ts';
import type { LogSource } from '../../../src/analysis/replay/log-source.ts';
import { openExport } from '../../../src/analysis/replay/read-export.ts';
import { openStoredLog } from '../../../src/analysis/replay/read-store.ts';
import { exportRecords } from '../../../src/service/audit/export.ts';
import { openRecords, openStore } from '../../../src/service/store/open.ts';
import { temporaryFolder } from '../../service/store/rows.ts';
import { makeHistory } from './history.ts';

async function entriesOf({ parts }: LogSource): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for await (const { entries } of parts) all.push(...entries);
  return all;
}

async function exported(path: string): Promise<string[]> {
  const store = await openStore({ path });
  const lines: string[] = [];
  for await (const line of exportRecords(store, { format: 'jsonl' })) lines.push(line);
  await store.close();
  return lines;
}

function fileOf(lines: readonly string[]): string {
  const path = join(temporaryFolder(), 'log.jsonl');
  writeFileSync(path, lines.join(''));
  return path;
}

test('an export says what the store says, in whatever parts the store is read', async () => {
  const { path, asked } = await makeHistory(7, 120);
  const file = fileOf(await exported(path));
  const log = await openExport(file);
  const fromFile = await entriesOf(log);
  expect(log.faults).toMatchObject({ count: 0, repeated: 0 });
  expect(log.completeSinceMs).toBe(Number.NEGATIVE_INFINITY);
  expect(fromFile.filter(({ kind }) => kind === 'request')).toHaveLength(asked);
  for (const recordsAtOnce of [1, 3, 1_000]) {
    const records = await openRecords({ path });
    const log = await openStoredLog(records, { windowMs: 0, recordsAtOnce });
    expect(await entriesOf(log)).toEqual(fromFile);
    await records.close();
  }
});

test('lines that cannot be read are named and counted, and the others are read', async () => {
  const { path, asked } = await makeHistory(8, 60);
  const lines = await exported(path);
  const place = lines.findIndex((line) => line.includes('"kind":"request"'));
  const broken = [...lines];
  broken[place] = `${lines[place]!.slice(0, 90)}\n`;
  broken.push('\n', '{"action_key": "a.b", "payload": {}}\n', '[]\n', lines[place + 1]!);
  const file = fileOf(broken);
  const log = await openExport(file);
  const read = await entriesOf(log);
  expect(read.filter(({ kind }) => kind === 'request')).toHaveLength(asked - 1);
  const last = lines.length;
  expect(log.faults.count).toBe(3);
  expect(log.faults.named[0]).toMatch(new RegExp(`:${place + 1}: .*at byte \\d+ of the line$`));
  expect(log.faults.named[1]).toBe(
    `${file}:${last + 2}: the request has no recorded decision: export requests with \`writ audit export\`, or compare two sets with \`writ bench --compare\``,
  );
  expect(log.faults.named[2]).toContain(`:${last + 3}: this is not a line of exported requests`);
});

test('two exports of the same records count each request once', async () => {
  const { path, asked } = await makeHistory(9, 60);
  const lines = await exported(path);
  const log = await openExport(fileOf([...lines, ...lines]));
  expect((await entriesOf(log)).filter(({ kind }) => kind === 'request')).toHaveLength(asked);
  expect(log.faults).toMatchObject({ count: 0, repeated: asked });
  const reversed = await openExport(fileOf([...lines].reverse()));
  await entriesOf(reversed);
  expect(reversed.faults.count).toBeGreaterThan(0);
  expect(reversed.faults.named[0]).toMatch(/record \d+ follows record \d+: sort the lines/);
});

test('a record that was tampered with is named, and a part of the chain is not taken for the whole', async () => {
  const { path, asked } = await makeHistory(10, 60);
  const lines = await exported(path);
  const requests = lines.flatMap((line, at) => (line.includes('"kind":"request"') ? [at] : []));
  const changed = lines.map((line, at) =>
    at === requests[0] ? line.replace('\\"decision\\"', '\\"decisions\\"') : line,
  );
  const file = fileOf(changed);
  const log = await openExport(file);
  expect((await entriesOf(log)).filter(({ kind }) => kind === 'request')).toHaveLength(asked - 1);
  expect(log.faults.named).toEqual([
    `${file}:${requests[0]! + 1}: the record lacks facts that are needed to decide it again`,
  ]);
  const later = await openExport(fileOf(lines.slice(requests[1])));
  expect(later.completeSinceMs).toBeGreaterThan(0);
});

test('reading writes nothing, and sees what is written beside it', async () => {
  const { path } = await makeHistory(11, 30);
  const before = readFileSync(path);
  const records = await openRecords({ path });
  await entriesOf(await openStoredLog(records, { windowMs: 0 }));
  await records.close();
  expect(readFileSync(path).equals(before)).toBe(true);
  await expect(openRecords({ path: join(temporaryFolder(), 'none.db') })).rejects.toThrow('cannot be opened');
});

test('a store of an earlier schema is left to the service, which brings it up to date', async () => {
  const { path } = await makeHistory(12, 5);
  const database = new Database(path);
  database.pragma('user_version = 80');
  database.close();
  await expect(openRecords({ path })).rejects.toMatchObject({ code: 'older-database' });
});
