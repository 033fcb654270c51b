// Measures commits in this process, one row each: the row of a request with its entries of meters, as the service
// stores it; the smallest transaction of SQLite that stores a row of that size; and as many bytes, written and synced
// without SQLite. No request is faster than these.

import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequestId } from '../../src/service/requests/record/id.ts';
import type { MeterEntryRow } from '../../src/service/store/contract/metering.ts';
import type { RequestRow } from '../../src/service/store/contract/records.ts';
import { createBatchWriter, openNew } from './own-writer.ts';

export interface CommitFigure {
  readonly what: string;
  /** The median time of a commit, in microseconds. */
  readonly microseconds: number;
  /** The mean processor time, in microseconds. */
  readonly processor: number;
}

const warmUps = 500;
const measured = 1_500;

/** The size of the record of a request of the load. */
const recordJson = JSON.stringify({ text: 'x'.repeat(1_740) });
const entryOf = (key: string): MeterEntryRow => ({
  definition: `sum of payment.create: payload.amount in USD when payload.amount <= 1000.00 USD per ${key} over 24h`,
  key,
  isCertain: true,
  value: '0.01',
});
const entries = ['payload.vendor', 'agent'].map(entryOf);

function nextRow(): RequestRow {
  const nowMs = Date.now();
  return {
    id: createRequestId(nowMs),
    agentId: 'agent-of-the-bench',
    actionKey: 'payment.create',
    outcome: 'ALLOW',
    status: 'auto_approved',
    createdAtMs: nowMs,
    decidedAtMs: nowMs,
    expiresAtMs: nowMs + 600_000,
    idempotency: null,
    recordJson,
  };
}

export function measureCommits(): readonly CommitFigure[] {
  const folder = mkdtempSync(join(tmpdir(), 'writ-commit-'));
  try {
    return [
      { what: 'the row of a request, its entries, chain and seal', ...measure(rowOfRequest(folder)) },
      { what: 'the smallest transaction of SQLite with such a row', ...measure(smallest(folder)) },
      { what: 'such a row written and synced, without SQLite', ...measure(written(folder)) },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rowOfRequest(folder: string): () => void {
  const write = createBatchWriter(join(folder, 'requests.db'), { isChained: true, isSealed: true });
  return () => write([{ row: nextRow(), openMax: 20, entries }]);
}

function smallest(folder: string): () => void {
  const database = openNew(join(folder, 'smallest.db'));
  database.exec('CREATE TABLE records (sequence INTEGER PRIMARY KEY, record TEXT NOT NULL)');
  const insert = database.prepare<[string]>('INSERT INTO records (record) VALUES (?)');
  return () => void insert.run(recordJson);
}

function written(folder: string): () => void {
  const file = openSync(join(folder, 'records'), 'w');
  const bytes = Buffer.from(recordJson);
  let at = 0;
  const total = warmUps + measured;
  // As in a log that is used again, the file has its size before.
  writeSync(file, Buffer.alloc(total * bytes.length));
  fdatasyncSync(file);
  return () => {
    writeSync(file, bytes, 0, bytes.length, at * bytes.length);
    fdatasyncSync(file);
    at += 1;
    if (at === total) closeSync(file);
  };
}

function measure(commit: () => void): Omit<CommitFigure, 'what'> {
  for (let at = 0; at < warmUps; at += 1) commit();
  const before = process.cpuUsage();
  const times = Array.from({ length: measured }, () => {
    const begun = performance.now();
    commit();
    return performance.now() - begun;
  });
  const { user, system } = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  return { microseconds: times[measured / 2]! * 1_000, processor: (user + system) / measured };
}

if (import.meta.main)
  for (const { what, microseconds, processor } of measureCommits())
    console.log(`${what}: ${microseconds.toFixed(0)} µs, ${processor.toFixed(0)} µs of processor time`);
